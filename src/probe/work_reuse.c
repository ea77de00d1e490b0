/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lint: seam because the threads of the target are real whatever the table is
 */
#include "probe/work_reuse.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "agent/layout.h"
#include "base/array.h"
#include "probe/stacks.h"
#include "target/maps.h"

/* Eight rounds each of 2, 4, ... 64 ms: a thread that waits for a CPU is stopped as it waits, and moves on only in
 * the pauses; on a busy machine it has none of the short ones. */
#define OUTSIDE_ROUNDS   48u
#define OUTSIDE_ALIKE    8u
#define OUTSIDE_PAUSE_NS 2000000L

/* *inside: a region that a thread stands in, 0: none. */
static enum status inside_find(const struct work *work, const struct leftovers *leftovers,
			       const struct tracees *tracees, uint64_t *inside, struct error *error)
{
	struct busy_window windows[GUARDIAN_MAX_REGIONS] = { 0 };
	enum status status = STATUS_OK;

	for (uint32_t i = 0; i < leftovers->n_regions; i++) {
		const struct guardian_region *region = &leftovers->regions[i];

		windows[i] = (struct busy_window){ .start = region->address + AGENT_CODE_OFFSET - 1,
						   .end = region->address + region->size,
						   .region = true };
	}
	*inside = 0;
	if (leftovers->n_regions)
		status = stacks_find_busy(tracees, work->memory_fd, windows, leftovers->n_regions,
					  error);
	for (uint32_t i = 0; status == STATUS_OK && i < leftovers->n_regions; i++)
		if (windows[i].busy)
			*inside = windows[i].start + 1 - AGENT_CODE_OFFSET;
	return status;
}

/* A thread whose state lies in the old buffers would have none when they are gone. */
static enum status states_clear(const struct leftovers *leftovers, const struct tracees *tracees,
				struct error *error)
{
	enum status status = STATUS_OK;

	for (size_t i = 0; status == STATUS_OK && i < tracees->n; i++) {
		struct tracee *thread = &tracees->threads[i];

		for (uint32_t k = 0; k < leftovers->n_buffers && status == STATUS_OK; k++) {
			if (thread->gone || !thread->stopped ||
			    thread->state - leftovers->buffers[k].address >=
				    leftovers->buffers[k].size)
				continue;
			status = tracee_set_state(thread, 0, error);
			thread->state = 0;
		}
	}
	return status;
}

enum status work_stop_outside(struct work *work, const struct leftovers *leftovers,
			      struct tracees *tracees, struct error *error)
{
	uint64_t inside = 0;
	enum status status;

	for (unsigned int round = 0; round < OUTSIDE_ROUNDS; round++) {
		const struct timespec pause = { 0, OUTSIDE_PAUSE_NS << round / OUTSIDE_ALIKE };

		status = work_stop(work, tracees, error);
		if (status != STATUS_OK)
			return status;
		status = inside_find(work, leftovers, tracees, &inside, error);
		if (status == STATUS_OK && !inside && tracees_for_calls(tracees))
			status = states_clear(leftovers, tracees, error);
		if (status != STATUS_OK)
			work_resume(work, tracees);
		if (status != STATUS_OK || (!inside && tracees_for_calls(tracees)))
			return status;
		work_resume(work, tracees);
		nanosleep(&pause, NULL);
	}
	work->arena->busy_region = inside;
	return error_set_errno(
		error, STATUS_UNSUPPORTED, EBUSY,
		"a thread of process %d stands in the trampolines of an earlier assay", work->pid);
}

enum status work_leftovers(struct work *work, struct leftovers *leftovers, struct error *error)
{
	char path[64], *maps;
	enum status status;

	*leftovers = (struct leftovers){ 0 };
	snprintf(path, sizeof(path), "/proc/%d/maps", work->pid);
	status = sys_read_file(work->sys, -1, path, MAPS_MAX_BYTES, &maps, NULL, error);
	if (status != STATUS_OK)
		return status;
	leftovers_find(leftovers, work->sys, work->memory_fd, maps);
	for (uint32_t i = 0; i < work->arena->n_busy; i++)
		leftovers_leave(leftovers, work->arena->busy[i]);
	free(maps);
	return STATUS_OK;
}

static bool is_zero_page(const char *maps, uint64_t address, uint64_t size)
{
	struct map map;

	while (maps_next(&maps, &map)) {
		if (address >= map.start && address < map.end)
			return address + size <= map.end && map.protection == PROT_READ &&
			       map.flags == MAP_PRIVATE && !*map.path && !map.inode;
	}
	return false;
}

static int range_compare(const void *a, const void *b)
{
	const struct guardian_region *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

/* Those that the blocks name. */
static enum status pages_read(const struct work *work, const struct agent_shared *shared,
			      uint64_t buffers, const char *maps, struct guardian_region **ranges,
			      size_t *n, struct error *error)
{
	const uint64_t taken =
		shared->blocks_taken < shared->n_blocks ? shared->blocks_taken : shared->n_blocks;
	size_t capacity = 0;

	for (uint64_t i = 0; i < taken; i++) {
		const uint64_t at = buffers + shared->blocks_offset + i * shared->block_bytes +
				    offsetof(struct agent_block, page);
		uint64_t page;

		if (sys_pread_full(work->sys, work->memory_fd, &page, sizeof(page), (off_t)at) !=
			    (ssize_t)sizeof(page) ||
		    !page || page % AGENT_PAGE || !is_zero_page(maps, page, shared->page_bytes))
			continue;
		if (!array_reserve(ranges, &capacity, *n + 1))
			return error_set(error, STATUS_NO_MEMORY, "out of memory");
		(*ranges)[(*n)++] =
			(struct guardian_region){ .address = page, .size = shared->page_bytes };
	}
	return STATUS_OK;
}

static void ranges_join(struct guardian_region *ranges, size_t *n)
{
	size_t used = 0;

	qsort(ranges, *n, sizeof(*ranges), range_compare);
	for (size_t i = 0; i < *n; i++) {
		struct guardian_region *last = used ? &ranges[used - 1] : NULL;

		if (last && ranges[i].address <= last->address + last->size)
			last->size = ranges[i].address + ranges[i].size - last->address;
		else
			ranges[used++] = ranges[i];
	}
	*n = used;
}

enum status work_leftover_pages(const struct work *work, const struct guardian_region *buffers,
				struct guardian_region **ranges, size_t *n, struct error *error)
{
	struct agent_shared shared;
	char path[64], *maps;
	enum status status;

	*ranges = NULL;
	*n = 0;
	if (sys_pread_full(work->sys, work->memory_fd, &shared, sizeof(shared),
			   (off_t)buffers->address) != (ssize_t)sizeof(shared) ||
	    !shared.page_bytes)
		return STATUS_OK;
	snprintf(path, sizeof(path), "/proc/%d/maps", work->pid);
	status = sys_read_file(work->sys, -1, path, MAPS_MAX_BYTES, &maps, NULL, error);
	if (status != STATUS_OK)
		return status;
	status = pages_read(work, &shared, buffers->address, maps, ranges, n, error);
	free(maps);
	if (status == STATUS_OK && *n)
		ranges_join(*ranges, n);
	return status;
}
