/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/test.h"

#include <math.h>

#include "diagnose/intervals.h"

static void add(struct intervals_clock *clock, struct intervals_last *last, uint64_t time_ns,
		uint64_t reading, uint64_t period)
{
	assert_int_equal(intervals_add(clock, last, time_ns, reading, period, NULL), STATUS_OK);
}

static void an_interval_is_the_difference_of_counts_within_one_draw(void **state)
{
	struct intervals_clock clock = { .unit_is_ns = true };
	struct intervals_last last = { 0 };

	(void)state;
	add(&clock, &last, 1000, 500, 200);
	add(&clock, &last, 1900, 702, 200);  /* 202 by count, whatever time says */
	add(&clock, &last, 2000, 1000, 300); /* redrawn: cut short, proves nothing */
	add(&clock, &last, 2300, 1300, 300);
	assert_int_equal(clock.samples, 4);
	assert_int_equal(clock.redrawn, 1);
	assert_int_equal(clock.n, 2);
	assert_true(clock.realised.mean == (202 + 300) / 2.0);
	assert_true(clock.intended.mean == (200 + 300) / 2.0);
	assert_false(clock.by_time);
	assert_true(intervals_faithful(&clock, 0.01) == 1);
	assert_true(intervals_faithful(&clock, 0.001) == 0.5);
	intervals_release(&clock);
}

static void a_clock_drawn_anew_with_each_sample_keeps_all_intervals(void **state)
{
	struct intervals_clock clock = { .every_sample = true };
	struct intervals_last last = { 0 };

	(void)state;
	for (uint64_t i = 1, count = 0; i < 20; i++)
		add(&clock, &last, i, count += 100 + i, 100 + i);
	assert_int_equal(clock.n, 18);
	assert_true(intervals_faithful(&clock, 1e-9) == 1);
	intervals_release(&clock);
}

static void changes_that_the_kernel_makes_are_retunes(void **state)
{
	struct intervals_clock clock = { .steered = true };
	struct intervals_last last = { 0 };

	(void)state;
	add(&clock, &last, 1, 1000, 1000);
	add(&clock, &last, 2, 2100, 1100);
	add(&clock, &last, 3, 3300, 1200);
	assert_int_equal(clock.retuned, 2);
	assert_int_equal(clock.redrawn, 0);
	assert_int_equal(clock.n, 2);
	intervals_release(&clock);
}

static void without_counts_times_stand_in_and_long_ones_are_gaps(void **state)
{
	struct intervals_clock clock = { .unit_is_ns = true };
	struct intervals_last last = { 0 };

	(void)state;
	add(&clock, &last, 1000, 0, 1000);
	add(&clock, &last, 2000, 0, 1000);
	add(&clock, &last, 9000, 0, 1000); /* off the CPU */
	add(&clock, &last, 10010, 0, 1000);
	assert_true(clock.by_time);
	assert_int_equal(clock.gaps, 1);
	assert_int_equal(clock.n, 2);
	intervals_release(&clock);
}

static void counts_of_events_are_not_compared_with_times(void **state)
{
	struct intervals_clock clock = { .unit_is_ns = false };
	struct intervals_last last = { 0 };

	(void)state;
	add(&clock, &last, 1000, 0, 1000000);
	add(&clock, &last, 2000, 0, 1000000);
	assert_int_equal(clock.n, 0);
	assert_true(isnan(intervals_of_realised(&clock).mean));
	assert_true(isnan(intervals_faithful(&clock, 0.01)));
	intervals_release(&clock);
}

static void quantiles_survive_thinning(void **state)
{
	struct intervals_clock clock = { .every_sample = true };
	struct intervals_last last = { 0 };
	struct intervals_summary summary;
	double bins[INTERVALS_BINS], sum = 0;
	uint64_t count = 0;

	(void)state;
	/* uniform on 500 .. 1499 in a scrambled order */
	for (uint64_t i = 0; i < 100000; i++) {
		const uint64_t period = 500 + i * 7919 % 1000;

		count += period;
		add(&clock, &last, count, count, period);
	}
	assert_true(clock.n <= INTERVALS_KEPT && clock.level > 0);
	summary = intervals_of_realised(&clock);
	assert_true(summary.n == 99999);
	assert_true(fabs(summary.mean - 999.5) < 0.1);
	assert_true(fabs(summary.cv - 0.2888) < 0.001);
	/* about 12500 are kept: standard error of a quantile q is 1000 sqrt(q (1 - q)/12500), five of them */
	assert_true(fabs(summary.p01 - 510) < 5);
	assert_true(fabs(summary.p50 - 1000) < 23);
	assert_true(fabs(summary.p99 - 1490) < 5);
	intervals_histogram(&clock, true, bins);
	for (size_t i = 0; i < INTERVALS_BINS; i++)
		sum += bins[i];
	assert_true(sum == (double)clock.n);
	assert_true(bins[0] == 0 && bins[4] == 0 && bins[7] > 0 && bins[20] == 0);
	intervals_release(&clock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_interval_is_the_difference_of_counts_within_one_draw),
		cmocka_unit_test(a_clock_drawn_anew_with_each_sample_keeps_all_intervals),
		cmocka_unit_test(changes_that_the_kernel_makes_are_retunes),
		cmocka_unit_test(without_counts_times_stand_in_and_long_ones_are_gaps),
		cmocka_unit_test(counts_of_events_are_not_compared_with_times),
		cmocka_unit_test(quantiles_survive_thinning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
