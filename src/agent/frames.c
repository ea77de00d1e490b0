/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/frames.h"

#include <stdbool.h>
#include <stddef.h>

#include "agent/frames_read.h"
#include "agent/records.h"

/* Compiled twice: for the bare clock, and (frames_full.c) for events, ordered reads and traces. */
#ifdef AGENT_FULL
#define agent_enter  agent_full_enter
#define agent_sample agent_full_sample
#endif

/* Stubs of the full kind say which exit it is as well. */
static inline uint32_t index_of(uint64_t point)
{
	return (uint32_t)point & (FULL ? (1u << AGENT_POINT_BITS) - 1 : UINT32_MAX);
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
	if (frame->flags & AGENT_FRAME_RECORDED)
		block->records_open--;
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
		if (FULL && shared->n_records)
			record_single(block, shared, 0, 0, AGENT_POINT_LEFT, best);
		block->regions[best].low = sp;
		block->regions[best].size = 1;
	}
	region_extend(&block->regions[best], sp);
	block->regions[best].used = ++block->clock;
	block->elsewhere = 0;
	for (uint32_t i = 0; i < AGENT_REGIONS; i++)
		block->elsewhere |= i != best && block->regions[i].top;
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

/* The entry's record, all but its counter, where there is room for the exit's as well. */
static inline void record_entry(struct agent_block *block, const struct agent_shared *shared,
				struct agent_frame *frame, uint64_t point)
{
	struct agent_record *record;

	if (!FULL || !shared->n_records)
		return;
	if (records_free(block, shared) < 2) {
		block->records_dropped++;
		return;
	}
	record = record_next(block, shared);
	record->sp = frame->sp;
	record->point = (uint32_t)point;
	record->where = record_where(block, frame->flags);
	frame->flags |= AGENT_FRAME_RECORDED;
}

/* The call begins: its record is whole. */
static inline void record_begin(struct agent_block *block, const struct agent_shared *shared,
				const struct agent_frame *frame)
{
	if (!FULL || !(frame->flags & AGENT_FRAME_RECORDED))
		return;
	record_next(block, shared)->counter = frame->start;
	record_commit(block);
	block->records_open++;
}

/* Pushes a frame that is free already; the stack is the current one, and nothing at or below `sp` is open. */
static inline struct agent_frame *frame_push(struct agent_block *block, struct agent_shared *shared,
					     uint64_t sp, uint64_t point,
					     struct agent_function *function, uint32_t index_1)
{
	struct agent_region *region = &block->regions[block->region];
	struct agent_frame *frame = frame_at(block, shared, index_1);
	const uint32_t index = index_of(point);

	STORE(block->free, frame->below);
	frame->sp = sp;
	frame->child = 0;
	frame->function = index;
	frame->below = region->top;
	frame->switches = (uint32_t)block->switches;
	frame->flags = 0;
	if (function->outermost)
		frame->flags = is_nested(block, shared, function, sp, index);
	if (!frame->flags)
		function->outermost = index_1;
	FENCE();
	STORE(region->top, index_1);
	block->top_sp = sp;
	record_entry(block, shared, frame, point);
	return frame;
}

/* The call begins. Whatever way was taken, the same instructions follow the reading: what they count is calibrated. */
static inline void frame_begin(struct agent_block *block, struct agent_shared *shared,
			       struct agent_frame *frame, const struct reading *first)
{
	const struct reading now = counter_read(block, shared);

	if (by_event(shared)) {
		/* what it counted in here, whatever way was taken, is no call's */
		block->overhead += now.good && first->good ? now.value - first->value : 0;
		frame->away = now.away;
		frame->flags |= now.good ? 0 : AGENT_FRAME_UNREAD;
	}
	frame->start = now.value - block->overhead;
	block->last = now.value;
	record_begin(block, shared, frame);
}

/* Whatever the fast path does not do: another stack, frames that were left, none free, the agent at work. The frame that
 * is to begin, with the agent taken, or NULL and the agent as it was. */
static AGENT_SLOW struct agent_frame *
frame_open(struct agent_block *block, struct agent_shared *shared, uint64_t sp, uint64_t point)
{
	struct agent_function *function = function_at(block, shared, index_of(point));
	struct agent_region *region;

	if (!agent_take(block, sp)) {
		count(&function->dropped);
		return NULL;
	}
	away_take(block, shared);
	region = region_of(block, shared, sp);
	if (region->top && frame_at(block, shared, region->top)->sp <= sp)
		frames_abandon(block, shared, region, sp + 1);
	if (!block->free && block->frames_made < shared->n_frames) {
		const uint32_t index_1 = ++block->frames_made;

		frame_at(block, shared, index_1)->below = 0;
		STORE(block->free, index_1);
	}
	if (block->free)
		return frame_push(block, shared, sp, point, function, block->free);
	count(&function->dropped);
	agent_give(block);
	return NULL;
}

AGENT_SAVES_ALL void agent_enter(struct agent_block *block, struct agent_shared *shared,
				 uint64_t sp, uint64_t point)
{
	const struct reading first = first_read(block, shared);
	struct agent_function *function = function_at(block, shared, index_of(point));
	const uint32_t index_1 = block->free;
	struct agent_frame *frame;

	count(&function->calls);
	/* top_sp is 0 where nothing is open */
	if (__builtin_expect(block->busy || !index_1 || sp - block->low >= block->size ||
				     (block->top_sp && block->top_sp <= sp),
			     0)) {
		frame = frame_open(block, shared, sp, point);
		if (!frame)
			return;
	} else {
		STORE(block->busy, sp);
		FENCE();
		away_take(block, shared);
		frame = frame_push(block, shared, sp, point, function, index_1);
	}
	frame_begin(block, shared, frame, &first);
	agent_give(block);
}

AGENT_SAVES_ALL void agent_sample(struct agent_block *block, struct agent_shared *shared,
				  uint64_t sp, uint64_t point)
{
	const struct reading first = first_read(block, shared);
	struct agent_frame *frame;

	countdown_draw(block, shared);
	frame = frame_open(block, shared, sp, point);
	if (!frame)
		return;
	frame_begin(block, shared, frame, &first);
	agent_give(block);
}

/* A call that took `spent` by the counter, its own callees' included. */
static inline void call_sum(struct agent_function *function, const struct agent_frame *frame,
			    int64_t spent)
{
	/* May come out below zero, when this pair cost less than the calibrated one: summed as it is, since
	 * cutting it off would bias the mean. */
	const uint64_t shown = spent > 0 ? (uint64_t)spent : 0;
	const unsigned __int128 square = (unsigned __int128)shown * shown;
	const uint64_t low = (uint64_t)square;

	function->timed++;
	function->self += (uint64_t)spent - frame->child;
	if (!(frame->flags & AGENT_FRAME_NESTED))
		function->inclusive += (uint64_t)spent;
	function->squares_low += low;
	function->squares_high += (uint64_t)(square >> 64) + (function->squares_low < low);
	function->buckets[shown ? 64 - __builtin_clzll(shown) : 0]++;
}

/* The event was on a counter all the time that the thread ran since the call began. Notes how long it was. */
static inline bool was_counted(struct agent_block *block, const struct agent_shared *shared,
			       const struct agent_frame *frame, const struct reading *now)
{
	const struct perf_event_mmap_page *page = (const void *)block->page;

	if (!by_event(shared))
		return true;
	if (!block->page)
		return false;
	block->enabled_ns = page->time_enabled;
	block->running_ns = page->time_running;
	return now->good && !(frame->flags & AGENT_FRAME_UNREAD) && frame->away == now->away;
}

static inline void record_exit(struct agent_block *block, const struct agent_shared *shared,
			       const struct agent_frame *frame, uint64_t point, uint64_t counter,
			       bool counted)
{
	if (!FULL || !(frame->flags & AGENT_FRAME_RECORDED))
		return;
	*record_next(block, shared) =
		(struct agent_record){ counter, frame->sp, (uint32_t)point,
				       record_where(block, frame->flags) |
					       (counted ? 0 : AGENT_WHERE_UNREAD) };
	record_commit(block);
	block->records_open--;
}

static inline __attribute__((always_inline)) void
frame_close(struct agent_block *block, struct agent_shared *shared, struct agent_region *region,
	    uint64_t point, const struct reading *now)
{
	struct agent_function *function = function_at(block, shared, index_of(point));
	const uint32_t index_1 = region->top;
	struct agent_frame *frame = frame_at(block, shared, index_1);
	const int64_t spent =
		(int64_t)(now->value - block->overhead - frame->start - shared->inner_ticks);
	bool counted;

	block->last = now->value;
	STORE(region->top, frame->below);
	FENCE();
	if (function->outermost == index_1)
		function->outermost = 0;
	counted = was_counted(block, shared, frame, now);
	record_exit(block, shared, frame, point, now->value - block->overhead, counted);
	if (!counted) {
		function->unread++;
	} else if (frame->switches != (uint32_t)block->switches) {
		function->interrupted++;
		function->interrupted_ticks += (uint64_t)spent;
	} else {
		call_sum(function, frame, spent);
		if (region->top)
			frame_at(block, shared, region->top)->child += (uint64_t)spent;
	}
	frame_free(block, frame, index_1);
	block->overhead += shared->pair_ticks;
}

/* By an event: what was counted in here since `now` is no call's. */
static inline void last_read(struct agent_block *block, const struct agent_shared *shared,
			     const struct reading *now)
{
	struct reading last;

	if (!by_event(shared))
		return;
	last = counter_read(block, shared);
	block->overhead += last.good && now->good ? last.value - now->value : 0;
}

/* Whatever the fast path does not do; true when the agent was taken and is still. */
static AGENT_SLOW bool frame_leave(struct agent_block *block, struct agent_shared *shared,
				   uint64_t sp, uint64_t point, const struct reading *now)
{
	struct agent_region *region;
	uint64_t cost;

	if (!agent_take(block, sp))
		return false;
	cost = away_cost(block, shared, now);
	region = region_of(block, shared, sp);
	if (region->top && frame_at(block, shared, region->top)->sp < sp)
		frames_abandon(block, shared, region, sp);
	if (region->top && frame_at(block, shared, region->top)->sp == sp &&
	    frame_at(block, shared, region->top)->function == index_of(point)) {
		frame_close(block, shared, region, point, now);
	} else {
		if (shared->every == 1 && !shared->cap)
			block->odd_exits++;
		if (FULL && shared->n_records)
			record_single(block, shared, now->value - block->overhead, sp,
				      (uint32_t)point, record_where(block, 0));
	}
	block->overhead += cost;
	top_publish(block, shared, region);
	return true;
}

/* The exit at which the counter stood at `now`. */
static inline __attribute__((always_inline)) void leave(struct agent_block *block,
							struct agent_shared *shared, uint64_t sp,
							uint64_t point, const struct reading *now)
{
	struct agent_region *region = &block->regions[block->region];
	uint64_t cost;

	if (__builtin_expect(block->busy || block->top_sp != sp || !region->top ||
				     frame_at(block, shared, region->top)->function !=
					     index_of(point),
			     0)) {
		if (!frame_leave(block, shared, sp, point, now))
			return;
	} else {
		STORE(block->busy, sp);
		FENCE();
		cost = away_cost(block, shared, now);
		frame_close(block, shared, region, point, now);
		block->overhead += cost;
		top_publish(block, shared, region);
	}
	last_read(block, shared, now);
	agent_give(block);
}

#include "agent/passages.h"

#ifdef AGENT_FULL

AGENT_SAVES_ALL void agent_full_leave(struct agent_block *block, struct agent_shared *shared,
				      uint64_t sp, uint64_t point)
{
	const struct reading now = undisturbed_read(block, shared);

	leave(block, shared, sp, point, &now);
}

#else

AGENT_SAVES_ALL void agent_leave(struct agent_block *block, struct agent_shared *shared,
				 uint64_t sp, uint64_t index, uint64_t now)
{
	const struct reading reading = { .value = now, .good = true };

	leave(block, shared, sp, index, &reading);
}

AGENT_SAVES_ALL void agent_abandon_all(struct agent_block *block, struct agent_shared *shared)
{
	for (uint32_t i = 0; i < AGENT_REGIONS; i++) {
		frames_abandon(block, shared, &block->regions[i], UINT64_MAX);
		block->regions[i].used = 0;
		block->regions[i].size = 0;
	}
	passages_abandon(block, shared);
	block->size = 0;
	block->top_sp = 0;
	block->elsewhere = 0;
	block->records_open = 0;
}

#endif
