/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lint: seam because the threads of the target are real whatever the table is
 */
#include "probe/work_reuse.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "agent/layout.h"
#include "probe/stacks.h"
#include "target/maps.h"

#define OUTSIDE_ROUNDS  60u
#define OUTSIDE_WAIT_NS 2000000

static enum status inside_find(const struct work *work, const struct leftovers *leftovers,
			       const struct tracees *tracees, bool *inside, struct error *error)
{
	struct busy_window windows[GUARDIAN_MAX_REGIONS];
	enum status status = STATUS_OK;

	for (uint32_t i = 0; i < leftovers->n_regions; i++) {
		const struct guardian_region *region = &leftovers->regions[i];

		windows[i] = (struct busy_window){ .start = region->address + AGENT_CODE_OFFSET - 1,
						   .end = region->address + region->size,
						   .region = true };
	}
	*inside = false;
	if (leftovers->n_regions)
		status = stacks_find_busy(tracees, work->memory_fd, windows, leftovers->n_regions,
					  error);
	for (uint32_t i = 0; status == STATUS_OK && i < leftovers->n_regions; i++)
		*inside |= windows[i].busy;
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
	const struct timespec pause = { 0, OUTSIDE_WAIT_NS };
	bool inside;
	enum status status;

	for (unsigned int round = 0; round < OUTSIDE_ROUNDS; round++) {
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
	return error_set_errno(
		error, STATUS_UNSUPPORTED, EBUSY,
		"a thread of process %d stands in the trampolines of an earlier assay", work->pid);
}

enum status work_leftovers(struct work *work, struct leftovers *leftovers, struct error *error)
{
	char path[64], *maps;
	enum status status;

	*leftovers = (struct leftovers){ 0 };
	if (!work->arena->take_over)
		return STATUS_OK;
	snprintf(path, sizeof(path), "/proc/%d/maps", work->pid);
	status = sys_read_file(work->sys, -1, path, MAPS_MAX_BYTES, &maps, NULL, error);
	if (status != STATUS_OK)
		return status;
	leftovers_find(leftovers, work->sys, work->memory_fd, maps);
	free(maps);
	return STATUS_OK;
}
