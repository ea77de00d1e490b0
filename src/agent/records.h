/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Mode trace: the ring of records in a thread's block. The thread writes behind `records_head`, the engine takes
 * out behind `records_tail`; each moves its own word only, when the bytes are there. An entry is recorded when there is room
 * for its exit, too, so that what is dropped is whole calls, and none is cut in two.
 *
 * Records are written by whoever holds the agent for the thread: never two at a time.
 */
#ifndef ASSAY_AGENT_RECORDS_H
#define ASSAY_AGENT_RECORDS_H

#include <stddef.h>

#include "agent/layout.h"

/* What is free, beside what open frames are sure of. Wraps to a huge number never: open frames fit. */
static inline uint64_t records_free(const struct agent_block *block,
				    const struct agent_shared *shared)
{
	const uint64_t tail = __atomic_load_n(&block->records_tail, __ATOMIC_ACQUIRE);
	const uint64_t used = block->records_head - tail + block->records_open;

	return used < shared->n_records ? shared->n_records - used : 0;
}

/* The place of the next record. */
static inline struct agent_record *record_next(struct agent_block *block,
					       const struct agent_shared *shared)
{
	return (struct agent_record *)(void *)((char *)block + shared->record_offset) +
	       (block->records_head & (shared->n_records - 1));
}

static inline void record_commit(struct agent_block *block)
{
	__atomic_store_n(&block->records_head, block->records_head + 1, __ATOMIC_RELEASE);
}

static inline uint32_t record_where(const struct agent_block *block, uint32_t flags)
{
	return block->region | (flags & AGENT_FRAME_NESTED ? AGENT_WHERE_NESTED : 0) |
	       (uint32_t)block->switches << AGENT_WHERE_SWITCHES;
}

/* A record that is no pair's: dropped when there is no room. */
static inline void record_single(struct agent_block *block, const struct agent_shared *shared,
				 uint64_t counter, uint64_t sp, uint32_t point, uint32_t where)
{
	if (records_free(block, shared) < 1) {
		block->records_dropped++;
		return;
	}
	*record_next(block, shared) = (struct agent_record){ counter, sp, point, where };
	record_commit(block);
}

#endif
