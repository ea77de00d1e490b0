/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/test.h"

#include <stdlib.h>

#include "base/random.h"
#include "estimate/quantile.h"
#include "estimate/timed.h"
#include "unit/estimate/near.h"

static void halls_interval_has_its_reference_value(void **state)
{
	const double y[] = { 1, 1, 2, 2, 3, 3, 5, 20 };
	struct estimate_timed timed = estimate_timed(y, 8, 1000000, 8000000, 0.95);
	double lo, hi;

	(void)state;
	assert_near(timed.mean, 4.625, 1e-12);
	assert_near(timed.sd, 6.3457, 5e-5);
	assert_near(timed.skewness, 1.7095, 5e-5);
	estimate_hall(timed.mean, timed.sd, timed.skewness, 8, quantile_t(0.975, 7), &lo, &hi);
	assert_near(lo, 0.9173, 5e-4);
	assert_near(hi, 24.5410, 5e-3);
	assert_false(timed.supported);
	assert_non_null(timed.why);
}

static void the_total_is_the_timed_sum_times_n(void **state)
{
	static double y[600];
	struct estimate_timed timed;

	(void)state;
	for (int i = 0; i < 600; i++)
		y[i] = 100 + i % 7;
	timed = estimate_timed(y, 600, 16, 600 * 16, 0.95);
	assert_true(timed.supported);
	assert_near(timed.total, 16 * timed.mean * 600, 1e-6);
	assert_true(timed.lo < timed.total && timed.total < timed.hi);
	/* every call timed: nothing is estimated */
	timed = estimate_timed(y, 600, 1, 600, 0.95);
	assert_true(timed.lo == timed.total && timed.hi == timed.total);
	timed = estimate_timed(y, 10, 1, 10, 0.95);
	assert_true(timed.supported);
}

static void skewed_durations_have_a_longer_upper_side(void **state)
{
	static double y[1000];
	struct estimate_timed timed;

	(void)state;
	for (int i = 0; i < 1000; i++)
		y[i] = i % 50 ? 1 : 100;
	timed = estimate_timed(y, 1000, 10, 10000, 0.95);
	assert_true(timed.hi - timed.total > 1.2 * (timed.total - timed.lo));
}

/* 400 recordings of 8000 lognormal(1) calls, 1 of 16 timed: 95 % coverage has a standard error of 1.1
 * points; 91-95 is documented for heavier tails, 90.6 is 4 standard errors below 95. */
static void the_interval_covers_the_true_total(void **state)
{
	struct random random;
	int covered = 0;
	double error = 0;

	(void)state;
	random_init(&random, 12, 0, 0, 0);
	for (int trial = 0; trial < 400; trial++) {
		double y[500], truth = 0;
		struct estimate_timed timed;

		for (int block = 0; block < 500; block++) {
			const uint64_t at = random_below(&random, 16);

			for (uint64_t i = 0; i < 16; i++) {
				double normal = -6, value;

				for (int k = 0; k < 12; k++)
					normal += random_double(&random);
				value = exp(normal);
				truth += value;
				if (i == at)
					y[block] = value;
			}
		}
		timed = estimate_timed(y, 500, 16, 8000, 0.95);
		covered += timed.lo <= truth && truth <= timed.hi;
		error += (timed.total / truth - 1) / 400;
	}
	assert_true(covered >= 363);
	/* relative sd of one total: 1.31/sqrt(500) = 5.9 %, of the mean 0.29 % */
	assert_true(fabs(error) < 4 * 0.003);
}

static void windows_add_up_with_their_errors_squared(void **state)
{
	const struct estimate_timed parts[] = {
		{ .total = 10, .lo = 7, .hi = 14, .timed = 300, .calls = 3000 },
		{ .total = 20, .lo = 16, .hi = 23, .timed = 300, .calls = 9000 },
	};
	const struct estimate_timed sum = estimate_timed_sum(parts, 2);

	(void)state;
	assert_near(sum.total, 30, 1e-12);
	assert_near(sum.lo, 25, 1e-12);
	assert_near(sum.hi, 35, 1e-12);
	assert_true(sum.supported);
	assert_false(estimate_timed_sum(parts, 1).supported);
	assert_false(estimate_timed_sum(parts, 0).supported);
}

static void about_a_thousand_calls_are_timed_per_window(void **state)
{
	(void)state;
	assert_int_equal(estimate_timed_block(0), 1);
	assert_int_equal(estimate_timed_block(1500), 1);
	assert_int_equal(estimate_timed_block(5e6), 5000);
}

static void no_calls_or_one_give_no_interval(void **state)
{
	const double y[] = { 3 };
	struct estimate_timed timed = estimate_timed(y, 0, 16, 5, 0.95);

	(void)state;
	assert_true(timed.total == 0);
	assert_true(isnan(timed.lo));
	timed = estimate_timed(y, 1, 16, 5, 0.95);
	assert_true(timed.total == 48);
	assert_true(isnan(timed.hi));
	assert_false(timed.supported);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(halls_interval_has_its_reference_value),
		cmocka_unit_test(the_total_is_the_timed_sum_times_n),
		cmocka_unit_test(skewed_durations_have_a_longer_upper_side),
		cmocka_unit_test(the_interval_covers_the_true_total),
		cmocka_unit_test(windows_add_up_with_their_errors_squared),
		cmocka_unit_test(about_a_thousand_calls_are_timed_per_window),
		cmocka_unit_test(no_calls_or_one_give_no_interval),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
