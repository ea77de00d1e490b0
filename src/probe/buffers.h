/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The buffers of one process: how large they are to be, their header, and the sums read out of them.
 *
 * Functions of libraries that come later get spare slots. These are address space only until they are used: a block
 * is laid out for all slots, and the pages of unused ones are never touched. The limit holds for memory: slots that are
 * used later take room from blocks that no thread has had yet (agent_shared.n_blocks is lowered), never from others.
 */
#ifndef ASSAY_PROBE_BUFFERS_H
#define ASSAY_PROBE_BUFFERS_H

#include <stddef.h>

#include "agent/layout.h"
#include "base/status.h"
#include "probe/stub.h"

#define BUFFERS_DEFAULT_BYTES (UINT64_C(16) << 20)
#define BUFFERS_MAX_BLOCKS    4096u
#define BUFFERS_SPARE_SLOTS   4096u /* for functions that come later, at most */
#define BUFFERS_MAX_SLOTS     (1u << AGENT_POINT_BITS)

struct buffers_plan {
	uint64_t bytes;       /* of the memfd: address space */
	uint64_t limit_bytes; /* of memory */
	uint64_t overflow_offset, blocks_offset;
	uint32_t n_functions;  /* slots, spare ones included */
	uint32_t n_used;       /* of these */
	uint32_t n_blocks;     /* that threads may ever have had */
	uint32_t n_blocks_now; /* that threads may have from now on */
	uint32_t function_bytes, block_bytes, pool_offset;
	uint32_t state_offset, n_states;   /* of mode state, in a block */
	uint32_t record_offset, n_records; /* of mode trace */
};

/* As many blocks as `limit_bytes` hold, at least one. */
void buffers_plan_make(struct buffers_plan *plan, enum probe_mode mode, uint32_t n_functions,
		       uint64_t limit_bytes);

/* Memory that the buffers take at most, as they are used now. */
uint64_t buffers_touched_bytes(const struct buffers_plan *plan);

/* How many slots may be used, when so many threads have blocks already: at least those that are. */
uint32_t buffers_slots_most(const struct buffers_plan *plan, uint32_t blocks_taken);

/* From now on `n_used` slots are used: as buffers_slots_most allows. Fewer threads may have blocks then. */
void buffers_slots_use(struct buffers_plan *plan, uint8_t *buffers, uint32_t n_used);

/* Everything of the header but the enable word. */
void buffers_header_fill(struct agent_shared *shared, const struct buffers_plan *plan,
			 uint64_t every, uint64_t cap);

/* The block that is nobody's, at its place in buffers that the target sees at `address`. */
void buffers_null_block(uint8_t *buffers, uint64_t address);

/* Sums of one function over all threads; counted without a block included in calls. */
struct function_sums {
	uint64_t calls, timed, abandoned, dropped, interrupted;
	uint64_t unread;                            /* the event was on no counter meanwhile */
	uint64_t enabled_ns, running_ns;            /* of the event, in the threads that called */
	int64_t inclusive, self, interrupted_ticks; /* may be some ticks below 0 */
	double squares;                             /* of durations */
	uint64_t buckets[AGENT_BUCKETS];
	uint32_t threads; /* blocks in which it was called */
	uint32_t capped;  /* blocks in which its cap is used up */
};

struct buffers_sums {
	uint64_t odd_exits, nested, lost_regions;
	uint64_t threads, without_block, foreign;
	uint64_t records,
		records_dropped; /* mode trace: written; calls that the ring had no room for */
	uint64_t off_ticks, off_looks;   /* off the CPU between timed hits; switches seen */
	uint64_t without_page;           /* threads that could not open an event */
	uint32_t page_errno;             /* why the last of these could not */
	uint64_t enabled_ns, running_ns; /* of the event */
};

/* Mode state: offset in a block of the last place for an open call. */
static inline uint32_t buffers_state_end(const struct buffers_plan *plan)
{
	return plan->state_offset +
	       (plan->n_states ? plan->n_states - 1 : 0) * (uint32_t)sizeof(struct agent_state);
}

/* Blocks that threads have had so far, and one of them. */
uint32_t buffers_blocks_taken(const uint8_t *buffers, const struct buffers_plan *plan);
const struct agent_block *buffers_block(const uint8_t *buffers, const struct buffers_plan *plan,
					uint32_t index);

/* Adds what the buffers hold now; the target may be writing. */
void buffers_function_sums(const uint8_t *buffers, const struct buffers_plan *plan,
			   enum probe_mode mode, uint32_t function, struct function_sums *sums);
void buffers_sums(const uint8_t *buffers, const struct buffers_plan *plan,
		  struct buffers_sums *sums);

#endif
