/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The guardian's step "prepare": memory in the target, got by system calls of one of its own threads. What was
 * mapped before a failure is unmapped again.
 *
 * lint: seam because memory of the target and its descriptors are real whatever the table is
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "agent/layout.h"
#include "probe/follow.h"
#include "probe/guardian_work.h"
#include "probe/remote.h"
#include "probe/work_reuse.h"
#include "target/process.h"

#define SCRATCH_BELOW   512u /* bytes under the remote stack for strings */
#define THREAD_TRIES    100u
#define HWCAP2_FSGSBASE 2u

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

static const char memfd_name[] = LEFTOVERS_MEMFD_NAME;

struct mapper {
	struct work *work;
	struct remote remote;
	struct guardian_region made[GUARDIAN_MAX_REGIONS + 1];
	size_t n_made;
	int64_t target_fd;
	struct leftovers leftovers;
};

static enum status call(struct mapper *mapper, const char *what, long number, uint64_t a,
			uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f, int64_t *result,
			struct error *error)
{
	const uint64_t arguments[6] = { a, b, c, d, e, f };
	enum status status = remote_call(&mapper->remote, number, arguments, result, error);

	if (status == STATUS_OK && *result < 0 && *result > -4096)
		status = error_set_errno(
			error, status_from_errno((int)-*result), (int)-*result,
			"process %d cannot %s (out of address space, or a policy such as seccomp, "
			"execmem or MDWE forbids it)",
			mapper->work->pid, what);
	return status;
}

static enum status map(struct mapper *mapper, uint64_t address, uint64_t size, int protection,
		       int flags, int64_t fd, uint64_t *at, struct error *error)
{
	int64_t result = 0;
	enum status status =
		call(mapper, "map memory", SYS_mmap, address, size, (uint64_t)protection,
		     (uint64_t)flags, (uint64_t)fd, 0, &result, error);

	if (status == STATUS_OK)
		*at = (uint64_t)result;
	if (status == STATUS_OK && address && *at != address)
		status = error_set(error, STATUS_UNSUPPORTED,
				   "process %d got memory at another place than asked for",
				   mapper->work->pid);
	return status;
}

static enum status advise(struct mapper *mapper, uint64_t address, uint64_t size, int advice,
			  struct error *error)
{
	int64_t result = 0;

	return call(mapper, "keep memory from its children", SYS_madvise, address, size,
		    (uint64_t)advice, 0, 0, 0, &result, error);
}

/* The descriptor is the target's own; it is opened from outside through /proc and closed inside. */
static enum status buffers_make(struct mapper *mapper, struct error *error)
{
	struct work *work = mapper->work;
	const uint64_t scratch = mapper->remote.stack - SCRATCH_BELOW;
	char path[64];
	enum status status;
	int written = sys_pwrite_all(work->sys, work->memory_fd, memfd_name, sizeof(memfd_name),
				     (off_t)scratch);

	if (written < 0)
		return error_set_errno(error, STATUS_IO, -written,
				       "cannot write to the stack of process %d", work->pid);
	status = call(mapper, "make shared memory", SYS_memfd_create, scratch, MFD_CLOEXEC, 0, 0, 0,
		      0, &mapper->target_fd, error);
	if (status != STATUS_OK) {
		mapper->target_fd = -1;
		return status;
	}
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", work->pid, (int)mapper->target_fd);
	work->memfd = open(path, O_RDWR | O_CLOEXEC);
	if (work->memfd < 0 || ftruncate(work->memfd, (off_t)work->buffers_bytes) < 0)
		return error_set_errno(error, STATUS_IO, errno,
				       "cannot size the buffers of process %d", work->pid);
	return STATUS_OK;
}

/* `at` 0: wherever the kernel likes, so after the regions, which must be where they must. */
static enum status buffers_map(struct mapper *mapper, uint64_t at, struct error *error)
{
	struct work *work = mapper->work;
	enum status status = map(mapper, at, work->buffers_bytes, PROT_READ | PROT_WRITE,
				 MAP_SHARED | (at ? MAP_FIXED_NOREPLACE : 0), mapper->target_fd,
				 &work->buffers, error);

	if (status != STATUS_OK)
		return status;
	mapper->made[mapper->n_made++] =
		(struct guardian_region){ work->buffers, work->buffers_bytes, false };
	/* much of it is never touched: a core file would be the first to */
	status = advise(mapper, work->buffers, work->buffers_bytes, MADV_DONTDUMP, error);
	if (status == STATUS_OK)
		status = advise(mapper, work->buffers, work->buffers_bytes, MADV_DONTFORK, error);
	return status;
}

/* The first page of the buffers, at its place in a region. Of buffers that were mapped before no descriptor is left:
 * mremap of no bytes maps the same pages once more (mremap(2), old_size 0). */
static enum status shared_map(struct mapper *mapper, uint64_t base, struct error *error)
{
	uint64_t at = base + AGENT_SHARED_OFFSET;
	int64_t result = 0;
	enum status status;

	if (mapper->target_fd >= 0)
		status = map(mapper, at, AGENT_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
			     mapper->target_fd, &at, error);
	else
		status = call(mapper, "map memory once more", SYS_mremap, mapper->work->buffers, 0,
			      AGENT_PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, at, 0, &result, error);
	if (status == STATUS_OK)
		status = advise(mapper, at, AGENT_PAGE, MADV_DONTFORK, error);
	return status;
}

/* Buffers of an earlier assay, and the pages that its threads had events in. */
static enum status buffers_drop(struct mapper *mapper, const struct guardian_region *buffers,
				struct error *error)
{
	struct guardian_region *ranges;
	int64_t result;
	size_t n;
	enum status status = work_leftover_pages(mapper->work, buffers, &ranges, &n, error);

	for (size_t i = 0; status == STATUS_OK && i < n; i++)
		status = call(mapper, "unmap", SYS_munmap, ranges[i].address, ranges[i].size, 0, 0,
			      0, 0, &result, error);
	free(ranges);
	if (status == STATUS_OK)
		status = call(mapper, "unmap", SYS_munmap, buffers->address, buffers->size, 0, 0, 0,
			      0, &result, error);
	return status;
}

/* All that earlier assays left becomes this one's, also what is not used now, so that nothing keeps the old
 * buffers in memory. The regions are off before they change hands. */
static enum status leftovers_take(struct mapper *mapper, struct error *error)
{
	const struct work *work = mapper->work;
	const uint64_t off = 0;
	enum status status = STATUS_OK;

	for (uint32_t i = 0; status == STATUS_OK && i < mapper->leftovers.n_regions; i++) {
		const uint64_t base = mapper->leftovers.regions[i].address;
		const int written =
			sys_pwrite_all(work->sys, work->memory_fd, &off, sizeof(off),
				       (off_t)(base + AGENT_CONTROL_OFFSET +
					       offsetof(struct agent_control, negative_owner)));

		if (written < 0)
			return error_set_errno(error, STATUS_IO, -written,
					       "cannot write to the memory of process %d",
					       work->pid);
		status = shared_map(mapper, base, error);
	}
	for (uint32_t i = 0; status == STATUS_OK && i < mapper->leftovers.n_buffers; i++)
		status = buffers_drop(mapper, &mapper->leftovers.buffers[i], error);
	return status;
}

static enum status region_make(struct mapper *mapper, const struct guardian_region *region,
			       struct error *error)
{
	const uint64_t base = region->address;
	uint64_t at;
	enum status status;

	if (region->reused)
		return STATUS_OK;
	status = map(mapper, base, region->size, PROT_READ | PROT_EXEC,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, &at, error);
	if (status != STATUS_OK)
		return status;
	mapper->made[mapper->n_made++] = *region;
	status = map(mapper, base + AGENT_CONTROL_OFFSET, AGENT_PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, &at, error);
	if (status == STATUS_OK)
		status = advise(mapper, at, AGENT_PAGE, MADV_WIPEONFORK, error);
	return status == STATUS_OK ? shared_map(mapper, base, error) : status;
}

static enum status regions_make(struct mapper *mapper, struct error *error)
{
	struct guardian_arena *arena = mapper->work->arena;
	enum status status = STATUS_OK;

	for (uint32_t i = 0; status == STATUS_OK && i < arena->n_regions; i++) {
		status = region_make(mapper, &arena->regions[i], error);
		if (status != STATUS_OK)
			arena->failed_region = i;
	}
	return status;
}

static void mappings_undo(struct mapper *mapper)
{
	struct error ignored;
	int64_t result;

	while (mapper->n_made > 0) {
		const struct guardian_region *made = &mapper->made[--mapper->n_made];

		(void)!call(mapper, "unmap", SYS_munmap, made->address, made->size, 0, 0, 0, 0,
			    &result, &ignored);
	}
}

/* The target's descriptor is needed no longer; what was mapped stays only when all of it is. */
static enum status mappings_finish(struct mapper *mapper, enum status status)
{
	struct error ignored;
	int64_t result;

	if (mapper->target_fd >= 0)
		(void)!call(mapper, "close", SYS_close, (uint64_t)mapper->target_fd, 0, 0, 0, 0, 0,
			    &result, &ignored);
	if (status != STATUS_OK)
		mappings_undo(mapper);
	return status;
}

static enum status mappings_make(struct mapper *mapper, struct error *error)
{
	enum status status = buffers_make(mapper, error);

	if (status == STATUS_OK)
		status = regions_make(mapper, error);
	if (status == STATUS_OK)
		status = leftovers_take(mapper, error);
	if (status == STATUS_OK)
		status = buffers_map(mapper, 0, error);
	return mappings_finish(mapper, status);
}

enum status work_stop_one(struct work *work, struct tracees *tracees, struct error *error)
{
	enum status status = STATUS_OK;

	if (work->holding) {
		*tracees = work->held;
		return STATUS_OK;
	}
	for (unsigned int i = 0; i < THREAD_TRIES; i++) {
		status = tracees_stop(tracees, work->sys, work->pid, work->pid,
				      follow_keeper(work->follow), error);
		if (status == STATUS_OK || status == STATUS_PERMISSION)
			return status;
	}
	/* the main thread may have ended: any other will do */
	return tracees_stop(tracees, work->sys, work->pid, 0, follow_keeper(work->follow), error);
}

static uint64_t status_field(const struct work *work, const char *name)
{
	char path[64], *text, *at;
	uint64_t value = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", work->pid);
	if (sys_read_file(work->sys, -1, path, 1u << 20, &text, NULL, NULL) != STATUS_OK)
		return 0;
	at = strstr(text, name);
	if (at)
		value = strtoull(at + strlen(name), NULL, 10);
	free(text);
	return value;
}

/* Those from the `first` on. */
static enum status controls_write(const struct work *work, uint32_t first, bool no_calls,
				  struct error *error)
{
	struct agent_control control = {
		.negative_owner = -work->owner,
		.buffers = work->buffers,
		.pid = (uint64_t)process_inner_pid(work->sys, work->pid), /* as getpid says */
		.can_write_gs = (getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE) != 0,
		.no_calls = no_calls,
		.magic = AGENT_MAGIC,
		.version = AGENT_VERSION,
		.patched = 1,
		.guardian = (uint64_t)getpid(),
	};

	for (uint32_t i = first; i < work->n_regions; i++) {
		int written;

		control.region_bytes = work->regions[i].size;
		written = sys_pwrite_all(work->sys, work->memory_fd, &control, sizeof(control),
					 (off_t)(work->regions[i].address + AGENT_CONTROL_OFFSET));
		if (written < 0)
			return error_set_errno(error, STATUS_IO, -written,
					       "cannot write to the memory of process %d",
					       work->pid);
	}
	return STATUS_OK;
}

/* Those of the request, behind the `first` that there are. */
static enum status regions_take(struct work *work, uint32_t first, bool no_calls,
				struct error *error)
{
	memcpy(work->regions + first, work->arena->regions,
	       work->arena->n_regions * sizeof(*work->regions));
	work->n_regions = first + work->arena->n_regions;
	return controls_write(work, first, no_calls, error);
}

/* Does what `make` does by calls of one of the stopped threads. */
static enum status calls_make(struct mapper *mapper,
			      enum status (*make)(struct mapper *mapper, struct error *error),
			      struct tracees *tracees, struct error *error)
{
	struct work *work = mapper->work;
	const struct tracee *thread = tracees_for_calls(tracees);
	struct error later;
	enum status status, ended;

	if (!thread)
		return error_set(
			error, STATUS_UNSUPPORTED,
			"process %d is stopped (SIGSTOP, or a debugger): let it go on first",
			work->pid);
	status =
		remote_begin(&mapper->remote, work->sys, work->pid, thread, work->memory_fd, error);
	if (status != STATUS_OK)
		return status;
	status = make(mapper, error);
	ended = remote_end(&mapper->remote, status == STATUS_OK ? error : &later);
	return status == STATUS_OK ? ended : status;
}

static enum status extension_make(struct mapper *mapper, struct error *error)
{
	const enum status status = regions_make(mapper, error);

	if (status != STATUS_OK)
		mappings_undo(mapper);
	return status;
}

enum status work_prepare(struct work *work, struct error *error)
{
	struct mapper mapper = { .work = work, .target_fd = -1 };
	struct tracees tracees;
	bool no_calls;
	enum status status;

	work->pid = work->arena->pid;
	work->owner = work->arena->owner;
	work->buffers_bytes = work->arena->buffers_bytes;
	status = work_open(work, error);
	if (status != STATUS_OK)
		return status;
	no_calls = status_field(work, "\nSeccomp:") != 0;
	if (no_calls && !work->arena->allow_seccomp)
		return error_set(error, STATUS_UNSUPPORTED,
				 "process %d runs under seccomp: a system call made on its behalf "
				 "could kill it; --allow-seccomp does it all the same",
				 work->pid);
	status = work_leftovers(work, &mapper.leftovers, error);
	if (status != STATUS_OK)
		return status;
	status = mapper.leftovers.n_regions
			 ? work_stop_outside(work, &mapper.leftovers, &tracees, error)
			 : work_stop_one(work, &tracees, error);
	if (status != STATUS_OK)
		return status;
	status = calls_make(&mapper, mappings_make, &tracees, error);
	work_resume(work, &tracees);
	if (status == STATUS_OK)
		status = regions_take(work, 0, no_calls, error);
	work->arena->buffers = work->buffers;
	return status;
}

enum status work_extend(struct work *work, struct error *error)
{
	struct mapper mapper = { .work = work, .target_fd = -1 };
	struct tracees tracees;
	enum status status;

	if (!work->buffers || work->arena->n_regions > GUARDIAN_MAX_REGIONS - work->n_regions)
		return error_set(error, STATUS_LIMIT, "process %d has too many regions", work->pid);
	status = work_stop_one(work, &tracees, error);
	if (status != STATUS_OK)
		return status;
	status = calls_make(&mapper, extension_make, &tracees, error);
	work_resume(work, &tracees);
	if (status == STATUS_OK)
		status = regions_take(work, work->n_regions, status_field(work, "\nSeccomp:") != 0,
				      error);
	return status;
}

/* What MADV_DONTFORK left out of a child is mapped again. */
static enum status holes_fill(struct mapper *mapper, struct error *error)
{
	struct work *work = mapper->work;
	enum status status = buffers_make(mapper, error);

	for (uint32_t i = 0; status == STATUS_OK && i < work->n_regions; i++)
		status = shared_map(mapper, work->regions[i].address, error);
	if (status == STATUS_OK)
		status = buffers_map(mapper, work->buffers, error);
	return mappings_finish(mapper, status);
}

enum status work_adopt(struct work *work, struct error *error)
{
	struct mapper mapper = { .work = work, .target_fd = -1 };
	const bool no_calls = status_field(work, "\nSeccomp:") != 0;
	enum status status = work_open(work, error);

	if (status == STATUS_OK && no_calls && !work->arena->allow_seccomp)
		status = error_set(error, STATUS_UNSUPPORTED, "it runs under seccomp");
	if (status == STATUS_OK)
		status = calls_make(&mapper, holes_fill, &work->held, error);
	return status == STATUS_OK ? controls_write(work, 0, no_calls, error) : status;
}
