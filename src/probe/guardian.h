/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The guardian: a small process of its own session that alone touches the target, so that assay may die at any
 * moment (kill -9, Ctrl-C, out of memory) and the target is put right all the same.
 *
 *	assay					guardian
 *	fills the arena, sends one byte	  -->	does the operation, leaves result in the arena,
 *	waits for the answer		  <--	sends one byte (prepare: with the memfd)
 *	dies: the socket closes		  -->	stops the target, restores every byte, ends
 *
 * The arena is memory that both share. The robust futex word that enables the agents is in the target's
 * buffers and owned by assay: the kernel marks it when assay dies, so that probes are off at once, and the
 * bytes follow some milliseconds later.
 *
 * A target that assay launched is held stopped from its entry point until its first probes are written.
 */
#ifndef ASSAY_PROBE_GUARDIAN_H
#define ASSAY_PROBE_GUARDIAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"
#include "base/sys.h"

#define GUARDIAN_COMM         "assay-guardian" /* its name among the processes */
#define GUARDIAN_MAX_REGIONS  64u
#define GUARDIAN_MAX_CHILDREN 256u
#define GUARDIAN_MAX_BUSY     8u
#define GUARDIAN_ARENA_BYTES  (UINT64_C(1) << 30) /* of address space; touched as needed */
#define GUARDIAN_STOP_WRITES  2000u /* sites that are written while all threads stand */
#define GUARDIAN_MAX_FOLLOWED \
	1024u /* processes at once; the kernel marks 2048 words of a robust list */
#define GUARDIAN_REASON_BYTES 96u

/* Bytes of the target's text to be changed, with all threads stopped and none inside (busy_start, busy_end). */
struct guardian_write {
	uint64_t address, busy_start, busy_end;
	uint32_t
		function; /* the caller's number: writes of one function are made together or not at all */
	uint8_t length, state; /* enum guardian_write_state */
	bool island;           /* padding that is executed only while it is written */
	uint8_t original[8], bytes[8];
};

enum guardian_write_state {
	GUARDIAN_WAITING = 0,
	GUARDIAN_WRITTEN,
	GUARDIAN_BUSY,     /* a thread stood inside, again and again */
	GUARDIAN_DIFFERENT /* the live bytes were not those of the file, or not ours any more */
};

/* Bytes for memory that nobody runs yet. */
struct guardian_chunk {
	uint64_t address, size;
	uint64_t offset; /* of the bytes in the arena's payload */
};

struct guardian_region {
	uint64_t address, size;
	bool reused; /* mapped by an earlier assay (leftovers.h) */
};

struct guardian_stops {
	uint64_t stops, gather_ns, held_ns, longest_held_ns;
	uint64_t threads; /* most seen in one stop */
};

/* A process that the target has made, and that was there when the probes were removed; or that was to be followed
 * and could not be (`reason` says why), whether it is there or not. */
struct guardian_child {
	pid_t pid;
	char comm[16];
	char reason[GUARDIAN_REASON_BYTES];
	bool patched;  /* forked while probes were on: it had the patched bytes */
	uint64_t left; /* of these, those that could not be restored */
};

/* What assay has to do something about when processes are followed. */
enum guardian_event_kind {
	GUARDIAN_NOTHING = 0,
	GUARDIAN_BORN, /* by fork of a probed process: held; it has buffers, and they are off */
	GUARDIAN_READY, /* new code, by exec or by fork of a process whose probes were not all there: held */
	GUARDIAN_ENDED /* a process, or the code that it had before it called exec */
};

struct guardian_event {
	enum guardian_event_kind kind;
	pid_t pid, parent;
	uint32_t
		program; /* as the arena's was when the probes of it (born: of its parent) were applied */
	bool by_exec; /* ready: new code; ended: it goes on with new code */
	bool last;    /* ended: no other process of its program lives or will be born */
	char comm[16];
	uint64_t buffers; /* born: their address in it */
};

struct guardian_arena {
	/* request */
	uint32_t operation;
	pid_t pid;
	uint64_t owner; /* thread id of assay's owner of the enable word */
	uint64_t buffers_bytes;
	uint32_t n_regions;
	struct guardian_region regions[GUARDIAN_MAX_REGIONS];
	uint64_t n_writes, n_chunks; /* in the payload: writes first, then chunks, then bytes */
	bool allow_seccomp;
	uint32_t program;                 /* assay's number for what is applied */
	uint64_t busy[GUARDIAN_MAX_BUSY]; /* leftover regions that a thread stood in */
	uint32_t n_busy;
	/* answer */
	enum status status;
	struct error error;
	uint64_t buffers, entry;
	uint32_t failed_region; /* of a prepare that failed with EEXIST */
	uint64_t busy_region;   /* of one that failed with EBUSY: a thread stands in it */
	struct guardian_stops stops;
	uint64_t written, restored, different;
	uint64_t n_stuck; /* of a recover: places that could not be put back */
	uint32_t
		other_owner; /* of a recover: thread of an assay that probes the process now, 0: none */
	struct guardian_child children[GUARDIAN_MAX_CHILDREN];
	uint64_t n_children; /* may be more than the list holds */
	struct guardian_event event;
	uint32_t n_live,
		n_events; /* followed processes, events not asked for: written at any time, atomically */
	uint8_t payload[];
};

struct guardian {
	const struct sys *sys;
	pid_t pid; /* 0: none */
	int fd;
	bool news; /* there may be events */
	bool lost; /* it was killed: nobody follows any more */
	struct guardian_arena *arena;
};

/* Starts the process. Call it before there are other threads. */
MUST_CHECK enum status guardian_start(struct guardian *guardian, const struct sys *sys,
				      struct error *error);

/* Ends it; what is still patched it restores first. Harmless on one that was never started. */
void guardian_stop(struct guardian *guardian);

/* Attaches to a launched child that has not called exec yet. */
MUST_CHECK enum status guardian_seize(struct guardian *guardian, pid_t pid, struct error *error);

/* Makes the guardian ready to take that child through exec and the loader to the program's entry point (static
 * programs: until the thread pointer is set) and to hold it there; to be called before the exec, which may fail:
 * then the guardian reaps what it traces, so that the parent can. guardian_at_entry waits for it. */
MUST_CHECK enum status guardian_run_to_entry(struct guardian *guardian, struct error *error);
MUST_CHECK enum status guardian_at_entry(struct guardian *guardian, struct error *error);

/* Lets a held target run. */
MUST_CHECK enum status guardian_let_go(struct guardian *guardian, struct error *error);

/* Maps buffers and regions into the target (arena: pid, owner, buffers_bytes, regions) through system calls of
 * one of its threads. *memfd: the buffers, to be mapped by the caller, who owns it. arena->buffers: their
 * address in the target. */
MUST_CHECK enum status guardian_prepare(struct guardian *guardian, int *memfd, struct error *error);

/* Maps further regions (arena: regions) for the buffers that guardian_prepare has mapped. */
MUST_CHECK enum status guardian_extend(struct guardian *guardian, struct error *error);

/* Writes chunks, then, in as few stops as GUARDIAN_STOP_WRITES allows, the writes; the state of each is left
 * in the arena. */
MUST_CHECK enum status guardian_apply(struct guardian *guardian, struct error *error);

/* Restores every byte that was changed and still is as it was written, in the target and in its forked children;
 * lists the children. */
MUST_CHECK enum status guardian_remove(struct guardian *guardian, struct error *error);

/* Puts back what stands in the text of arena->pid since an assay and its guardian were both killed: arena->restored
 * places, or nothing when another assay is at work there (other_owner). */
MUST_CHECK enum status guardian_recover(struct guardian *guardian, pid_t pid, struct error *error);

/* Stays attached to arena->pid and to whatever processes it makes from now on (follow.h): until guardian_remove, which
 * puts all of them right. Requests go to the process that arena->pid names. */
MUST_CHECK enum status guardian_follow(struct guardian *guardian, struct error *error);

/* Takes the next event; GUARDIAN_NOTHING when there is none. *memfd: the buffers of one that was born, for the caller
 * to close, else -1. When the descriptor `fd` is readable there are events. */
MUST_CHECK enum status guardian_event_take(struct guardian *guardian, struct guardian_event *event,
					   int *memfd, struct error *error);

/* The arena's payload, laid out for this many writes and chunks; NULL when it is too much. */
struct guardian_write *guardian_writes(struct guardian_arena *arena);
struct guardian_chunk *guardian_chunks(struct guardian_arena *arena);
uint8_t *guardian_bytes(struct guardian_arena *arena, uint64_t *capacity);

#endif
