/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Regions of the program, passed in this process by the agent's own code. */
#include "agent/frames.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define N_NUMBERS 3 /* two regions, a function */
#define STACK     UINT64_C(0x7f0000100000)
#define FAR       (STACK + (UINT64_C(1) << 30))

struct thread {
	struct agent_shared shared;
	struct agent_block *block;
};

static int setup(void **state)
{
	struct thread *thread = calloc(1, sizeof(*thread));
	const size_t pool =
		(AGENT_FUNCTIONS_OFFSET + N_NUMBERS * sizeof(struct agent_function) + 63) & ~63u;
	const size_t size = pool + 64 * sizeof(struct agent_frame);

	thread->shared.n_functions = N_NUMBERS;
	thread->shared.n_passages = 2;
	thread->shared.function_bytes = sizeof(struct agent_function);
	thread->shared.pool_offset = (uint32_t)pool;
	thread->shared.n_frames = 8;
	thread->shared.every = 1;
	thread->block = aligned_alloc(64, size);
	memset(thread->block, 0, size);
	thread->block->lock_at = (uint64_t)(uintptr_t)&thread->block->lock;
	*state = thread;
	return 0;
}

static int teardown(void **state)
{
	struct thread *thread = *state;

	free(thread->block);
	free(thread);
	return 0;
}

static struct agent_passages *passages(struct thread *thread, unsigned int region)
{
	return (struct agent_passages *)(void *)((char *)thread->block + AGENT_FUNCTIONS_OFFSET +
						 region * sizeof(struct agent_passages));
}

static void begin(struct thread *thread, uint64_t sp, unsigned int region)
{
	agent_passage_begin(thread->block, &thread->shared, sp, region);
}

static void end(struct thread *thread, uint64_t sp, unsigned int region)
{
	agent_passage_end(thread->block, &thread->shared, sp, region);
}

static void a_passage_may_end_at_another_depth_of_the_stack(void **state)
{
	struct thread *thread = *state;

	begin(thread, STACK, 0);
	end(thread, STACK - 4096, 0);
	begin(thread, STACK - 4096, 0);
	end(thread, STACK, 0);
	assert_int_equal(passages(thread, 0)->timed, 2);
	assert_int_equal(passages(thread, 0)->open, 0);
	assert_int_equal(passages(thread, 0)->alone, 0);
	assert_int_equal(thread->block->busy, 0);
}

static void the_innermost_beginning_counts_and_ends_count_once(void **state)
{
	struct thread *thread = *state;

	end(thread, STACK, 0);
	begin(thread, STACK, 0);
	begin(thread, STACK - 64, 0);
	end(thread, STACK - 64, 0);
	end(thread, STACK, 0);
	assert_int_equal(passages(thread, 0)->begun, 2);
	assert_int_equal(passages(thread, 0)->restarted, 1);
	assert_int_equal(passages(thread, 0)->timed, 1);
	assert_int_equal(passages(thread, 0)->alone, 2);
}

static void regions_may_overlap(void **state)
{
	struct thread *thread = *state;

	begin(thread, STACK, 0);
	begin(thread, STACK, 1);
	end(thread, STACK, 0);
	end(thread, STACK, 1);
	assert_int_equal(passages(thread, 0)->timed, 1);
	assert_int_equal(passages(thread, 1)->timed, 1);
}

/* What the ends of regions inside cost is in neither the region around nor the function around. */
static void what_ends_cost_is_taken_out_around_them(void **state)
{
	struct thread *thread = *state;
	const uint64_t huge = UINT64_C(1) << 40;

	thread->shared.begin_ticks = huge;
	thread->shared.end_ticks = 2 * huge;
	agent_enter(thread->block, &thread->shared, STACK, 2);
	begin(thread, STACK - 64, 1);
	begin(thread, STACK - 64, 0);
	end(thread, STACK - 64, 0);
	end(thread, STACK - 64, 1);
	assert_int_equal(thread->block->overhead, 6 * huge);
	/* the inner one has none of its own, the outer one is short of the inner one's */
	assert_true((int64_t)passages(thread, 0)->inclusive >= 0);
	assert_true((int64_t)passages(thread, 0)->inclusive < (int64_t)huge);
	assert_true((int64_t)passages(thread, 1)->inclusive < -(int64_t)(2 * huge));
	assert_true((int64_t)passages(thread, 1)->inclusive > -(int64_t)(4 * huge));
}

static void a_passage_across_stacks_is_kept_apart(void **state)
{
	struct thread *thread = *state;

	begin(thread, STACK, 0);
	end(thread, FAR, 0);
	assert_int_equal(passages(thread, 0)->timed, 0);
	assert_int_equal(passages(thread, 0)->interrupted, 1);
}

/* A signal handler came while the agent was at work, and passes both ends. */
static void a_handler_that_interrupts_the_agent_times_nothing(void **state)
{
	struct thread *thread = *state;

	begin(thread, STACK, 0);
	begin(thread, STACK, 1);
	thread->block->busy = STACK - 256;
	begin(thread, STACK - 1024, 0);
	end(thread, STACK - 1024, 1);
	thread->block->busy = 0;
	assert_int_equal(passages(thread, 0)->dropped, 1);
	assert_int_equal(passages(thread, 0)->restarted, 1);
	end(thread, STACK, 0);
	end(thread, STACK, 1);
	assert_int_equal(passages(thread, 0)->timed + passages(thread, 1)->timed, 0);
	assert_int_equal(passages(thread, 0)->alone + passages(thread, 1)->alone, 2);
}

static void a_thread_that_is_gone_ends_nothing(void **state)
{
	struct thread *thread = *state;

	begin(thread, STACK, 0);
	agent_abandon_all(thread->block, &thread->shared);
	end(thread, STACK, 0);
	assert_int_equal(passages(thread, 0)->timed, 0);
	assert_int_equal(passages(thread, 0)->alone, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_passage_may_end_at_another_depth_of_the_stack,
						setup, teardown),
		cmocka_unit_test_setup_teardown(the_innermost_beginning_counts_and_ends_count_once,
						setup, teardown),
		cmocka_unit_test_setup_teardown(regions_may_overlap, setup, teardown),
		cmocka_unit_test_setup_teardown(what_ends_cost_is_taken_out_around_them, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_passage_across_stacks_is_kept_apart, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_handler_that_interrupts_the_agent_times_nothing,
						setup, teardown),
		cmocka_unit_test_setup_teardown(a_thread_that_is_gone_ends_nothing, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
