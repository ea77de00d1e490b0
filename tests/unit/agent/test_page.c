/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How long a thread was off the CPU, from its CPU time and the clock. */
#include "agent/page.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define TICKS_PER_NS 2

static const struct agent_shared shared = { .ticks_per_ns = (uint64_t)TICKS_PER_NS << 32 };

/* Looked at last when the clock stood at 1000 and the thread had 100 ns of CPU time; last hit at 5000. */
static struct agent_block block_new(void)
{
	return (struct agent_block){ .cpu_ticks = 1000, .cpu_ns = 100, .last = 5000 };
}

static void what_the_clock_has_and_the_cpu_time_has_not_was_spent_elsewhere(void **state)
{
	struct agent_block block = block_new();

	(void)state;
	/* 9000 ticks on, of which 3000 ns = 6000 ticks on the CPU */
	assert_int_equal(agent_page_off(&block, &shared, 10000, 3100, 10000), 3000);
	block.last = 10000;
	/* the next look reckons from this one */
	assert_int_equal(agent_page_off(&block, &shared, 12000, 3600, 12000), 1000);
}

static void no_more_than_passed_since_the_last_hit(void **state)
{
	struct agent_block block = block_new();

	(void)state;
	block.last = 9900;
	assert_int_equal(agent_page_off(&block, &shared, 10000, 3100, 10000), 100);
}

static void a_cpu_clock_that_is_ahead_takes_nothing_out(void **state)
{
	struct agent_block block = block_new();

	(void)state;
	assert_int_equal(agent_page_off(&block, &shared, 10000, 5000, 10000), 0);
}

static void without_a_page_the_word_never_changes(void **state)
{
	struct agent_shared with_page = shared;
	struct agent_block block = { .lock = 7 };

	(void)state;
	with_page.page_bytes = 4096;
	agent_page_open(&block, &with_page, true); /* may make no call */
	assert_int_equal(block.page, 0);
	assert_int_equal(*(const uint32_t *)(uintptr_t)block.lock_at, block.lock);
	agent_page_open(&block, &with_page, false); /* and here none succeeds */
	assert_int_equal(block.page, 0);
	assert_int_not_equal(block.page_errno, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_clock_has_and_the_cpu_time_has_not_was_spent_elsewhere),
		cmocka_unit_test(no_more_than_passed_since_the_last_hit),
		cmocka_unit_test(a_cpu_clock_that_is_ahead_takes_nothing_out),
		cmocka_unit_test(without_a_page_the_word_never_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
