/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Offsets of layout.h that assembler code uses, held against the numbers it was given.
 */
#include "agent/offsets.h"

#include <stddef.h>

#include "agent/layout.h"

#define HOLDS(type, field, offset) \
	_Static_assert(offsetof(struct type, field) == (offset), "offsets.h: " #offset)
#define FRAME_HOLDS(field, offset)                                        \
	_Static_assert((int)offsetof(struct agent_frame, field) -         \
				       (int)sizeof(struct agent_frame) == \
			       (offset),                                  \
		       "offsets.h: " #offset)
#define FUNCTION_HOLDS(field, offset)                                                     \
	_Static_assert(AGENT_FUNCTIONS_OFFSET + offsetof(struct agent_function, field) == \
			       (offset),                                                  \
		       "offsets.h: " #offset)

HOLDS(agent_control, negative_owner, 0);
HOLDS(agent_shared, owner, 0);
HOLDS(agent_shared, function_bytes, SHARED_FUNCTION_BYTES);
HOLDS(agent_shared, pool_offset, SHARED_POOL_OFFSET);
HOLDS(agent_shared, every, SHARED_EVERY);
HOLDS(agent_shared, inner_ticks, SHARED_INNER_TICKS);
HOLDS(agent_shared, pair_ticks, SHARED_PAIR_TICKS);

HOLDS(agent_block, self, BLOCK_SELF);
HOLDS(agent_block, negative_thread, BLOCK_THREAD);
HOLDS(agent_block, countdown, BLOCK_COUNTDOWN);
HOLDS(agent_block, top_sp, BLOCK_TOP_SP);
HOLDS(agent_block, low, BLOCK_LOW);
HOLDS(agent_block, size, BLOCK_SIZE);
HOLDS(agent_block, busy, BLOCK_BUSY);
HOLDS(agent_block, overhead, BLOCK_OVERHEAD);
HOLDS(agent_block, switches, BLOCK_SWITCHES);
HOLDS(agent_block, random, BLOCK_RANDOM);
HOLDS(agent_block, region, BLOCK_REGION);
HOLDS(agent_block, free, BLOCK_FREE);
HOLDS(agent_block, lock_at, BLOCK_LOCK_AT);
HOLDS(agent_block, lock, BLOCK_LOCK);
HOLDS(agent_block, last, BLOCK_LAST);
HOLDS(agent_block, regions, BLOCK_REGIONS);
_Static_assert(AGENT_FUNCTIONS_OFFSET == BLOCK_FUNCTIONS, "offsets.h: BLOCK_FUNCTIONS");
_Static_assert(sizeof(struct agent_region) == 24, "offsets.h: REGION_TOP");
_Static_assert(offsetof(struct agent_region, top) == REGION_TOP - BLOCK_REGIONS, "REGION_TOP");

_Static_assert(sizeof(struct agent_frame) == 48, "offsets.h: FRAME_SP");
FRAME_HOLDS(sp, FRAME_SP);
FRAME_HOLDS(start, FRAME_START);
FRAME_HOLDS(child, FRAME_CHILD);
FRAME_HOLDS(switches, FRAME_SWITCHES);
FRAME_HOLDS(function, FRAME_FUNCTION);
FRAME_HOLDS(below, FRAME_BELOW);
FRAME_HOLDS(flags, FRAME_FLAGS);
_Static_assert(FRAME_NESTED == AGENT_FRAME_NESTED, "offsets.h: FRAME_NESTED");

FUNCTION_HOLDS(calls, FUNCTION_CALLS);
FUNCTION_HOLDS(timed, FUNCTION_TIMED);
FUNCTION_HOLDS(inclusive, FUNCTION_INCLUSIVE);
FUNCTION_HOLDS(self, FUNCTION_SELF);
FUNCTION_HOLDS(outermost, FUNCTION_OUTERMOST);
FUNCTION_HOLDS(squares_low, FUNCTION_SQUARES_LOW);
FUNCTION_HOLDS(squares_high, FUNCTION_SQUARES_HIGH);
FUNCTION_HOLDS(buckets, FUNCTION_BUCKETS);
