/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The threads that belong to the target, as FORK and EXIT records tell of them.
 *
 * A thread that has ended stays known until the drain after the one that told of its end, since its
 * last samples may lie in another CPU's ring. Memory follows the threads that live at one time.
 */
#ifndef ASSAY_RECORD_FOLLOWED_H
#define ASSAY_RECORD_FOLLOWED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"
#include "record/id_map.h"

#define FOLLOWED_MAX 4194304 /* the kernel's largest number of threads */

struct followed_task {
	pid_t pid, tid;               /* tid 0: this place is free */
	uint32_t counters, sidebands; /* chains of its own events; ID_MAP_NONE: none */
	uint32_t next_free;
	bool sampled;
	bool ended, swept_once;
	bool generates_code; /* the process has anonymous executable memory (kept on pid == tid) */
	uint64_t cpu_ns;     /* that it used, when its end reported that */
	pid_t inner_pid;     /* its pid in its own namespace, for /tmp/perf-PID.map; 0 unknown */
};

struct followed {
	struct followed_task *items;
	size_t n, capacity, n_living, n_ended;
	uint32_t free_list;
	struct id_map by_tid;
	uint64_t seen, unsampled;  /* threads in all; those that ended without a sample, */
	uint64_t unsampled_cpu_ns; /* and their CPU time where it was reported */
};

void followed_init(struct followed *followed);
void followed_release(struct followed *followed);

/* Adds a thread, or renews one whose id is used again. The pointer is valid until the next add. */
MUST_CHECK enum status followed_add(struct followed *followed, pid_t pid, pid_t tid,
				    struct followed_task **task, struct error *error);

/* NULL when the thread is not followed (or was forgotten after its end). */
struct followed_task *followed_find(const struct followed *followed, pid_t tid);

/* Marks the end; its events stay open until followed_sweep hands it out. */
void followed_end(struct followed *followed, pid_t tid);

/* Takes out the next thread that has been ended for a whole drain; false when there is no more. The
 * caller closes the events in its chains. `cursor` starts at 0 after each drain. */
bool followed_sweep(struct followed *followed, size_t *cursor, struct followed_task *gone);

#endif
