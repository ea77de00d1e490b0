/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls put together again from records: by hand, and from those that the agent itself writes on random walks. */
#include "probe/replay.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/frames.h"

#define STACK       UINT64_C(0x7f0000100000)
#define N_FUNCTIONS 4u
#define EXIT(n)     ((n) << AGENT_POINT_BITS)

static const struct buffers_plan by_hand = { .n_functions = N_FUNCTIONS, .n_blocks = 1 };

static struct replay replay_new(const struct buffers_plan *plan, uint64_t inner)
{
	struct replay replay;

	assert_int_equal(replay_init(&replay, sys_real(), plan, inner, 1, -1, NULL), STATUS_OK);
	return replay;
}

static void take(struct replay *replay, uint64_t counter, uint64_t sp, uint32_t point)
{
	const struct agent_record record = { counter, sp, point, 0 };

	replay_take(replay, 0, &record);
}

static void a_callee_is_under_its_caller_in_the_tree(void **state)
{
	struct replay replay = replay_new(&by_hand, 2);

	(void)state;
	take(&replay, 100, STACK, 0);
	take(&replay, 110, STACK - 64, 1);
	take(&replay, 132, STACK - 64, 1 | EXIT(3u));
	take(&replay, 152, STACK, 0 | EXIT(1u));
	take(&replay, 200, STACK, 1);
	take(&replay, 205, STACK, 1 | EXIT(3u));
	assert_int_equal(replay.totals[0].inclusive, 50);
	assert_int_equal(replay.totals[0].self, 30);
	assert_int_equal(replay.totals[1].inclusive, 23);
	assert_int_equal(replay.n_nodes, 4); /* root, 0, 0 > 1, 1 */
	assert_int_equal(replay.nodes[2].parent, 1);
	assert_int_equal(replay.nodes[2].inclusive, 20);
	assert_int_equal(replay.nodes[3].parent, 0);
	assert_int_equal(replay.nodes[3].inclusive, 3);
	replay_release(&replay);
}

static void what_a_new_thread_finds_open_was_left(void **state)
{
	struct replay replay = replay_new(&by_hand, 0);
	const struct agent_record born = { 77, 0, AGENT_POINT_THREAD, 0 };

	(void)state;
	take(&replay, 1, STACK, 0);
	take(&replay, 2, STACK - 64, 1);
	replay_take(&replay, 0, &born);
	take(&replay, 3, STACK, 0 | EXIT(1u));
	assert_int_equal(replay.totals[0].abandoned + replay.totals[1].abandoned, 2);
	assert_int_equal(replay.odd_exits, 1);
	replay_release(&replay);
}

static void records_that_mean_nothing_are_passed_over(void **state)
{
	struct replay replay = replay_new(&by_hand, 0);
	const struct agent_record wild[] = { { 1, STACK, 900, 0 },
					     { 1, STACK, 0, AGENT_WHERE_REGION },
					     { 1, 0, AGENT_POINT_LEFT, 95 } };

	(void)state;
	for (size_t i = 0; i < sizeof(wild) / sizeof(*wild); i++)
		replay_take(&replay, 0, &wild[i]);
	replay_take(&replay, 9, &wild[0]); /* of no block */
	assert_int_equal(replay.n_nodes, 1);
	replay_release(&replay);
}

/* A thread that calls, returns, jumps out of several calls and changes stacks, at random. */
struct walk {
	struct buffers_plan plan;
	uint8_t *buffers;
	struct agent_shared *shared;
	struct agent_block *block;
	struct {
		uint64_t sp;
		uint32_t function;
	} open[3][64];
	size_t n_open[3];
	unsigned int stack;
	uint64_t random;
};

static uint32_t draw(struct walk *walk, uint32_t below)
{
	walk->random = walk->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(walk->random >> 33) % below;
}

static void walk_start(struct walk *walk, uint64_t limit_bytes)
{
	memset(walk, 0, sizeof(*walk));
	walk->random = 11;
	buffers_plan_make(&walk->plan, PROBE_TRACE, N_FUNCTIONS, limit_bytes);
	walk->buffers = calloc(1, walk->plan.bytes);
	walk->shared = (struct agent_shared *)(void *)walk->buffers;
	buffers_header_fill(walk->shared, &walk->plan, 1, 0);
	walk->shared->blocks_taken = 1;
	walk->shared->inner_ticks = 5;
	walk->shared->pair_ticks = 9;
	walk->block = (struct agent_block *)(void *)(walk->buffers + walk->plan.blocks_offset);
	walk->block->lock_at = (uint64_t)(uintptr_t)&walk->block->lock;
}

static void walk_step(struct walk *walk)
{
	size_t *n = &walk->n_open[walk->stack];
	const uint64_t base = STACK - ((uint64_t)walk->stack << 24);
	const uint32_t what = draw(walk, 20);

	if (what == 0) {
		walk->stack = draw(walk, 3);
	} else if (what == 1 && *n > 3) {
		*n -= 2; /* longjmp */
	} else if (what < 11 && *n < 60) {
		const uint64_t sp = base - 64 * *n - 8 * draw(walk, 2);
		const uint32_t function = draw(walk, N_FUNCTIONS);

		walk->open[walk->stack][*n].sp = sp;
		walk->open[walk->stack][(*n)++].function = function;
		agent_full_enter(walk->block, walk->shared, sp, function);
	} else if (*n) {
		--*n;
		agent_full_leave(walk->block, walk->shared, walk->open[walk->stack][*n].sp,
				 walk->open[walk->stack][*n].function | EXIT(1 + draw(walk, 3)));
	}
}

static void records_give_the_sums_of_the_agent_itself(void **state)
{
	struct walk walk;
	struct replay replay;
	uint64_t timed = 0, left = 0, interrupted = 0;

	(void)state;
	walk_start(&walk, BUFFERS_DEFAULT_BYTES);
	replay = replay_new(&walk.plan, walk.shared->inner_ticks);
	for (unsigned int i = 0; i < 200000; i++) {
		walk_step(&walk);
		if (i % 3000 == 0)
			replay_drain(&replay, walk.buffers, &walk.plan);
	}
	replay_drain(&replay, walk.buffers, &walk.plan);
	assert_int_equal(walk.block->records_dropped, 0);
	for (uint32_t i = 0; i < N_FUNCTIONS; i++) {
		struct function_sums sums = { 0 };

		buffers_function_sums(walk.buffers, &walk.plan, PROBE_TRACE, i, &sums);
		assert_true(replay_agrees(&replay, i, &sums));
		assert_int_equal(replay.totals[i].calls + sums.dropped, sums.calls);
		timed += sums.timed;
		left += sums.abandoned;
		interrupted += sums.interrupted;
		sums.self++;
		assert_false(replay_agrees(&replay, i, &sums));
	}
	assert_true(timed > 10000 && left > 1000 && interrupted > 100);
	replay_release(&replay);
	free(walk.buffers);
}

static void a_full_ring_drops_whole_calls_and_counts_them(void **state)
{
	struct walk walk;
	struct replay replay;
	uint64_t timed = 0, recorded = 0;

	(void)state;
	walk_start(&walk, 1 << 20);
	replay = replay_new(&walk.plan, walk.shared->inner_ticks);
	for (unsigned int i = 0; i < 50000; i++)
		walk_step(&walk);
	replay_drain(&replay, walk.buffers, &walk.plan);
	assert_true(walk.block->records_dropped > 0);
	assert_true(walk.block->records_head <= walk.plan.n_records);
	for (uint32_t i = 0; i < N_FUNCTIONS; i++) {
		struct function_sums sums = { 0 };

		buffers_function_sums(walk.buffers, &walk.plan, PROBE_TRACE, i, &sums);
		recorded += replay.totals[i].calls + sums.dropped;
		timed += sums.calls;
	}
	/* exits without a frame are dropped by themselves, and are no calls */
	assert_true(recorded < timed && recorded + walk.block->records_dropped >= timed);
	replay_release(&replay);
	free(walk.buffers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_callee_is_under_its_caller_in_the_tree),
		cmocka_unit_test(what_a_new_thread_finds_open_was_left),
		cmocka_unit_test(records_that_mean_nothing_are_passed_over),
		cmocka_unit_test(records_give_the_sums_of_the_agent_itself),
		cmocka_unit_test(a_full_ring_drops_whole_calls_and_counts_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
