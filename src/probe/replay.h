/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Mode trace, seen from outside: records are taken out of the threads' rings while they run, and every call is put together
 * again from its two records alone: totals (which must be the agent's own), callers, and the tree of calls.
 *
 *	rings (agent/records.h) ─► replay_drain ─► frames of each thread ─► nodes of the tree, totals of each function
 *	                                 └─► a file, when there is one
 */
#ifndef ASSAY_PROBE_REPLAY_H
#define ASSAY_PROBE_REPLAY_H

#include <stddef.h>

#include "base/sys.h"
#include "probe/buffers.h"

#define REPLAY_MAX_NODES    (1u << 18)
#define REPLAY_NO_FUNCTION  UINT32_MAX
#define REPLAY_FILE_MAGIC   0x3143525459415353ull /* "SSAYTRC1" */
#define REPLAY_FILE_VERSION 1u

/* What a stored record is in a file of them; they are all of this size, behind a header of the same size that holds
 * magic, version (u32) and size of a record (u32), then zeros. In the machine's byte order. */
struct replay_stored {
	struct agent_record record;
	uint32_t pid, tid;
};

/* A function called from this chain of probed callers. Node 0 is no function: the root. */
struct replay_node {
	uint32_t parent, function, first_child, next_sibling; /* 0: none */
	uint64_t calls;
	int64_t inclusive, self; /* of those that were timed */
};

struct replay_totals {
	uint64_t calls, timed, abandoned, interrupted, unread;
	int64_t inclusive, self, interrupted_ticks;
};

struct replay_thread; /* its open calls */

struct replay {
	struct replay_totals *totals; /* of each function */
	uint32_t *rows;               /* of each function, its row in the result: the caller's */
	uint32_t n_functions;
	uint64_t inner_ticks;
	struct replay_node *nodes;
	uint32_t n_nodes;
	size_t nodes_capacity;
	struct replay_thread **threads; /* by block */
	uint32_t n_threads;
	uint64_t records, odd_exits;
	uint64_t nodes_lost; /* calls beyond REPLAY_MAX_NODES: in the totals, not in the tree */
	bool out_of_memory;  /* from then on nothing is put together */
	/* the file */
	const struct sys *sys;
	int fd; /* -1: none */
	uint32_t pid;
	struct replay_stored *stored;
	size_t n_stored;
	int write_errno; /* it could not be written to the end */
};

/* `fd` is borrowed. Release in any case. */
MUST_CHECK enum status replay_init(struct replay *replay, const struct sys *sys,
				   const struct buffers_plan *plan, uint64_t inner_ticks,
				   uint32_t pid, int fd, struct error *error);
/* Frees what it holds; harmless on one of zeros. */
void replay_release(struct replay *replay);

/* Takes out what is in the rings; true when one was more than half full. */
bool replay_drain(struct replay *replay, uint8_t *buffers, const struct buffers_plan *plan);

/* Writes what is to be in the file still. */
void replay_flush(struct replay *replay);

/* One record of the thread that has block `index`, in the order in which it was written. */
void replay_take(struct replay *replay, uint32_t index, const struct agent_record *record);

/* True when the records give the totals that the agent has summed by itself. */
bool replay_agrees(const struct replay *replay, uint32_t function,
		   const struct function_sums *sums);

#endif
