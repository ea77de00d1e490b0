/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The end of following: every process is put right and detached from. Children that are born meanwhile are held as they
 * are born, and come at the end of the list.
 *
 * lint: seam because ptrace acts on real threads whatever the table is
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "probe/follow_births.h"

/* Also one that stands on its way to its entry point. */
static void process_detach(struct work *work)
{
	struct tracees tracees;
	struct error ignored;

	if (work_stop(work, &tracees, &ignored) != STATUS_OK)
		return; /* it has ended, or the guardian's own end detaches it */
	work_trap_clear(work);
	work->holding = false;
	tracees.keeper = NULL;
	tracees_resume(&tracees);
}

enum status work_restore_family(struct work *work, struct error *error)
{
	const struct work_family *family = work->family;

	if (!array_reserve(&work->done, &work->done_capacity, family->n))
		return error_set(error, STATUS_NO_MEMORY, "out of memory");
	memcpy(work->done, family->writes, family->n * sizeof(*work->done));
	work->n_done = family->n;
	return work_undo(work, error);
}

/* Adds what one removal came to. */
static void sums_add(struct guardian_arena *sums, const struct guardian_arena *arena)
{
	sums->restored += arena->restored;
	sums->different += arena->different;
	sums->stops.stops += arena->stops.stops;
	sums->stops.gather_ns += arena->stops.gather_ns;
	sums->stops.held_ns += arena->stops.held_ns;
	if (arena->stops.longest_held_ns > sums->stops.longest_held_ns)
		sums->stops.longest_held_ns = arena->stops.longest_held_ns;
	if (arena->stops.threads > sums->stops.threads)
		sums->stops.threads = arena->stops.threads;
}

static enum status process_remove(struct work *work, struct error *error)
{
	enum status status = STATUS_OK;

	work->arena->restored = work->arena->different = 0;
	work->arena->stops = (struct guardian_stops){ 0 };
	status = work_open(work, error);
	if (status == STATUS_OK && work->family && !work->n_done)
		status = work_restore_family(work, error);
	else if (status == STATUS_OK)
		status = work_undo(work, error);
	process_detach(work);
	return status;
}

/* Behind the children that are there: those that could not be followed, and why. */
static void unfollowed_list(const struct follow *follow)
{
	struct guardian_arena *arena = follow->arena;

	for (uint64_t i = 0; i < follow->n_unfollowed && i < GUARDIAN_MAX_CHILDREN; i++) {
		const struct guardian_child *child = &follow->unfollowed[i];
		uint64_t at = 0;

		while (at < arena->n_children && at < GUARDIAN_MAX_CHILDREN &&
		       arena->children[at].pid != child->pid)
			at++;
		if (at < arena->n_children && at < GUARDIAN_MAX_CHILDREN)
			memcpy(arena->children[at].reason, child->reason, sizeof(child->reason));
		else if (at < GUARDIAN_MAX_CHILDREN)
			arena->children[arena->n_children++] = *child;
		else
			arena->n_children++;
	}
	if (follow->n_unfollowed > GUARDIAN_MAX_CHILDREN)
		arena->n_children += follow->n_unfollowed - GUARDIAN_MAX_CHILDREN;
}

enum status follow_remove(struct follow *follow, struct error *error)
{
	struct guardian_arena *sums = calloc(1, sizeof(*sums));
	struct error ignored;
	enum status status = STATUS_OK;

	follow->ending = true;
	for (size_t i = 0; i < follow->n; i++) {
		struct work *work = follow->works[i];
		enum status one = STATUS_NOT_FOUND;

		if (work->stage != WORK_HAS_ENDED)
			one = process_remove(work, i ? &ignored : error);
		else if (!i)
			error_set(error, STATUS_NOT_FOUND, "process %d has ended", work->pid);
		if (!i)
			status = one;
		if (sums)
			sums_add(sums, follow->arena);
	}
	work_children(follow->works[0]);
	unfollowed_list(follow);
	if (sums) {
		follow->arena->restored = sums->restored;
		follow->arena->different = sums->different;
		follow->arena->stops = sums->stops;
	}
	free(sums);
	follow->over = status == STATUS_OK || status == STATUS_NOT_FOUND;
	return status;
}
