/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the guardian does, in its own process. Requests and answers are in the arena (guardian.h).
 */
#ifndef ASSAY_PROBE_GUARDIAN_WORK_H
#define ASSAY_PROBE_GUARDIAN_WORK_H

#include "probe/guardian.h"
#include "probe/tracee.h"

#define WORK_MAX_WRITES (1u << 22)

/* One target and what was done to it. */
struct work {
	const struct sys *sys;
	struct guardian_arena *arena;
	pid_t pid;
	int memory_fd; /* /proc/PID/mem, -1: none */
	int memfd;     /* the buffers; handed over and closed by prepare's caller */
	uint64_t buffers, buffers_bytes;
	struct guardian_region regions[GUARDIAN_MAX_REGIONS]; /* those of the last prepare */
	uint32_t n_regions;
	struct tracees held; /* a launched target at its entry */
	bool holding;
	/* every write that was made, to be undone */
	struct guardian_write *done;
	size_t n_done, done_capacity;
};

/* One step each; the answer is the status and arena->error. */
MUST_CHECK enum status work_seize(struct work *work, struct error *error);
MUST_CHECK enum status work_run_to_entry(struct work *work, struct error *error);
MUST_CHECK enum status work_let_go(struct work *work, struct error *error);
MUST_CHECK enum status work_prepare(struct work *work, struct error *error);
MUST_CHECK enum status work_apply(struct work *work, struct error *error);
MUST_CHECK enum status work_remove(struct work *work, struct error *error);
MUST_CHECK enum status work_recover(struct work *work, struct error *error);

/* Writes the original bytes back to this one process. */
MUST_CHECK enum status work_restore(struct work *work, struct error *error);
/* Restores and lists the children of the target; `done` must be there still. */
void work_children(struct work *work);

/* Stops all threads of the target, or takes those that are held. */
MUST_CHECK enum status work_stop(struct work *work, struct tracees *tracees, struct error *error);
/* Stops one thread, and the others run on; it must not be on its way into a signal handler. */
MUST_CHECK enum status work_stop_one(struct work *work, struct tracees *tracees,
				     struct error *error);
/* Lets them run; held ones stay held. */
void work_resume(struct work *work, struct tracees *tracees);

/* Ends the events that the target's threads have opened for their counters. */
MUST_CHECK enum status work_pages_drop(struct work *work, struct error *error);

/* Opens /proc/PID/mem, once. */
MUST_CHECK enum status work_open(struct work *work, struct error *error);

#endif
