/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/buffers.h"

#include <string.h>

#include "agent/slots.h"

#define RECORDS_MOST  32768u /* of a thread's ring; powers of 2 */
#define RECORDS_LEAST 1024u
#define BLOCKS_WANTED 16u /* rings are made smaller until so many threads have room */
#define BLOCKS_KEPT   8u  /* functions that come later leave so many threads room */
#define SPARE_FACTOR  32u /* address space for spare slots, in times of the limit */

#define ALIGN(value, to) (((value) + (to)-1) & ~(uint64_t)((to)-1))

/* In front of the blocks, when `n_used` slots are. */
static uint64_t front_bytes(const struct buffers_plan *plan, uint32_t n_used)
{
	return ALIGN(plan->overflow_offset + UINT64_C(8) * n_used, AGENT_PAGE);
}

/* Memory that a block takes with `n_used` slots: whole pages, since those behind them are never touched. */
static uint64_t block_touched(const struct buffers_plan *plan, uint32_t n_used)
{
	return ALIGN(AGENT_FUNCTIONS_OFFSET + (uint64_t)n_used * plan->function_bytes, AGENT_PAGE) +
	       plan->block_bytes - plan->pool_offset;
}

static uint32_t blocks_for(const struct buffers_plan *plan, uint32_t n_used)
{
	const uint64_t front = front_bytes(plan, n_used);
	const uint64_t n = plan->limit_bytes > front
				   ? (plan->limit_bytes - front) / block_touched(plan, n_used)
				   : 1;

	return n < 1 ? 1 : n > BUFFERS_MAX_BLOCKS ? BUFFERS_MAX_BLOCKS : (uint32_t)n;
}

/* What stands behind the functions in a block, from offset `block` on; returns where it ends. */
static uint64_t tail_lay(struct buffers_plan *plan, enum probe_mode mode, uint64_t block)
{
	if (probe_mode_measures(mode))
		block += sizeof(struct agent_frame) * AGENT_FRAMES;
	if (mode == PROBE_STATE) {
		plan->state_offset = (uint32_t)block;
		plan->n_states = AGENT_STATES;
		block += sizeof(struct agent_state) * AGENT_STATES;
	}
	if (mode == PROBE_TRACE) {
		plan->record_offset = (uint32_t)block;
		block += plan->n_records * sizeof(struct agent_record);
	}
	return ALIGN(block, AGENT_PAGE);
}

static void block_lay(struct buffers_plan *plan, enum probe_mode mode)
{
	const uint64_t pool =
		ALIGN(AGENT_FUNCTIONS_OFFSET + (uint64_t)plan->n_functions * plan->function_bytes,
		      AGENT_PAGE);

	plan->pool_offset = (uint32_t)pool;
	plan->block_bytes = (uint32_t)tail_lay(plan, mode, pool);
}

/* Address space is bounded as memory is, more widely: nothing is in it until a library comes. */
static uint32_t spare_slots(const struct buffers_plan *plan, uint32_t n_functions)
{
	const uint64_t room = plan->limit_bytes * SPARE_FACTOR / plan->n_blocks;
	uint64_t spare = room / plan->function_bytes;

	if (spare > BUFFERS_SPARE_SLOTS)
		spare = BUFFERS_SPARE_SLOTS;
	if (n_functions >= BUFFERS_MAX_SLOTS)
		return 0;
	return spare < BUFFERS_MAX_SLOTS - n_functions ? (uint32_t)spare
						       : BUFFERS_MAX_SLOTS - n_functions;
}

void buffers_plan_make(struct buffers_plan *plan, enum probe_mode mode, uint32_t n_functions,
		       uint64_t limit_bytes)
{
	*plan = (struct buffers_plan){ .n_functions = n_functions,
				       .n_used = n_functions,
				       .limit_bytes = limit_bytes };
	plan->function_bytes = probe_mode_measures(mode) ? (uint32_t)sizeof(struct agent_function)
							 : AGENT_COUNT_BYTES;
	plan->overflow_offset = AGENT_SLOTS_OFFSET + AGENT_SLOTS_BYTES;
	plan->n_records = mode == PROBE_TRACE ? RECORDS_MOST : 0;
	block_lay(plan, mode);
	while (plan->n_records > RECORDS_LEAST &&
	       block_touched(plan, n_functions) * BLOCKS_WANTED > limit_bytes) {
		plan->n_records /= 2;
		block_lay(plan, mode);
	}
	plan->n_blocks = plan->n_blocks_now = blocks_for(plan, n_functions);
	plan->n_functions += spare_slots(plan, n_functions);
	block_lay(plan, mode);
	plan->blocks_offset = front_bytes(plan, plan->n_functions);
	plan->bytes = plan->blocks_offset + (uint64_t)plan->n_blocks * plan->block_bytes;
}

uint64_t buffers_touched_bytes(const struct buffers_plan *plan)
{
	return front_bytes(plan, plan->n_used) +
	       plan->n_blocks_now * block_touched(plan, plan->n_used);
}

uint32_t buffers_slots_most(const struct buffers_plan *plan, uint32_t blocks_taken)
{
	uint64_t blocks = blocks_taken > BLOCKS_KEPT ? blocks_taken : BLOCKS_KEPT;
	const uint64_t front = front_bytes(plan, plan->n_functions);
	uint64_t each;

	if (blocks > plan->n_blocks)
		blocks = plan->n_blocks;
	each = plan->limit_bytes > front ? (plan->limit_bytes - front) / blocks : 0;
	each = each > plan->block_bytes - plan->pool_offset
		       ? each - (plan->block_bytes - plan->pool_offset)
		       : 0;
	each &= ~(uint64_t)(AGENT_PAGE - 1);
	each = each > AGENT_FUNCTIONS_OFFSET
		       ? (each - AGENT_FUNCTIONS_OFFSET) / plan->function_bytes
		       : 0;
	if (each < plan->n_used)
		return plan->n_used;
	return each < plan->n_functions ? (uint32_t)each : plan->n_functions;
}

void buffers_slots_use(struct buffers_plan *plan, uint8_t *buffers, uint32_t n_used)
{
	struct agent_shared *shared = (struct agent_shared *)(void *)buffers;
	uint32_t blocks = blocks_for(plan, n_used);
	uint64_t taken;

	plan->n_used = n_used;
	if (blocks >= plan->n_blocks_now)
		return;
	__atomic_store_n(&shared->n_blocks, blocks, __ATOMIC_SEQ_CST);
	/* a thread that asked in between has its block */
	taken = __atomic_load_n(&shared->blocks_taken, __ATOMIC_SEQ_CST);
	if (taken > blocks) {
		blocks = taken < plan->n_blocks_now ? (uint32_t)taken : plan->n_blocks_now;
		__atomic_store_n(&shared->n_blocks, blocks, __ATOMIC_SEQ_CST);
	}
	plan->n_blocks_now = blocks;
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
