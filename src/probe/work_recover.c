/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The guardian's step "recover": an earlier assay was killed together with its guardian, so that its patches stand in the
 * text, off by data. Its regions hold the list of them (journal.h): what still stands is put back, as at any
 * other removal. A child that was forked meanwhile has regions and text of its own, and is put right the same way when
 * it is asked for.
 *
 * An assay that was killed alone has a guardian that is at this very work: it is waited for.
 *
 * lint: seam because the guardian of another assay is a real process whatever the table is
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "agent/layout.h"
#include "probe/guardian_work.h"
#include "probe/journal.h"
#include "probe/leftovers.h"
#include "probe/work_reuse.h"
#include "target/maps.h"
#include "target/process.h"

#define GUARDIAN_TRIES   500u
#define GUARDIAN_WAIT_NS 10000000

static bool is_guardian(const struct work *work, pid_t pid)
{
	char comm[PROCESS_COMM_BYTES] = "";

	process_comm(work->sys, pid, comm);
	return !strcmp(comm, GUARDIAN_COMM);
}

/* What is left, when no other guardian is at work on it. */
static enum status leftovers_settled(struct work *work, struct leftovers *leftovers,
				     struct error *error)
{
	const struct timespec pause = { 0, GUARDIAN_WAIT_NS };
	enum status status = work_leftovers(work, leftovers, error);

	for (unsigned int i = 0; status == STATUS_OK && !leftovers->owner && leftovers->guardian &&
				 is_guardian(work, leftovers->guardian);
	     i++) {
		if (i == GUARDIAN_TRIES)
			return error_set(
				error, STATUS_UNSUPPORTED,
				"process %d is being probed or restored by another assay's "
				"guardian, process %d: let that end first",
				work->pid, leftovers->guardian);
		nanosleep(&pause, NULL);
		status = work_leftovers(work, leftovers, error);
	}
	return status;
}

/* Regions are known by the journal at their end: in a forked child nothing else marks them. */
static bool may_be_region(const struct map *map)
{
	return map->protection == (PROT_READ | PROT_EXEC) && map->flags == MAP_PRIVATE &&
	       !*map->path && !map->inode && map->end - map->start >= AGENT_PAGE;
}

static enum status journals_read(struct work *work, struct error *error)
{
	char path[64], *maps;
	const char *at;
	struct map map;
	enum status status;

	snprintf(path, sizeof(path), "/proc/%d/maps", work->pid);
	status = sys_read_file(work->sys, -1, path, MAPS_MAX_BYTES, &maps, NULL, error);
	if (status != STATUS_OK)
		return status;
	at = maps;
	while (status == STATUS_OK && maps_next(&at, &map)) {
		if (may_be_region(&map))
			status = journal_read(work->sys, work->memory_fd, map.start, map.end,
					      &work->done, &work->n_done, &work->done_capacity,
					      error);
	}
	free(maps);
	return status;
}

/* Nothing leads into them any more. */
static void regions_free(const struct work *work, const struct leftovers *leftovers)
{
	const uint64_t none = 0;

	for (uint32_t i = 0; i < leftovers->n_regions; i++) {
		if (leftovers->patched[i])
			(void)!sys_pwrite_all(work->sys, work->memory_fd, &none, sizeof(none),
					      (off_t)(leftovers->regions[i].address +
						      AGENT_CONTROL_OFFSET +
						      offsetof(struct agent_control, patched)));
	}
}

enum status work_recover(struct work *work, struct error *error)
{
	struct guardian_arena *arena = work->arena;
	struct leftovers leftovers;
	size_t n;
	enum status status;

	work->pid = arena->pid;
	arena->restored = arena->n_stuck = 0;
	arena->n_busy = 0;
	status = work_open(work, error);
	if (status == STATUS_OK)
		status = leftovers_settled(work, &leftovers, error);
	arena->other_owner = status == STATUS_OK ? leftovers.owner : 0;
	if (status != STATUS_OK || leftovers.owner)
		return status;
	status = journals_read(work, error);
	n = work->n_done;
	if (status == STATUS_OK && n)
		status = work_restore(work, error);
	arena->n_stuck = n - arena->restored;
	if (status == STATUS_OK && !arena->n_stuck)
		regions_free(work, &leftovers);
	work->n_done = 0;
	return status;
}
