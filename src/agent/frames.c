/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/frames.h"

#include <stdbool.h>

static inline uint64_t ticks(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t value;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
	return value;
#endif
}

static inline struct agent_function *function_at(struct agent_block *block,
						 const struct agent_shared *shared, uint64_t index)
{
	return (struct agent_function *)(void *)((char *)block + AGENT_FUNCTIONS_OFFSET +
						 index * shared->function_bytes);
}

static inline struct agent_frame *frame_at(struct agent_block *block,
					   const struct agent_shared *shared, uint32_t index_1)
{
	return (struct agent_frame *)(void *)((char *)block + shared->pool_offset) + (index_1 - 1);
}

/* A plain store that the compiler neither moves nor splits: what a signal handler sees is in order. */
/* Kept out of the functions that are to save few registers. */
#define AGENT_SLOW __attribute__((noinline)) AGENT_SAVES_ALL

/* Adds one for good also when a signal handler comes between, without the cost of a locked instruction: on
 * x86-64 one instruction to memory is whole to its own thread. */
static inline void count(uint64_t *place)
{
#if defined(__aarch64__)
	__atomic_fetch_add(place, 1, __ATOMIC_RELAXED);
#else
	++*place;
#endif
}

#define STORE(place, value) __atomic_store_n(&(place), (value), __ATOMIC_RELAXED)
#define FENCE()             __atomic_signal_fence(__ATOMIC_SEQ_CST)

static void frame_free(struct agent_block *block, struct agent_frame *frame, uint32_t index_1)
{
	frame->below = block->free;
	FENCE();
	STORE(block->free, index_1);
}

static AGENT_SLOW void frame_abandon(struct agent_block *block, const struct agent_shared *shared,
				     struct agent_region *region)
{
	const uint32_t index_1 = region->top;
	struct agent_frame *frame = frame_at(block, shared, index_1);

	STORE(region->top, frame->below);
	FENCE();
	function_at(block, shared, frame->function)->abandoned++;
	frame_free(block, frame, index_1);
}

/* Those whose stack pointer is below `sp`. */
static AGENT_SLOW void frames_abandon(struct agent_block *block, const struct agent_shared *shared,
				      struct agent_region *region, uint64_t sp)
{
	for (uint32_t n = 0; n < AGENT_FRAMES && region->top; n++) {
		if (frame_at(block, shared, region->top)->sp >= sp)
			break;
		frame_abandon(block, shared, region);
	}
}

static uint64_t distance(const struct agent_region *region, uint64_t sp)
{
	if (sp < region->low)
		return region->low - sp;
	return sp - region->low < region->size ? 0 : sp - region->low - region->size + 1;
}

static void region_extend(struct agent_region *region, uint64_t sp)
{
	const uint64_t low = sp - AGENT_REGION_STEP, end = sp + AGENT_REGION_STEP;
	const uint64_t old_end = region->low + region->size;
	const uint64_t new_low = low < region->low ? low : region->low;

	region->size = (end > old_end ? end : old_end) - new_low;
	region->low = new_low;
}

/* One that is free, else the one that was current longest ago; those with open frames last. */
static uint32_t region_victim(const struct agent_block *block)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < AGENT_REGIONS; i++) {
		const struct agent_region *a = &block->regions[i], *b = &block->regions[best];

		if (!a->used && b->used)
			best = i;
		else if (!!a->top < !!b->top || (!a->top == !b->top && a->used < b->used))
			best = i;
	}
	return best;
}

/* Makes the stack that holds `sp` the current one. */
static AGENT_SLOW void region_switch(struct agent_block *block, struct agent_shared *shared,
				     uint64_t sp)
{
	uint32_t best = AGENT_REGIONS;
	uint64_t nearest = AGENT_REGION_SLACK;

	for (uint32_t i = 0; i < AGENT_REGIONS; i++) {
		const uint64_t far = distance(&block->regions[i], sp);

		if (block->regions[i].used && far < nearest) {
			nearest = far;
			best = i;
		}
	}
	if (best == AGENT_REGIONS) {
		best = region_victim(block);
		if (block->regions[best].top)
			block->lost_regions++;
		frames_abandon(block, shared, &block->regions[best], UINT64_MAX);
		block->regions[best].low = sp;
		block->regions[best].size = 1;
	}
	region_extend(&block->regions[best], sp);
	block->regions[best].used = ++block->clock;
	if (best != block->region) {
		block->region = best;
		block->switches++;
	}
	block->low = block->regions[best].low;
	block->size = block->regions[best].size;
	block->top_sp = block->regions[best].top
				? frame_at(block, shared, block->regions[best].top)->sp
				: 0;
}

static inline struct agent_region *region_of(struct agent_block *block, struct agent_shared *shared,
					     uint64_t sp)
{
	if (__builtin_expect(sp - block->low >= block->size, 0))
		region_switch(block, shared, sp);
	return &block->regions[block->region];
}

/* What stubs compare with: the stack pointer of the top frame. */
static inline void top_publish(struct agent_block *block, const struct agent_shared *shared,
			       const struct agent_region *region)
{
	block->top_sp = region->top ? frame_at(block, shared, region->top)->sp : 0;
}

/* Was the agent at work in this thread and left for good? So it was when it stood at or below `sp` on the
 * same stack: the signal handler that interrupted it has left by longjmp. */
static AGENT_SLOW bool agent_was_left(struct agent_block *block, uint64_t sp)
{
	const struct agent_region *region = &block->regions[block->region];

	if (block->busy <= sp && distance(region, sp) == 0 && distance(region, block->busy) == 0)
		return true;
	count(&block->nested);
	return false;
}

/* Takes the agent for this thread; false when a signal handler interrupted it at work. */
static inline bool agent_take(struct agent_block *block, uint64_t sp)
{
	if (__builtin_expect(block->busy != 0, 0) && !agent_was_left(block, sp))
		return false;
	STORE(block->busy, sp);
	FENCE();
	return true;
}

static inline void agent_give(struct agent_block *block)
{
	FENCE();
	STORE(block->busy, 0);
}

/* A gap of 1 .. 2 * every - 1 calls, uniform: its mean is `every`. */
static AGENT_SLOW void countdown_draw(struct agent_block *block, const struct agent_shared *shared)
{
	uint64_t x = block->random;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	block->random = x;
	block->countdown = 1 + (uint64_t)(((unsigned __int128)x * (2 * shared->every - 1)) >> 64);
}

/* The outer call of the same function that is still open on this stack makes this one a nested one. */
static inline uint32_t is_nested(struct agent_block *block, const struct agent_shared *shared,
				 const struct agent_function *function, uint64_t sp, uint64_t index)
{
	const struct agent_frame *outer = frame_at(block, shared, (uint32_t)function->outermost);

	return outer->function == index && outer->sp > sp && outer->sp - block->low < block->size;
}

/* Pushes a frame that is free already; the stack is the current one, and nothing at or below `sp` is open. */
static inline void frame_push(struct agent_block *block, struct agent_shared *shared, uint64_t sp,
			      uint64_t index, struct agent_function *function, uint32_t index_1)
{
	struct agent_region *region = &block->regions[block->region];
	struct agent_frame *frame = frame_at(block, shared, index_1);

	STORE(block->free, frame->below);
	frame->sp = sp;
	frame->child = 0;
	frame->function = (uint32_t)index;
	frame->below = region->top;
	frame->switches = block->switches;
	frame->nested = 0;
	if (function->outermost)
		frame->nested = is_nested(block, shared, function, sp, index);
	if (!frame->nested)
		function->outermost = index_1;
	FENCE();
	STORE(region->top, index_1);
	block->top_sp = sp;
	frame->start = ticks() - block->overhead;
}

/* Whatever the fast path does not do: another stack, frames that were left, none free, the agent at work. */
static AGENT_SLOW void frame_open(struct agent_block *block, struct agent_shared *shared,
				  uint64_t sp, uint64_t index)
{
	struct agent_function *function = function_at(block, shared, index);
	struct agent_region *region;

	if (!agent_take(block, sp)) {
		count(&function->dropped);
		return;
	}
	region = region_of(block, shared, sp);
	if (region->top && frame_at(block, shared, region->top)->sp <= sp)
		frames_abandon(block, shared, region, sp + 1);
	if (!block->free && block->frames_made < shared->n_frames) {
		const uint32_t index_1 = ++block->frames_made;

		frame_at(block, shared, index_1)->below = 0;
		STORE(block->free, index_1);
	}
	if (block->free)
		frame_push(block, shared, sp, index, function, block->free);
	else
		count(&function->dropped);
	agent_give(block);
}

AGENT_SAVES_ALL void agent_enter(struct agent_block *block, struct agent_shared *shared,
				 uint64_t sp, uint64_t index)
{
	struct agent_function *function = function_at(block, shared, index);
	const uint32_t index_1 = block->free;

	count(&function->calls);
	/* top_sp is 0 where nothing is open */
	if (__builtin_expect(block->busy || !index_1 || sp - block->low >= block->size ||
				     (block->top_sp && block->top_sp <= sp),
			     0)) {
		frame_open(block, shared, sp, index);
		return;
	}
	STORE(block->busy, sp);
	FENCE();
	frame_push(block, shared, sp, index, function, index_1);
	agent_give(block);
}

AGENT_SAVES_ALL void agent_sample(struct agent_block *block, struct agent_shared *shared,
				  uint64_t sp, uint64_t index)
{
	countdown_draw(block, shared);
	frame_open(block, shared, sp, index);
}

static inline void frame_close(struct agent_block *block, struct agent_shared *shared,
			       struct agent_region *region, struct agent_function *function,
			       uint64_t now)
{
	const uint32_t index_1 = region->top;
	struct agent_frame *frame = frame_at(block, shared, index_1);
	/* May come out below zero, when this pair cost less than the calibrated one: summed as it is, since
	 * cutting it off would bias the mean. */
	const int64_t spent = (int64_t)(now - block->overhead - frame->start - shared->inner_ticks);
	const uint64_t shown = spent > 0 ? (uint64_t)spent : 0;

	STORE(region->top, frame->below);
	FENCE();
	if (function->outermost == index_1)
		function->outermost = 0;
	if (frame->switches != block->switches) {
		function->interrupted++;
		function->interrupted_ticks += (uint64_t)spent;
	} else {
		const unsigned __int128 square = (unsigned __int128)shown * shown;
		const uint64_t low = (uint64_t)square;

		function->timed++;
		function->self += (uint64_t)spent - frame->child;
		if (!frame->nested)
			function->inclusive += (uint64_t)spent;
		function->squares_low += low;
		function->squares_high += (uint64_t)(square >> 64) + (function->squares_low < low);
		function->buckets[shown ? 64 - __builtin_clzll(shown) : 0]++;
		if (region->top)
			frame_at(block, shared, region->top)->child += (uint64_t)spent;
	}
	frame_free(block, frame, index_1);
	block->overhead += shared->pair_ticks;
}

/* Whatever the fast path does not do. */
static AGENT_SLOW void frame_leave(struct agent_block *block, struct agent_shared *shared,
				   uint64_t sp, uint64_t index, uint64_t now)
{
	struct agent_region *region;

	if (!agent_take(block, sp))
		return;
	region = region_of(block, shared, sp);
	if (region->top && frame_at(block, shared, region->top)->sp < sp)
		frames_abandon(block, shared, region, sp);
	if (region->top && frame_at(block, shared, region->top)->sp == sp &&
	    frame_at(block, shared, region->top)->function == index)
		frame_close(block, shared, region, function_at(block, shared, index), now);
	else if (shared->every == 1 && !shared->cap)
		block->odd_exits++;
	top_publish(block, shared, region);
	agent_give(block);
}

AGENT_SAVES_ALL void agent_leave(struct agent_block *block, struct agent_shared *shared,
				 uint64_t sp, uint64_t index, uint64_t now)
{
	struct agent_region *region = &block->regions[block->region];

	if (__builtin_expect(block->busy || block->top_sp != sp || !region->top ||
				     frame_at(block, shared, region->top)->function != index,
			     0)) {
		frame_leave(block, shared, sp, index, now);
		return;
	}
	STORE(block->busy, sp);
	FENCE();
	frame_close(block, shared, region, function_at(block, shared, index), now);
	top_publish(block, shared, region);
	agent_give(block);
}

AGENT_SAVES_ALL void agent_abandon_all(struct agent_block *block, struct agent_shared *shared)
{
	for (uint32_t i = 0; i < AGENT_REGIONS; i++) {
		frames_abandon(block, shared, &block->regions[i], UINT64_MAX);
		block->regions[i].used = 0;
		block->regions[i].size = 0;
	}
	block->size = 0;
	block->top_sp = 0;
}
