/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the guardian does, in its own process. Requests and answers are in the arena (guardian.h).
 */
#ifndef ASSAY_PROBE_GUARDIAN_WORK_H
#define ASSAY_PROBE_GUARDIAN_WORK_H

#include "probe/guardian.h"
#include "probe/remote.h"
#include "probe/tracee.h"

#define WORK_MAX_WRITES (1u << 22)

/* Writes that a process inherited, shared by all that did. */
struct work_family {
	uint32_t users;
	size_t n;
	struct guardian_write writes[];
};

/* Where a followed process is; a target that nobody follows is at WORK_RUNS. */
enum work_stage {
	WORK_RUNS = 0,
	WORK_UNBORN,   /* its parent has made it, and it has not stopped yet */
	WORK_LOADS,    /* exec: on its way to its entry point */
	WORK_STARTS,   /* static: on its way to its thread pointer */
	WORK_SETTLES,  /* a stop of our own is due */
	WORK_IS_HELD,  /* until assay lets it go */
	WORK_HAS_ENDED /* the target itself alone: the others are forgotten */
};

/* On the way from exec to the entry point (work_load.c). */
struct work_load {
	uint64_t entry, due_ns, pause_ns;
	uint8_t original[4];
	bool trapped, asked, entering;
	uint32_t calls;
};

struct follow;

/* One target and what was done to it. */
struct work {
	const struct sys *sys;
	struct guardian_arena *arena;
	pid_t pid;
	int memory_fd; /* /proc/PID/mem, -1: none */
	int memfd;     /* the buffers; handed over and closed by prepare's caller */
	uint64_t buffers, buffers_bytes;
	struct guardian_region
		regions[GUARDIAN_MAX_REGIONS]; /* of the last prepare, and what extended it */
	uint32_t n_regions;
	struct tracees held; /* a launched target at its entry */
	bool holding;
	/* every write that was made, to be undone */
	struct guardian_write *done;
	size_t n_done, done_capacity;
	/* --follow (follow.h) */
	struct follow *follow; /* NULL: it is let alone between operations */
	enum work_stage stage;
	struct work_load load;
	struct work_family *family; /* what a forked child has of its parent, NULL: nothing */
	uint64_t owner;             /* as the request of its prepare had it */
	uint64_t gadgets[REMOTE_PATTERNS]; /* found by remote.h, here or in the parent */
	uint32_t program;                  /* assay's number for what is probed in it, 0: none */
	pid_t parent;
	uint64_t held_ns; /* since when assay has been asked about it, 0: it has not */
	bool decided;     /* assay has let it go once */
	bool complete;    /* and all probes stood then, and do now */
	bool told;        /* assay has to hear of its end */
	bool vforked;
};

/* One step each; the answer is the status and arena->error. */
MUST_CHECK enum status work_seize(struct work *work, struct error *error);
MUST_CHECK enum status work_run_to_entry(struct work *work, struct error *error);
MUST_CHECK enum status work_let_go(struct work *work, struct error *error);
MUST_CHECK enum status work_prepare(struct work *work, struct error *error);
MUST_CHECK enum status work_extend(struct work *work, struct error *error);
MUST_CHECK enum status work_apply(struct work *work, struct error *error);
MUST_CHECK enum status work_remove(struct work *work, struct error *error);
MUST_CHECK enum status work_recover(struct work *work, struct error *error);

/* Writes the original bytes back to this one process. */
MUST_CHECK enum status work_restore(struct work *work, struct error *error);
/* The same with regions and events given up: all but the children. */
MUST_CHECK enum status work_undo(struct work *work, struct error *error);
/* Restores and lists the children of the target; `done` must be there still. */
void work_children(struct work *work);

/* Whether process `pid` is a fork of one that is probed like this one. */
bool work_has_region(const struct work *work, pid_t pid);
/* What a forked child has of its parent's writes (family) becomes its own, and is undone. */
MUST_CHECK enum status work_restore_family(struct work *work, struct error *error);

/* Stops all threads of the target, or takes those that are held. */
MUST_CHECK enum status work_stop(struct work *work, struct tracees *tracees, struct error *error);
/* Stops one thread, and the others run on; it must not be on its way into a signal handler. */
MUST_CHECK enum status work_stop_one(struct work *work, struct tracees *tracees,
				     struct error *error);
/* Lets them run; held ones stay held. */
void work_resume(struct work *work, struct tracees *tracees);

/* Ends the events that the target's threads have opened for their counters. */
MUST_CHECK enum status work_pages_drop(struct work *work, struct error *error);

/* Memory for a forked child that is held, by its own calls: buffers at the addresses where its parent's are, in the holes
 * that these left. `work` has the parent's regions and addresses; work->memfd is new. On failure nothing is
 * mapped, and its probes stay off. */
MUST_CHECK enum status work_adopt(struct work *work, struct error *error);

/* Makes the stopped main thread the one that is held. */
MUST_CHECK enum status work_hold(struct work *work, struct error *error);

/* The trap at the entry point of a process that stands at exec, and its end. */
MUST_CHECK enum status work_trap_set(struct work *work, struct error *error);
void work_trap_clear(struct work *work);

/* A followed process from exec to its entry point, without waiting for it: begins (it stands at exec) ... */
MUST_CHECK enum status work_load_begin(struct work *work, struct error *error);
/* ... asks it to stop when that is due; returns when something is due next, UINT64_MAX: nothing ... */
uint64_t work_load_look(struct work *work, uint64_t now_ns);
/* ... takes a stop of our own making, or (`call`) one at a system call, and lets the process go on unless it is there: then it
 * is held, and the answer true. Failure: it goes on as if nothing had been wanted of it. */
MUST_CHECK enum status work_load_stop(struct work *work, bool call, bool *there,
				      struct error *error);

/* Opens /proc/PID/mem, once. */
MUST_CHECK enum status work_open(struct work *work, struct error *error);

#endif
