/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/buffers.h"

#include <string.h>

#include "agent/slots.h"

#define RECORDS_MOST  32768u /* of a thread's ring; powers of 2 */
#define RECORDS_LEAST 1024u
#define BLOCKS_WANTED 16u /* rings are made smaller until so many threads have room */

#define ALIGN(value, to) (((value) + (to)-1) & ~(uint64_t)((to)-1))

void buffers_plan_make(struct buffers_plan *plan, enum probe_mode mode, uint32_t n_functions,
		       uint64_t limit_bytes)
{
	uint64_t block;

	*plan = (struct buffers_plan){ .n_functions = n_functions };
	plan->function_bytes = probe_mode_measures(mode) ? (uint32_t)sizeof(struct agent_function)
							 : AGENT_COUNT_BYTES;
	block = ALIGN(AGENT_FUNCTIONS_OFFSET + (uint64_t)n_functions * plan->function_bytes, 64);
	plan->pool_offset = (uint32_t)block;
	if (probe_mode_measures(mode))
		block += sizeof(struct agent_frame) * AGENT_FRAMES;
	if (mode == PROBE_STATE) {
		plan->state_offset = (uint32_t)block;
		plan->n_states = AGENT_STATES;
		block += sizeof(struct agent_state) * AGENT_STATES;
	}
	if (mode == PROBE_TRACE) {
		plan->record_offset = (uint32_t)block;
		plan->n_records = RECORDS_MOST;
		while (plan->n_records > RECORDS_LEAST &&
		       (block + plan->n_records * sizeof(struct agent_record)) * BLOCKS_WANTED >
			       limit_bytes)
			plan->n_records /= 2;
		block += plan->n_records * sizeof(struct agent_record);
	}
	plan->block_bytes = (uint32_t)ALIGN(block, 64);
	plan->overflow_offset = AGENT_SLOTS_OFFSET + AGENT_SLOTS_BYTES;
	plan->blocks_offset = ALIGN(plan->overflow_offset + UINT64_C(8) * n_functions, AGENT_PAGE);
	plan->n_blocks = 1;
	if (limit_bytes > plan->blocks_offset)
		block = (limit_bytes - plan->blocks_offset) / plan->block_bytes;
	else
		block = 1;
	plan->n_blocks = block < 1                    ? 1
			 : block > BUFFERS_MAX_BLOCKS ? BUFFERS_MAX_BLOCKS
						      : (uint32_t)block;
	plan->bytes = ALIGN(plan->blocks_offset + (uint64_t)plan->n_blocks * plan->block_bytes,
			    AGENT_PAGE);
}

void buffers_header_fill(struct agent_shared *shared, const struct buffers_plan *plan,
			 uint64_t every, uint64_t cap)
{
	*shared = (struct agent_shared){
		.version = AGENT_VERSION,
		.magic = AGENT_MAGIC,
		.size = plan->bytes,
		.overflow_offset = plan->overflow_offset,
		.blocks_offset = plan->blocks_offset,
		.block_bytes = plan->block_bytes,
		.n_blocks = plan->n_blocks,
		.n_functions = plan->n_functions,
		.function_bytes = plan->function_bytes,
		.pool_offset = plan->pool_offset,
		.n_frames = AGENT_FRAMES,
		.state_offset = plan->state_offset,
		.n_states = plan->n_states,
		.record_offset = plan->record_offset,
		.n_records = plan->n_records,
		.cap = cap,
		.epoch = 1,
		.every = every ? every : 1,
	};
}

void buffers_null_block(uint8_t *buffers, uint64_t address)
{
	struct agent_block *block = (struct agent_block *)(void *)(buffers + AGENT_PAGE);

	memset(block, 0, sizeof(*block));
	block->self = address + AGENT_PAGE;
}

uint32_t buffers_blocks_taken(const uint8_t *buffers, const struct buffers_plan *plan)
{
	const struct agent_shared *shared = (const struct agent_shared *)(const void *)buffers;
	const uint64_t taken = __atomic_load_n(&shared->blocks_taken, __ATOMIC_RELAXED);

	return taken < plan->n_blocks ? (uint32_t)taken : plan->n_blocks;
}

const struct agent_block *buffers_block(const uint8_t *buffers, const struct buffers_plan *plan,
					uint32_t index)
{
	return (const struct agent_block *)(const void *)(buffers + plan->blocks_offset +
							  (uint64_t)index * plan->block_bytes);
}

static void sums_add(struct function_sums *sums, const struct agent_function *function)
{
	sums->timed += function->timed;
	sums->inclusive += (int64_t)function->inclusive;
	sums->self += (int64_t)function->self;
	sums->abandoned += function->abandoned;
	sums->dropped += function->dropped;
	sums->interrupted += function->interrupted;
	sums->unread += function->unread;
	sums->interrupted_ticks += (int64_t)function->interrupted_ticks;
	sums->squares += (double)function->squares_high * 18446744073709551616.0 +
			 (double)function->squares_low;
	for (unsigned int i = 0; i < AGENT_BUCKETS; i++)
		sums->buckets[i] += function->buckets[i];
}

void buffers_function_sums(const uint8_t *buffers, const struct buffers_plan *plan,
			   enum probe_mode mode, uint32_t index, struct function_sums *sums)
{
	const struct agent_shared *shared = (const struct agent_shared *)(const void *)buffers;
	const uint32_t n = buffers_blocks_taken(buffers, plan);
	const uint64_t *overflow =
		(const uint64_t *)(const void *)(buffers + plan->overflow_offset);

	sums->calls += overflow[index];
	for (uint32_t i = 0; i < n; i++) {
		const struct agent_block *block = buffers_block(buffers, plan, i);
		const struct agent_function *function =
			(const struct agent_function *)(const void *)((const uint8_t *)block +
								      AGENT_FUNCTIONS_OFFSET +
								      (uint64_t)index *
									      plan->function_bytes);

		if (!function->calls)
			continue;
		sums->threads++;
		sums->calls += function->calls;
		/* also when the last epoch has just armed it anew */
		if (shared->cap && function->calls >= shared->cap)
			sums->capped++;
		sums->enabled_ns += block->enabled_ns;
		sums->running_ns += block->running_ns;
		if (probe_mode_measures(mode))
			sums_add(sums, function);
	}
}

void buffers_sums(const uint8_t *buffers, const struct buffers_plan *plan,
		  struct buffers_sums *sums)
{
	const struct agent_shared *shared = (const struct agent_shared *)(const void *)buffers;
	const uint32_t n = buffers_blocks_taken(buffers, plan);

	sums->threads += shared->threads;
	sums->without_block += shared->without_block;
	sums->foreign += shared->foreign;
	for (uint32_t i = 0; i < n; i++) {
		const struct agent_block *block = buffers_block(buffers, plan, i);

		sums->odd_exits += block->odd_exits;
		sums->nested += block->nested;
		sums->lost_regions += block->lost_regions;
		sums->records += block->records_head;
		sums->records_dropped += block->records_dropped;
		sums->off_ticks += block->off_ticks;
		sums->off_looks += block->off_looks;
		sums->enabled_ns += block->enabled_ns;
		sums->running_ns += block->running_ns;
		if (block->page_errno) {
			sums->without_page++;
			sums->page_errno = block->page_errno;
		}
	}
}
