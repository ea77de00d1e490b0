/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls opened and closed by the agent's own code, in this process: the counter is real, matching is not. */
#include "agent/frames.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <linux/perf_event.h>

#define N_FUNCTIONS 3
#define STACK       UINT64_C(0x7f0000100000)

struct thread {
	struct agent_shared shared;
	struct agent_block *block;
};

static int setup(void **state)
{
	struct thread *thread = calloc(1, sizeof(*thread));

	thread->shared.n_functions = N_FUNCTIONS;
	thread->shared.function_bytes = sizeof(struct agent_function);
	thread->shared.pool_offset = (uint32_t)(AGENT_FUNCTIONS_OFFSET +
						N_FUNCTIONS * sizeof(struct agent_function) + 63) &
				     ~63u;
	thread->shared.n_frames = 8;
	thread->shared.every = 1;
	thread->block =
		aligned_alloc(64, thread->shared.pool_offset + 64 * sizeof(struct agent_frame));
	memset(thread->block, 0, thread->shared.pool_offset + 64 * sizeof(struct agent_frame));
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

static struct agent_function *function(struct thread *thread, unsigned int index)
{
	return (struct agent_function *)(void *)((char *)thread->block + AGENT_FUNCTIONS_OFFSET +
						 index * sizeof(struct agent_function));
}

static void enter(struct thread *thread, uint64_t sp, unsigned int index)
{
	agent_enter(thread->block, &thread->shared, sp, index);
}

static uint64_t counter(void)
{
#ifdef __x86_64__
	return __builtin_ia32_rdtsc();
#else
	uint64_t value;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
	return value;
#endif
}

static void leave(struct thread *thread, uint64_t sp, unsigned int index)
{
	agent_leave(thread->block, &thread->shared, sp, index, counter());
}

static void a_call_that_returns_is_timed_once(void **state)
{
	struct thread *thread = *state;

	enter(thread, STACK, 0);
	leave(thread, STACK, 0);
	assert_int_equal(function(thread, 0)->calls, 1);
	assert_int_equal(function(thread, 0)->timed, 1);
	assert_int_equal(function(thread, 0)->abandoned, 0);
	assert_int_equal(thread->block->top_sp, 0);
}

static void a_callee_is_part_of_inclusive_but_not_of_self(void **state)
{
	struct thread *thread = *state;

	enter(thread, STACK, 0);
	enter(thread, STACK - 64, 1);
	leave(thread, STACK - 64, 1);
	leave(thread, STACK, 0);
	assert_int_equal(function(thread, 0)->inclusive,
			 function(thread, 0)->self + function(thread, 1)->inclusive);
}

static void frames_below_an_exit_are_abandoned(void **state)
{
	struct thread *thread = *state;

	enter(thread, STACK, 0);
	enter(thread, STACK - 64, 1);
	enter(thread, STACK - 128, 2); /* longjmp to 0 */
	leave(thread, STACK, 0);
	assert_int_equal(function(thread, 0)->timed, 1);
	assert_int_equal(function(thread, 1)->abandoned, 1);
	assert_int_equal(function(thread, 2)->abandoned, 1);
}

static void an_open_frame_at_the_same_stack_pointer_was_left_by_longjmp(void **state)
{
	struct thread *thread = *state;

	enter(thread, STACK, 0);
	enter(thread, STACK - 64, 1);
	enter(thread, STACK - 64, 1);
	assert_int_equal(function(thread, 1)->calls, 2);
	assert_int_equal(function(thread, 1)->abandoned, 1);
	leave(thread, STACK - 64, 1);
	assert_int_equal(function(thread, 1)->timed, 1);
}

static void a_tail_call_closes_one_frame_and_opens_another(void **state)
{
	struct thread *thread = *state;

	enter(thread, STACK, 0);
	for (int i = 0; i < 1000; i++) {
		leave(thread, STACK, (unsigned int)(i & 1));
		enter(thread, STACK, (unsigned int)(~i & 1));
	}
	leave(thread, STACK, 0);
	assert_int_equal(function(thread, 0)->timed + function(thread, 1)->timed, 1001);
	assert_int_equal(function(thread, 0)->abandoned + function(thread, 1)->abandoned, 0);
	assert_int_equal(thread->block->odd_exits, 0);
}

static void an_exit_that_matches_no_frame_closes_none(void **state)
{
	struct thread *thread = *state;

	enter(thread, STACK, 0);
	leave(thread, STACK - 32, 0); /* a return that is none: deeper than the entry */
	leave(thread, STACK, 1);      /* of another function */
	assert_int_equal(thread->block->odd_exits, 2);
	leave(thread, STACK, 0);
	assert_int_equal(function(thread, 0)->timed, 1);
}

static void recursion_counts_inclusive_time_of_the_outermost_call_only(void **state)
{
	struct thread *thread = *state;
	uint64_t inner;

	enter(thread, STACK, 0);
	enter(thread, STACK - 64, 0);
	leave(thread, STACK - 64, 0);
	assert_int_equal(function(thread, 0)->inclusive, 0);
	inner = function(thread, 0)->self;
	leave(thread, STACK, 0);
	assert_int_equal(function(thread, 0)->timed, 2);
	assert_true(function(thread, 0)->inclusive >= inner);
	assert_int_equal(function(thread, 0)->inclusive, function(thread, 0)->self);
}

static void frames_of_another_stack_are_left_alone(void **state)
{
	struct thread *thread = *state;
	const uint64_t other = STACK - (1u << 20);

	enter(thread, STACK, 0);
	enter(thread, other, 1); /* a coroutine further down */
	leave(thread, STACK, 0); /* the first stack goes on, higher up */
	enter(thread, STACK, 0);
	leave(thread, other, 1); /* back to the coroutine */
	assert_int_equal(function(thread, 0)->abandoned, 0);
	assert_int_equal(function(thread, 1)->abandoned, 0);
	assert_int_equal(function(thread, 0)->interrupted, 1);
	assert_int_equal(function(thread, 1)->interrupted, 1);
}

static void calls_beyond_the_pool_are_counted_and_dropped(void **state)
{
	struct thread *thread = *state;

	for (unsigned int i = 0; i < 12; i++)
		enter(thread, STACK - 64 * i, 0);
	assert_int_equal(function(thread, 0)->calls, 12);
	assert_int_equal(function(thread, 0)->dropped, 4);
	for (unsigned int i = 12; i-- > 0;)
		leave(thread, STACK - 64 * i, 0);
	assert_int_equal(function(thread, 0)->timed, 8);
	assert_int_equal(function(thread, 0)->abandoned, 0);
}

static void a_signal_handler_that_interrupts_the_agent_only_counts(void **state)
{
	struct thread *thread = *state;

	enter(thread, STACK, 0);
	thread->block->busy = STACK - 64;
	enter(thread, STACK - 512, 1);
	leave(thread, STACK - 512, 1);
	assert_int_equal(function(thread, 1)->calls, 1);
	assert_int_equal(function(thread, 1)->dropped, 1);
	/* it left by siglongjmp: higher up on the same stack, what was at work is gone */
	enter(thread, STACK - 32, 2);
	leave(thread, STACK - 32, 2);
	assert_int_equal(function(thread, 2)->timed, 1);
}

static void the_cost_of_pairs_is_taken_out_of_the_enclosing_call(void **state)
{
	struct thread *thread = *state;

	thread->shared.pair_ticks = 1000000000000; /* more than can pass in this test */
	enter(thread, STACK, 0);
	enter(thread, STACK - 64, 1);
	leave(thread, STACK - 64, 1);
	leave(thread, STACK, 0);
	assert_true((int64_t)function(thread, 0)->inclusive < -900000000000);
	assert_int_equal(function(thread, 0)->buckets[0], 1);
}

static void the_full_code_measures_alike(void **state)
{
	struct thread *thread = *state;

	thread->shared.counter = AGENT_ORDERED;
	agent_full_enter(thread->block, &thread->shared, STACK, 0);
	agent_full_enter(thread->block, &thread->shared, STACK - 64, 1);
	agent_full_leave(thread->block, &thread->shared, STACK - 64, 1);
	agent_full_leave(thread->block, &thread->shared, STACK, 0);
	assert_int_equal(function(thread, 0)->timed, 1);
	assert_int_equal(function(thread, 0)->inclusive,
			 function(thread, 0)->self + function(thread, 1)->inclusive);
}

static void an_event_that_is_on_no_counter_leaves_calls_unread(void **state)
{
	struct thread *thread = *state;
	struct perf_event_mmap_page *page = calloc(1, sizeof(*page));

	page->cap_user_rdpmc = 1; /* index 0: others have the counters */
	page->time_enabled = 30;
	page->time_running = 10;
	thread->shared.counter = AGENT_EVENT;
	thread->block->page = (uint64_t)(uintptr_t)page;
	agent_full_enter(thread->block, &thread->shared, STACK, 0);
	agent_full_leave(thread->block, &thread->shared, STACK, 0);
	assert_int_equal(function(thread, 0)->calls, 1);
	assert_int_equal(function(thread, 0)->timed, 0);
	assert_int_equal(function(thread, 0)->unread, 1);
	assert_int_equal(thread->block->enabled_ns, 30);
	assert_int_equal(thread->block->running_ns, 10);
	free(page);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_call_that_returns_is_timed_once),
		TEST(a_callee_is_part_of_inclusive_but_not_of_self),
		TEST(frames_below_an_exit_are_abandoned),
		TEST(an_open_frame_at_the_same_stack_pointer_was_left_by_longjmp),
		TEST(a_tail_call_closes_one_frame_and_opens_another),
		TEST(an_exit_that_matches_no_frame_closes_none),
		TEST(recursion_counts_inclusive_time_of_the_outermost_call_only),
		TEST(frames_of_another_stack_are_left_alone),
		TEST(calls_beyond_the_pool_are_counted_and_dropped),
		TEST(a_signal_handler_that_interrupts_the_agent_only_counts),
		TEST(the_full_code_measures_alike),
		TEST(an_event_that_is_on_no_counter_leaves_calls_unread),
		TEST(the_cost_of_pairs_is_taken_out_of_the_enclosing_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
