/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The guardian's part in children of the target: a child that was forked while the text was patched has the patched
 * bytes, off by data (its control page reads zeros), and may outlive its parent. When the probes are removed its
 * bytes are restored like the parent's. Children that have called exec, or were forked before, have nothing of it
 * and are listed only; those that are followed (follow.h) are not looked at here.
 *
 * A child is known by what it inherited: the agent's code at the region's address. Where processes fork all the
 * time the list of processes is read until a pass finds nothing new.
 *
 * lint: seam because processes are real whatever the table is
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/bytes.h"
#include "agent/layout.h"
#include "base/array.h"
#include "probe/follow.h"
#include "probe/guardian_work.h"
#include "target/process.h"

#define PASSES      8u
#define MAX_PARENTS 64u
#define MARK_BYTES  64u /* of the agent's code that are compared */

/* Processes that were looked at already. */
struct seen {
	pid_t *pids;
	size_t n, capacity;
};

static bool seen_already(const struct seen *seen, pid_t pid)
{
	for (size_t i = 0; i < seen->n; i++) {
		if (seen->pids[i] == pid)
			return true;
	}
	return false;
}

static bool is_descendant(const struct work *work, pid_t pid)
{
	for (unsigned int i = 0; i < MAX_PARENTS && pid > 1; i++) {
		pid = process_parent(work->sys, pid);
		if (pid == work->pid)
			return true;
	}
	return false;
}

/* Has the agent where the target has it, and no control page of its own: it was forked, not probed for itself. */
static bool has_region(const struct work *work, struct work *child)
{
	struct agent_control control;
	uint8_t mark[MARK_BYTES];
	struct error ignored;

	if (!work->n_regions || work_open(child, &ignored) != STATUS_OK)
		return false;
	if (sys_pread_full(child->sys, child->memory_fd, &control, sizeof(control),
			   (off_t)(work->regions[0].address + AGENT_CONTROL_OFFSET)) !=
		    (ssize_t)sizeof(control) ||
	    control.magic)
		return false;
	return sys_pread_full(child->sys, child->memory_fd, mark, sizeof(mark),
			      (off_t)(work->regions[0].address + AGENT_CODE_OFFSET)) ==
		       (ssize_t)sizeof(mark) &&
	       !memcmp(mark, agent_code_start, sizeof(mark));
}

bool work_has_region(const struct work *work, pid_t pid)
{
	struct work child = { .sys = work->sys, .pid = pid, .memory_fd = -1, .memfd = -1 };
	const bool has = has_region(work, &child);

	if (child.memory_fd >= 0)
		work->sys->close(work->sys->state, child.memory_fd);
	return has;
}

static void child_list(struct work *work, const struct guardian_child *child)
{
	struct guardian_arena *arena = work->arena;

	if (arena->n_children < GUARDIAN_MAX_CHILDREN)
		arena->children[arena->n_children] = *child;
	arena->n_children++;
}

static void child_restore(struct work *work, struct work *child, struct guardian_child *entry)
{
	struct error ignored;

	child->done = malloc(work->n_done * sizeof(*child->done));
	child->arena = calloc(1, sizeof(*child->arena));
	entry->patched = true;
	if (child->done && child->arena) {
		memcpy(child->done, work->done, work->n_done * sizeof(*child->done));
		child->n_done = work->n_done;
		child->buffers = work->buffers;
		child->buffers_bytes = work->buffers_bytes;
		if (work_restore(child, &ignored) == STATUS_OK)
			entry->left = work->n_done - child->arena->restored;
		else
			entry->left = work->n_done;
	}
	free(child->done);
	free(child->arena);
}

/* Looks at one process; true when it was one of the target's. */
static bool process_look(struct work *work, pid_t pid)
{
	struct work child = { .sys = work->sys, .pid = pid, .memory_fd = -1, .memfd = -1 };
	struct guardian_child entry = { .pid = pid };
	const bool patched = has_region(work, &child);
	bool found = patched || is_descendant(work, pid);

	if (found)
		process_comm(work->sys, pid, entry.comm);
	if (patched)
		child_restore(work, &child, &entry);
	if (child.memory_fd >= 0)
		work->sys->close(work->sys->state, child.memory_fd);
	/* one that has ended meanwhile needs nothing */
	if (found && entry.comm[0])
		child_list(work, &entry);
	return found;
}

void work_children(struct work *work)
{
	struct seen seen = { 0 };
	bool any = true;

	work->arena->n_children = 0;
	for (unsigned int pass = 0; pass < PASSES && any; pass++) {
		struct error ignored;
		pid_t *pids;
		size_t n;

		any = false;
		if (process_list(work->sys, &pids, &n, &ignored) != STATUS_OK)
			break;
		for (size_t i = 0; i < n; i++) {
			if (pids[i] == work->pid || seen_already(&seen, pids[i]) ||
			    (work->follow && follow_find(work->follow, pids[i])) ||
			    !array_reserve(&seen.pids, &seen.capacity, seen.n + 1))
				continue;
			seen.pids[seen.n++] = pids[i];
			any |= process_look(work, pids[i]);
		}
		free(pids);
	}
	free(seen.pids);
}
