/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/passages.h"

#include <math.h>

void passages_header_fill(struct agent_shared *shared, uint32_t n_regions,
			  const struct calibration *calibration)
{
	const uint64_t pair = (uint64_t)llround(calibration->pair_ticks);

	shared->n_passages = n_regions;
	shared->begin_ticks = pair / 2;
	shared->end_ticks = pair - pair / 2;
	shared->passage_ticks = (uint64_t)llround(calibration->inner_ticks);
}

static void block_add(const struct agent_block *block, const struct agent_passages *from,
		      struct function_sums *sums, struct passage_sums *passages)
{
	const uint64_t ended = from->timed + from->interrupted + from->unread;

	sums->threads++;
	sums->calls += ended;
	sums->timed += from->timed;
	sums->inclusive += (int64_t)from->inclusive;
	sums->dropped += from->dropped;
	sums->interrupted += from->interrupted;
	sums->interrupted_ticks += (int64_t)from->interrupted_ticks;
	sums->unread += from->unread;
	sums->enabled_ns += block->enabled_ns;
	sums->running_ns += block->running_ns;
	sums->squares +=
		(double)from->squares_high * 18446744073709551616.0 + (double)from->squares_low;
	for (unsigned int i = 0; i < AGENT_BUCKETS; i++)
		sums->buckets[i] += from->buckets[i];
	passages->begun += from->begun;
	passages->restarted += from->restarted;
	passages->alone += from->alone;
	/* the target may be writing */
	if (from->begun > ended + from->restarted + from->dropped)
		passages->unended += from->begun - ended - from->restarted - from->dropped;
}

void passages_sums(const uint8_t *buffers, const struct buffers_plan *plan, uint32_t region,
		   struct function_sums *sums, struct passage_sums *passages)
{
	const uint32_t n = buffers_blocks_taken(buffers, plan);
	const uint64_t *overflow =
		(const uint64_t *)(const void *)(buffers + plan->overflow_offset);

	passages->without_block += overflow[region];
	for (uint32_t i = 0; i < n; i++) {
		const struct agent_block *block = buffers_block(buffers, plan, i);
		const struct agent_passages *from =
			(const struct agent_passages *)(const void *)((const uint8_t *)block +
								      AGENT_FUNCTIONS_OFFSET +
								      (uint64_t)region *
									      plan->function_bytes);

		if (from->begun || from->alone)
			block_add(block, from, sums, passages);
	}
}
