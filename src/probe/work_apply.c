/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The guardian's steps "apply" and "remove": bytes of text changed while every thread of the target stands.
 *
 * Store width and protocol: what is to change on one page is one pwrite to /proc/PID/mem, with all threads in
 * ptrace stops, none inside a window (stacks.h). Before a stop the pages
 * are made private by rewriting a byte as it is, since copying them is what takes time.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/layout.h"
#include "base/array.h"
#include "probe/guardian_work.h"
#include "probe/stacks.h"

#define BUSY_ROUNDS  60u
#define BUSY_WAIT_NS 2000000
#define NULL_BLOCK   AGENT_PAGE /* offset in the buffers of the block that is nobody's */

/* A thread that was preempted in a window comes out of it when it runs again: on a busy machine, later. */
static void busy_wait(unsigned int round)
{
	const struct timespec pause = { 0, round < BUSY_ROUNDS / 2 ? BUSY_WAIT_NS
								   : 10 * BUSY_WAIT_NS };

	nanosleep(&pause, NULL);
}

/* A run of whole functions of the list that fits one stop. */
struct batch {
	struct guardian_write *writes;
	size_t n;
};

static bool bytes_write(const struct work *work, uint64_t address, const void *bytes, size_t size)
{
	return sys_pwrite_all(work->sys, work->memory_fd, bytes, size, (off_t)address) == 0;
}

static void pages_privatise(const struct work *work, const struct guardian_write *writes, size_t n)
{
	uint64_t last = 0;

	for (size_t i = 0; i < n; i++) {
		const uint64_t page = writes[i].address & ~(uint64_t)(AGENT_PAGE - 1);
		uint8_t byte;

		if (page == last)
			continue;
		last = page;
		if (sys_pread_full(work->sys, work->memory_fd, &byte, 1, (off_t)page) == 1)
			(void)!bytes_write(work, page, &byte, 1);
	}
}

static enum status chunks_write(const struct work *work, struct error *error)
{
	struct guardian_arena *arena = work->arena;
	const struct guardian_chunk *chunks = guardian_chunks(arena);
	uint64_t capacity;
	const uint8_t *bytes = guardian_bytes(arena, &capacity);

	for (uint64_t i = 0; i < arena->n_chunks; i++) {
		if (chunks[i].offset > capacity || chunks[i].size > capacity - chunks[i].offset)
			return error_set(error, STATUS_LIMIT, "a chunk beyond the arena");
		if (!bytes_write(work, chunks[i].address, bytes + chunks[i].offset, chunks[i].size))
			return error_set(error, STATUS_IO,
					 "cannot write code into the memory of process %d",
					 work->pid);
	}
	return STATUS_OK;
}

/* %gs must be free, and the thread pointer one that tells threads apart. */
static enum status threads_check(const struct work *work, const struct tracees *tracees,
				 struct error *error)
{
	for (size_t i = 0; i < tracees->n; i++) {
		const struct tracee *thread = &tracees->threads[i];
		uint64_t word = 0;

		if (thread->gone || !thread->stopped)
			continue;
		if (thread->state && (sys_pread_full(work->sys, work->memory_fd, &word, 8,
						     (off_t)thread->state) != 8 ||
				      word != thread->state))
			return error_set(
				error, STATUS_UNSUPPORTED,
				"thread %d of process %d uses the gs base for itself, which "
				"the probes need",
				thread->tid, work->pid);
		if (!thread->thread ||
		    (registers_have_state() && (sys_pread_full(work->sys, work->memory_fd, &word, 8,
							       (off_t)thread->thread) != 8 ||
						word != thread->thread)))
			return error_set(error, STATUS_UNSUPPORTED,
					 "thread %d of process %d has no thread pointer by which "
					 "threads could be told apart",
					 thread->tid, work->pid);
		for (size_t k = 0; k < i && tracees->n < 2048; k++) {
			if (tracees->threads[k].thread == thread->thread &&
			    !tracees->threads[k].gone)
				return error_set(
					error, STATUS_UNSUPPORTED,
					"threads %d and %d of process %d have the same thread "
					"pointer",
					thread->tid, tracees->threads[k].tid, work->pid);
		}
	}
	return STATUS_OK;
}

static enum status threads_set(const struct work *work, const struct tracees *tracees,
			       struct error *error)
{
	enum status status = STATUS_OK;

	for (size_t i = 0; registers_have_state() && status == STATUS_OK && i < tracees->n; i++) {
		const struct tracee *thread = &tracees->threads[i];

		if (!thread->gone && thread->stopped &&
		    (thread->state < work->buffers ||
		     thread->state >= work->buffers + work->buffers_bytes))
			status = tracee_set_state(thread, work->buffers + NULL_BLOCK, error);
	}
	return status;
}

/* In a child the buffers are not mapped: what its thread inherited as the address of its block means nothing, and would
 * look like the program's own use of it. */
static enum status threads_release(const struct work *work, const struct tracees *tracees,
				   struct error *error)
{
	enum status status = STATUS_OK;
	uint64_t word;

	for (size_t i = 0; status == STATUS_OK && i < tracees->n; i++) {
		const struct tracee *thread = &tracees->threads[i];

		if (!thread->gone && thread->stopped &&
		    thread->state - work->buffers < work->buffers_bytes &&
		    sys_pread_full(work->sys, work->memory_fd, &word, sizeof(word),
				   (off_t)thread->state) != (ssize_t)sizeof(word))
			status = tracee_set_state(thread, 0, error);
	}
	return status;
}

static void function_mark(struct guardian_write *writes, size_t n, uint32_t function,
			  enum guardian_write_state state)
{
	for (size_t i = 0; i < n; i++) {
		if (writes[i].function == function)
			writes[i].state = (uint8_t)state;
	}
}

/* Marks functions that a thread stands in: GUARDIAN_BUSY. */
static enum status batch_find_busy(const struct work *work, const struct tracees *tracees,
				   struct batch *batch, bool removing, struct error *error)
{
	struct busy_window *windows = calloc(batch->n, sizeof(*windows));
	enum status status = STATUS_OK;
	size_t n = 0;

	for (size_t i = 0; windows && i < batch->n; i++) {
		const struct guardian_write *write = &batch->writes[i];

		if (write->busy_end > write->busy_start + 1 && (!removing || write->island))
			windows[n++] = (struct busy_window){ .start = write->busy_start,
							     .end = write->busy_end,
							     .write = (uint32_t)i };
	}
	if (!windows)
		status = error_set(error, STATUS_NO_MEMORY, "out of memory");
	else if (n)
		status = stacks_find_busy(tracees, work->memory_fd, windows, n, error);
	for (size_t i = 0; status == STATUS_OK && i < n; i++) {
		if (windows[i].busy)
			function_mark(batch->writes, batch->n,
				      batch->writes[windows[i].write].function, GUARDIAN_BUSY);
	}
	free(windows);
	return status;
}

/* The writes from `first` on that lie on one page: their live bytes are read, and written, at one stroke. */
struct span {
	size_t first, n;
	uint64_t start, size;
	uint8_t bytes[AGENT_PAGE];
};

static bool crosses_page(const struct guardian_write *write)
{
	return write->address / AGENT_PAGE != (write->address + write->length - 1) / AGENT_PAGE;
}

static void span_find(const struct batch *batch, size_t first, struct span *span)
{
	const struct guardian_write *writes = batch->writes;
	uint64_t end = writes[first].address + writes[first].length;

	span->first = first;
	span->start = writes[first].address;
	for (span->n = 1; first + span->n < batch->n && !crosses_page(&writes[first]); span->n++) {
		const struct guardian_write *next = &writes[first + span->n];

		if (next->address / AGENT_PAGE != writes[first].address / AGENT_PAGE ||
		    crosses_page(next))
			break;
		if (next->address < span->start)
			span->start = next->address;
		if (next->address + next->length > end)
			end = next->address + next->length;
	}
	span->size = end - span->start;
}

static bool span_read(const struct work *work, struct span *span)
{
	return sys_pread_full(work->sys, work->memory_fd, span->bytes, span->size,
			      (off_t)span->start) == (ssize_t)span->size;
}

/* Functions whose live bytes are not what the file has: GUARDIAN_DIFFERENT. */
static void batch_compare(const struct work *work, struct batch *batch)
{
	struct span span;

	for (size_t at = 0; at < batch->n; at += span.n) {
		bool read;

		span_find(batch, at, &span);
		read = span_read(work, &span);
		for (size_t i = at; i < at + span.n; i++) {
			const struct guardian_write *write = &batch->writes[i];

			if (write->state == GUARDIAN_WAITING &&
			    (!read || memcmp(span.bytes + (write->address - span.start),
					     write->original, write->length) != 0))
				function_mark(batch->writes, batch->n, write->function,
					      GUARDIAN_DIFFERENT);
		}
	}
}

static enum status batch_write(struct work *work, struct batch *batch, struct error *error)
{
	struct span span;

	batch_compare(work, batch);
	if (!array_reserve(&work->done, &work->done_capacity, work->n_done + batch->n))
		return error_set(error, STATUS_NO_MEMORY, "out of memory");
	for (size_t at = 0; at < batch->n; at += span.n) {
		bool good;

		span_find(batch, at, &span);
		good = span_read(work, &span);
		for (size_t i = at; good && i < at + span.n; i++) {
			struct guardian_write *write = &batch->writes[i];

			if (write->state != GUARDIAN_WAITING)
				continue;
			memcpy(span.bytes + (write->address - span.start), write->bytes,
			       write->length);
			write->state = GUARDIAN_WRITTEN;
			work->done[work->n_done++] = *write;
			work->arena->written++;
		}
		if (!good || !bytes_write(work, span.start, span.bytes, span.size))
			return error_set(error, STATUS_IO,
					 "cannot write to the text of process %d at 0x%llx",
					 work->pid, (unsigned long long)span.start);
	}
	return STATUS_OK;
}

static void stop_account(struct work *work, const struct tracees *tracees, uint64_t asked,
			 uint64_t stopped)
{
	struct guardian_stops *stops = &work->arena->stops;
	const uint64_t held = sys_now_ns(work->sys) - stopped;

	stops->stops++;
	stops->gather_ns += stopped - asked;
	stops->held_ns += held;
	if (held > stops->longest_held_ns)
		stops->longest_held_ns = held;
	if (tracees->n > stops->threads)
		stops->threads = tracees->n;
}

static enum status batch_apply(struct work *work, struct batch *batch, struct error *error)
{
	const uint64_t asked = sys_now_ns(work->sys);
	struct tracees tracees;
	uint64_t stopped;
	enum status status;

	pages_privatise(work, batch->writes, batch->n);
	status = work_stop(work, &tracees, error);
	if (status != STATUS_OK)
		return status;
	stopped = sys_now_ns(work->sys);
	status = threads_check(work, &tracees, error);
	if (status == STATUS_OK)
		status = batch_find_busy(work, &tracees, batch, false, error);
	if (status == STATUS_OK)
		status = threads_set(work, &tracees, error);
	if (status == STATUS_OK)
		status = batch_write(work, batch, error);
	stop_account(work, &tracees, asked, stopped);
	work_resume(work, &tracees);
	return status;
}

/* The next batch from `*at` on; ends between functions. */
static struct batch batch_next(struct guardian_write *writes, size_t n, size_t *at)
{
	const size_t start = *at;
	size_t end = start + GUARDIAN_STOP_WRITES < n ? start + GUARDIAN_STOP_WRITES : n;

	while (end < n && end > start && writes[end].function == writes[end - 1].function)
		end--;
	while (end == start || (end < n && writes[end].function == writes[end - 1].function))
		end++;
	*at = end;
	return (struct batch){ writes + start, end - start };
}

static bool busy_to_waiting(struct batch *batch)
{
	bool any = false;

	for (size_t i = 0; i < batch->n; i++) {
		if (batch->writes[i].state == GUARDIAN_BUSY) {
			batch->writes[i].state = GUARDIAN_WAITING;
			any = true;
		}
	}
	return any;
}

static int address_compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* A library that is opened again and again is written to again and again, at one place: the last of such writes is to be
 * undone. Without memory for it they are undone several times, which does no harm. */
static void done_forget(struct work *work, size_t n_before)
{
	const size_t n_new = work->n_done - n_before;
	uint64_t *addresses = n_before && n_new ? malloc(n_new * sizeof(*addresses)) : NULL;
	size_t kept = 0;

	if (!addresses)
		return;
	for (size_t i = 0; i < n_new; i++)
		addresses[i] = work->done[n_before + i].address;
	qsort(addresses, n_new, sizeof(*addresses), address_compare);
	for (size_t i = 0; i < work->n_done; i++) {
		if (i < n_before && bsearch(&work->done[i].address, addresses, n_new,
					    sizeof(*addresses), address_compare))
			continue;
		work->done[kept++] = work->done[i];
	}
	work->n_done = kept;
	free(addresses);
}

enum status work_apply(struct work *work, struct error *error)
{
	const size_t n_before = work->n_done;
	struct guardian_arena *arena = work->arena;
	struct guardian_write *writes = guardian_writes(arena);
	enum status status;
	size_t at = 0;

	arena->written = 0;
	arena->stops = (struct guardian_stops){ 0 };
	if (arena->n_writes > WORK_MAX_WRITES)
		return error_set(error, STATUS_LIMIT, "too many probes at once");
	status = chunks_write(work, error);
	while (status == STATUS_OK && at < arena->n_writes) {
		struct batch batch = batch_next(writes, arena->n_writes, &at);

		status = batch_apply(work, &batch, error);
		for (unsigned int round = 1; status == STATUS_OK && round < BUSY_ROUNDS; round++) {
			if (work->holding || !busy_to_waiting(&batch))
				break;
			busy_wait(round);
			status = batch_apply(work, &batch, error);
		}
	}
	done_forget(work, n_before);
	return status;
}

/* One write back to the original; what is no longer as it was written stays as it is. */
static void write_undo(struct work *work, struct guardian_write *write, struct span *span,
		       size_t *left)
{
	uint8_t *live = span->bytes + (write->address - span->start);

	if (write->state == GUARDIAN_BUSY) {
		++*left;
	} else if (write->state == GUARDIAN_WRITTEN) {
		if (memcmp(live, write->original, write->length) == 0) {
			/* memory that is shared with a process that has been restored */
			write->state = GUARDIAN_WAITING;
			work->arena->restored++;
			return;
		}
		if (memcmp(live, write->bytes, write->length) != 0) {
			work->arena->different++;
			write->state = GUARDIAN_DIFFERENT;
			return;
		}
		memcpy(live, write->original, write->length);
		write->state = GUARDIAN_WAITING;
		work->arena->restored++;
	}
}

static enum status batch_restore(struct work *work, struct batch *batch, size_t *left,
				 struct error *error)
{
	struct span span;

	*left = 0;
	for (size_t at = 0; at < batch->n; at += span.n) {
		const uint64_t before = work->arena->restored;

		span_find(batch, at, &span);
		if (!span_read(work, &span)) { /* unmapped meanwhile: nothing to restore */
			work->arena->different += span.n;
			continue;
		}
		for (size_t i = at; i < at + span.n; i++)
			write_undo(work, &batch->writes[i], &span, left);
		if (work->arena->restored != before &&
		    !bytes_write(work, span.start, span.bytes, span.size))
			return error_set(error, STATUS_IO,
					 "cannot restore the text of process %d at 0x%llx",
					 work->pid, (unsigned long long)span.start);
	}
	return STATUS_OK;
}

static enum status batch_remove(struct work *work, struct batch *batch, size_t *left,
				struct error *error)
{
	const uint64_t asked = sys_now_ns(work->sys);
	struct tracees tracees;
	uint64_t stopped;
	enum status status = work_stop(work, &tracees, error);

	if (status != STATUS_OK)
		return status;
	stopped = sys_now_ns(work->sys);
	status = batch_find_busy(work, &tracees, batch, true, error);
	if (status == STATUS_OK)
		status = batch_restore(work, batch, left, error);
	if (status == STATUS_OK)
		status = threads_release(work, &tracees, error);
	stop_account(work, &tracees, asked, stopped);
	work_resume(work, &tracees);
	return status;
}

/* Nothing leads into the regions any more: a later assay may use them. */
static void regions_give_up(const struct work *work)
{
	const uint64_t none = 0;

	for (uint32_t i = 0; i < work->n_regions; i++) {
		const uint64_t control = work->regions[i].address + AGENT_CONTROL_OFFSET;

		(void)!bytes_write(work, control + offsetof(struct agent_control, negative_owner),
				   &none, sizeof(none));
		(void)!bytes_write(work, control + offsetof(struct agent_control, patched), &none,
				   sizeof(none));
	}
}

enum status work_restore(struct work *work, struct error *error)
{
	enum status status = STATUS_OK;
	size_t at = 0, left = 0;

	work->arena->restored = work->arena->different = 0;
	work->arena->stops = (struct guardian_stops){ 0 };
	for (size_t i = 0; i < work->n_done; i++)
		work->done[i].state = GUARDIAN_WRITTEN;
	while (status == STATUS_OK && at < work->n_done) {
		struct batch batch = batch_next(work->done, work->n_done, &at);

		status = batch_remove(work, &batch, &left, error);
		for (unsigned int round = 0; status == STATUS_OK && left && round < BUSY_ROUNDS;
		     round++) {
			for (size_t i = 0; i < batch.n; i++) {
				if (batch.writes[i].state == GUARDIAN_BUSY)
					batch.writes[i].state = GUARDIAN_WRITTEN;
			}
			busy_wait(round);
			status = batch_remove(work, &batch, &left, error);
		}
	}
	return status;
}

enum status work_undo(struct work *work, struct error *error)
{
	const size_t n = work->n_done;
	enum status status = work_restore(work, error);

	if (status == STATUS_OK && work->arena->restored == n)
		regions_give_up(work);
	if (status == STATUS_OK && n)
		status = work_pages_drop(work, error);
	return status;
}

enum status work_remove(struct work *work, struct error *error)
{
	const enum status status = work_undo(work, error);

	if (work->n_done)
		work_children(work);
	if (status == STATUS_OK || status == STATUS_NOT_FOUND)
		work->n_done = 0; /* a target that has ended has nothing to restore */
	return status;
}
