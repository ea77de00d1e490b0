/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What stubs leave to the agent in mode state: a stack of open calls that is always in order. */
#include "agent/state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define N_STATES 4u
#define OFFSET   4096u
#define STACK    UINT64_C(0x7f0000100000)

struct thread {
	struct agent_shared shared;
	struct agent_block *block;
};

static struct agent_state *state_at(const struct thread *thread, uint64_t offset)
{
	return (struct agent_state *)(void *)((char *)thread->block + offset);
}

static int setup(void **state)
{
	struct thread *thread = calloc(1, sizeof(*thread));

	thread->shared.state_offset = OFFSET;
	thread->shared.n_states = N_STATES;
	thread->shared.function_bytes = AGENT_COUNT_BYTES;
	thread->block = calloc(2, OFFSET);
	thread->block->state_top = OFFSET;
	*state_at(thread, OFFSET) = (struct agent_state){ -UINT64_MAX, AGENT_STATE_NONE };
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

static uint64_t current(const struct thread *thread)
{
	return state_at(thread, thread->block->state_top)->function;
}

static void the_innermost_open_call_is_published(void **state)
{
	struct thread *thread = *state;

	agent_state_enter(thread->block, &thread->shared, STACK, 7);
	agent_state_enter(thread->block, &thread->shared, STACK - 64, 8);
	assert_int_equal(current(thread), 8);
	agent_state_leave(thread->block, &thread->shared, STACK - 64, 8);
	assert_int_equal(current(thread), 7);
	agent_state_leave(thread->block, &thread->shared, STACK, 7);
	assert_true(current(thread) == AGENT_STATE_NONE);
}

static void calls_that_were_left_are_dropped_by_the_next_entry_or_exit_above(void **state)
{
	struct thread *thread = *state;

	agent_state_enter(thread->block, &thread->shared, STACK, 1);
	agent_state_enter(thread->block, &thread->shared, STACK - 64, 2);
	agent_state_enter(thread->block, &thread->shared, STACK - 64, 3); /* 2 left by longjmp */
	assert_int_equal(current(thread), 3);
	agent_state_leave(thread->block, &thread->shared, STACK, 1); /* 3 as well */
	assert_true(current(thread) == AGENT_STATE_NONE);
}

static void an_exit_of_a_call_that_is_not_open_changes_nothing(void **state)
{
	struct thread *thread = *state;

	agent_state_leave(thread->block, &thread->shared, STACK, 1);
	assert_true(current(thread) == AGENT_STATE_NONE);
	agent_state_enter(thread->block, &thread->shared, STACK, 1);
	agent_state_leave(thread->block, &thread->shared, STACK - 32, 2);
	assert_int_equal(current(thread), 1);
}

static void calls_beyond_the_last_place_leave_their_caller_published(void **state)
{
	struct thread *thread = *state;

	for (uint64_t i = 0; i < 6; i++)
		agent_state_enter(thread->block, &thread->shared, STACK - 64 * i, i);
	assert_int_equal(current(thread), N_STATES - 2);
	for (uint64_t i = 6; i-- > 0;)
		agent_state_leave(thread->block, &thread->shared, STACK - 64 * i, i);
	assert_true(current(thread) == AGENT_STATE_NONE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_innermost_open_call_is_published),
		TEST(calls_that_were_left_are_dropped_by_the_next_entry_or_exit_above),
		TEST(an_exit_of_a_call_that_is_not_open_changes_nothing),
		TEST(calls_beyond_the_last_place_leave_their_caller_published),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
