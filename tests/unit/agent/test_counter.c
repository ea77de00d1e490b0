/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Events read through a page that the test has written, with a counter of its own: the instructions need a PMU. */
#include "agent/counter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define WIDTH 48u

static struct perf_event_mmap_page *moving; /* its lock changes with the first read */
static uint32_t asked;

static bool fixed_read(uint32_t number, uint64_t *value)
{
	asked = number;
	*value = (UINT64_C(1) << WIDTH) - 10; /* -10 in the counter's width */
	return true;
}

static bool moving_read(uint32_t number, uint64_t *value)
{
	(void)number;
	if (moving->lock == 2) {
		moving->lock = 4;
		moving->offset = 5000;
		*value = 1;
	} else {
		*value = 2;
	}
	return true;
}

static bool never_still_read(uint32_t number, uint64_t *value)
{
	(void)number;
	moving->lock++;
	*value = 0;
	return true;
}

static struct perf_event_mmap_page *page_new(void)
{
	struct perf_event_mmap_page *page = calloc(1, sizeof(*page));

	page->cap_user_rdpmc = 1;
	page->index = 3;
	page->pmc_width = WIDTH;
	page->offset = 1000;
	page->lock = 2;
	page->time_enabled = 70;
	page->time_running = 50;
	return page;
}

static void a_count_is_the_offset_and_the_signed_counter(void **state)
{
	struct perf_event_mmap_page *page = page_new();
	uint64_t value = 0, away = 0;

	(void)state;
	assert_true(counter_event(page, fixed_read, false, &value, &away));
	assert_int_equal(asked, 2); /* index - 1 */
	assert_int_equal(value, 990);
	assert_int_equal(away, 20);
	assert_true(counter_event(page, fixed_read, true, &value, &away));
	assert_int_equal(value, 990);
	free(page);
}

static void an_event_without_a_counter_is_not_read(void **state)
{
	struct perf_event_mmap_page *page = page_new();
	uint64_t value, away;

	(void)state;
	page->index = 0;
	asked = 77;
	assert_false(counter_event(page, fixed_read, false, &value, &away));
	page->index = 3;
	page->cap_user_rdpmc = 0; /* the instruction would fault */
	assert_false(counter_event(page, fixed_read, false, &value, &away));
	assert_int_equal(asked, 77);
	free(page);
}

static void a_switch_in_the_middle_is_read_again(void **state)
{
	uint64_t value = 0, away;

	(void)state;
	moving = page_new();
	assert_true(counter_event(moving, moving_read, false, &value, &away));
	assert_int_equal(value, 5002);
	free(moving);
}

#define LOOK 29u /* what each look takes */

static uint64_t counted;
static uint32_t disturbed; /* looks that are, as bits, the first lowest */

/* The kernel comes in between: the counter goes on elsewhere, and the page says so. */
static bool disturbed_read(uint32_t number, uint64_t *value)
{
	(void)number;
	if (disturbed & 1) {
		moving->lock++;
		moving->offset += 7;
		counted -= 7;
	}
	disturbed >>= 1;
	*value = counted;
	counted += LOOK;
	return true;
}

static void what_reading_again_takes_is_taken_out(void **state)
{
	static const uint32_t patterns[] = { 0, 1, 3, 0x1f, 5, 0x15, 0x2f };

	(void)state;
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
		uint64_t value = 0, away = 0;

		moving = page_new();
		moving->pmc_width = 64;
		counted = 100;
		disturbed = patterns[i];
		assert_true(
			counter_event_undisturbed(moving, disturbed_read, false, &value, &away));
		assert_int_equal(value, 1100);
		assert_int_equal(away, 20);
		assert_int_equal(disturbed, 0);
		free(moving);
	}
}

static void a_page_that_never_stands_still_is_given_up(void **state)
{
	uint64_t value, away;

	(void)state;
	moving = page_new();
	assert_false(counter_event(moving, never_still_read, false, &value, &away));
	assert_false(counter_event_undisturbed(moving, never_still_read, false, &value, &away));
	free(moving);
}

static void the_clock_goes_on(void **state)
{
	const uint64_t first = counter_ticks();

	(void)state;
	assert_true(counter_ticks_ordered() - first < UINT64_MAX / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_count_is_the_offset_and_the_signed_counter),
		cmocka_unit_test(an_event_without_a_counter_is_not_read),
		cmocka_unit_test(a_switch_in_the_middle_is_read_again),
		cmocka_unit_test(what_reading_again_takes_is_taken_out),
		cmocka_unit_test(a_page_that_never_stands_still_is_given_up),
		cmocka_unit_test(the_clock_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
