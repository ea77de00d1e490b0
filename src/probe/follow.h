/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The guardian's part in --follow: it stays attached to all threads of its target and of every process that these
 * make, and answers each stop that the kernel reports.
 *
 *	fork	the child stops before its first instruction. What it has of its parent's probes is off by data; it gets
 *		buffers of its own at the same addresses (work_adopt) and is held until assay has taken
 *		their enable word: so it counts from its first instruction on
 *	vfork, posix_spawn, clone(CLONE_VM)	has its parent's memory: its calls are its parent's, until it calls exec
 *	exec	the process is led through the loader to its entry point (work_load.c) and held there until assay has
 *		chosen, prepared and applied, or lets it go
 *
 * Everything else goes on at once: signals are delivered as they came, a group-stop is one (PTRACE_LISTEN), threads
 * are born traced. What this costs the processes: two stops for each fork, clone and exec, one for each signal.
 *
 * A child may be seen before the stop of the parent that says whose child it is, and the other way round; both are waited
 * for. Source: ptrace(2), "Attaching and detaching", "PTRACE_EVENT stops", "Group-stop".
 */
#ifndef ASSAY_PROBE_FOLLOW_H
#define ASSAY_PROBE_FOLLOW_H

#include "probe/guardian_work.h"

#define FOLLOW_MAX_WAITING 4096u /* stops that are kept for later */

/* A child that has stopped, and nobody has said yet whose it is. */
struct follow_newborn {
	pid_t pid;
	int status;
	uint64_t since_ns;
};

/* A stop that was waited for, to be dealt with later. */
struct follow_stop {
	pid_t tid;
	int status;
};

struct follow {
	const struct sys *sys;
	struct guardian_arena *arena;
	struct work **works; /* the first one is the target itself, and stays when it has ended */
	size_t n, capacity;
	struct follow_newborn *newborns;
	size_t n_newborns, newborns_capacity;
	struct follow_stop *later;
	size_t n_later, later_capacity;
	struct guardian_event *events; /* that assay has not asked for yet */
	size_t n_events, events_capacity;
	struct guardian_child unfollowed[GUARDIAN_MAX_CHILDREN];
	uint64_t n_unfollowed; /* may be more than the list holds */
	struct tracees_keeper keeper;
	int signal_fd; /* SIGCHLD; -1: nobody is followed */
	bool ending;   /* probes are being removed: children that are born now are only put right */
	bool over;     /* all has been put right */
};

/* One target, followed by nobody yet. False: out of memory. Release in any case. */
MUST_CHECK bool follow_init(struct follow *follow, const struct sys *sys,
			    struct guardian_arena *arena);
void follow_release(struct follow *follow);

/* Who waits for the threads of a followed process; NULL for NULL. */
const struct tracees_keeper *follow_keeper(const struct follow *follow);

/* Attaches to the target for good; one that is held stays held. */
MUST_CHECK enum status follow_begin(struct follow *follow, struct error *error);

/* What is known of the process; NULL: it is not followed. */
struct work *follow_find(const struct follow *follow, pid_t pid);

/* Deals with all stops that are waiting, and with what is due. Returns how long nothing else is: ns. */
uint64_t follow_turn(struct follow *follow);

/* Lets a held process run: what assay wanted of it is done. */
void follow_let_go(struct follow *follow, struct work *work);

/* After an operation on a process that may have ended in the middle of it. */
void follow_check(struct follow *follow, struct work *work);

/* The next event, GUARDIAN_NOTHING when there is none. Returns the buffers of one that was born, -1: none; the caller
 * owns them. */
int follow_event(struct follow *follow, struct guardian_event *event);

/* Puts all processes right and detaches from them; lists those that were not followed. The status is the target's. */
MUST_CHECK enum status follow_remove(struct follow *follow, struct error *error);

#endif
