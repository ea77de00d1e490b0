/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "profile/filter.h"
#include "support/test.h"

#define S 1000000000ull

static void a_time_interval_is_seconds_with_both_ends_inside(void **state)
{
	struct filter filter;

	(void)state;
	filter_init(&filter);
	assert_int_equal(filter_time(&filter, "1.5,2.25", NULL), STATUS_OK);
	filter_resolve(&filter, 0, 100 * S);
	assert_false(filter_takes_time(&filter, 1499999999));
	assert_true(filter_takes_time(&filter, 1500000000));
	assert_true(filter_takes_time(&filter, 2250000000));
	assert_false(filter_takes_time(&filter, 2250000001));
	assert_false(filter_needs_range(&filter));
	filter_release(&filter);
}

static void either_end_of_a_time_interval_may_be_left_out(void **state)
{
	struct filter from, until;

	(void)state;
	filter_init(&from);
	filter_init(&until);
	assert_int_equal(filter_time(&from, "3,", NULL), STATUS_OK);
	assert_int_equal(filter_time(&until, ",3", NULL), STATUS_OK);
	assert_true(filter_takes_time(&from, UINT64_MAX));
	assert_false(filter_takes_time(&from, 3 * S - 1));
	assert_true(filter_takes_time(&until, 0));
	assert_false(filter_takes_time(&until, 3 * S + 1));
	filter_release(&from);
	filter_release(&until);
}

static void a_percentage_is_of_the_recording(void **state)
{
	struct filter filter;

	(void)state;
	filter_init(&filter);
	assert_int_equal(filter_time(&filter, "10%-20%,90%-100%", NULL), STATUS_OK);
	assert_true(filter_needs_range(&filter));
	filter_resolve(&filter, 1000, 2000);
	assert_false(filter_takes_time(&filter, 1099));
	assert_true(filter_takes_time(&filter, 1100));
	assert_true(filter_takes_time(&filter, 1200));
	assert_false(filter_takes_time(&filter, 1201));
	assert_true(filter_takes_time(&filter, 2000));
	filter_release(&filter);
}

static void a_part_of_a_percentage_counts_from_one(void **state)
{
	struct filter filter;

	(void)state;
	filter_init(&filter);
	assert_int_equal(filter_time(&filter, "10%/2", NULL), STATUS_OK);
	filter_resolve(&filter, 0, 1000);
	assert_false(filter_takes_time(&filter, 99));
	assert_true(filter_takes_time(&filter, 150));
	assert_false(filter_takes_time(&filter, 201));
	filter_release(&filter);
}

static void a_plus_counts_from_the_first_sample(void **state)
{
	struct filter filter;

	(void)state;
	filter_init(&filter);
	assert_int_equal(filter_time(&filter, "+1,+2", NULL), STATUS_OK);
	filter_resolve(&filter, 50 * S, 90 * S);
	assert_false(filter_takes_time(&filter, 50 * S));
	assert_true(filter_takes_time(&filter, 51 * S));
	assert_false(filter_takes_time(&filter, 53 * S));
	filter_release(&filter);
}

static void nonsense_is_refused_with_the_word_in_the_message(void **state)
{
	static const char *const times[] = { "",      ",",     "x,1",       "2,1",
					     "1",     "1,2,3", "110%-120%", "20%-10%",
					     "10%/0", "0%/1",  "50%/9",     "1e99,",
					     "+1,2",  "nan,1", "-1,2",      "1, 2x" };
	static const char *const cpus[] = { "", "a", "3-1", "1,", "70000", "1-", "-1" };

	(void)state;
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		struct filter filter;
		struct error error = { 0 };

		filter_init(&filter);
		assert_int_equal(filter_time(&filter, times[i], &error), STATUS_USAGE);
		assert_non_null(strstr(error.text, times[i]));
		filter_release(&filter);
	}
	for (size_t i = 0; i < sizeof(cpus) / sizeof(cpus[0]); i++) {
		struct filter filter;
		struct error error = { 0 };

		filter_init(&filter);
		assert_int_equal(filter_cpus(&filter, cpus[i], &error), STATUS_USAGE);
		assert_non_null(strstr(error.text, cpus[i]));
		filter_release(&filter);
	}
}

static void cpus_are_ranges_and_lists(void **state)
{
	struct filter filter;

	(void)state;
	filter_init(&filter);
	assert_true(filter_takes_cpu(&filter, 5));
	assert_int_equal(filter_cpus(&filter, "0-2,7", NULL), STATUS_OK);
	assert_true(filter_takes_cpu(&filter, 0) && filter_takes_cpu(&filter, 2) &&
		    filter_takes_cpu(&filter, 7));
	assert_false(filter_takes_cpu(&filter, 3));
	assert_false(filter_takes_cpu(&filter, UINT32_MAX)); /* a sample without a CPU */
	filter_release(&filter);
}

static void pid_and_tid_and_comm_must_all_agree(void **state)
{
	struct filter filter;

	(void)state;
	filter_init(&filter);
	assert_true(filter_is_empty(&filter));
	assert_int_equal(filter_pids(&filter, "1,2", NULL), STATUS_OK);
	assert_int_equal(filter_tids(&filter, "10", NULL), STATUS_OK);
	assert_int_equal(filter_comms(&filter, "a b,c", NULL), STATUS_OK);
	assert_false(filter_is_empty(&filter));
	assert_true(filter_takes_task(&filter, 2, 10));
	assert_false(filter_takes_task(&filter, 3, 10));
	assert_false(filter_takes_task(&filter, 2, 11));
	assert_true(filter_takes_comm(&filter, "a b"));
	assert_true(filter_takes_comm(&filter, "c"));
	assert_false(filter_takes_comm(&filter, "a"));
	filter_release(&filter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_time_interval_is_seconds_with_both_ends_inside),
		cmocka_unit_test(either_end_of_a_time_interval_may_be_left_out),
		cmocka_unit_test(a_percentage_is_of_the_recording),
		cmocka_unit_test(a_part_of_a_percentage_counts_from_one),
		cmocka_unit_test(a_plus_counts_from_the_first_sample),
		cmocka_unit_test(nonsense_is_refused_with_the_word_in_the_message),
		cmocka_unit_test(cpus_are_ranges_and_lists),
		cmocka_unit_test(pid_and_tid_and_comm_must_all_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
