/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/test.h"

#include <math.h>

#include "estimate/interval.h"
#include "estimate/quantile.h"
#include "unit/estimate/near.h"

static void wilson_has_its_reference_value(void **state)
{
	const struct bounds bounds = bounds_wilson(0.08, 500, quantile_t(0.975, 28));

	(void)state;
	assert_near(bounds.lo, 0.058501, 1e-6);
	assert_near(bounds.hi, 0.108490, 1e-6);
}

static void bounds_stay_within_0_and_1_and_around_the_share(void **state)
{
	(void)state;
	for (double share = 0; share <= 1; share += 0.001)
		for (double n = 0.5; n < 1e7; n *= 3) {
			const struct bounds bounds = bounds_wilson(share, n, 2.1);

			assert_true(bounds.lo >= 0 && bounds.lo <= share);
			assert_true(bounds.hi >= share && bounds.hi <= 1);
		}
}

/* m log(bound) is interpolated on steps h of 1/64; the error is at most h^2/8 of its second derivative,
 * which is below 2 (that of log Gamma(m + 1) at 0 is 1.65): 6.1e-5, divided by m. */
static void the_grid_of_small_counts_agrees_with_the_exact_poisson_bound(void **state)
{
	struct small_count small;

	(void)state;
	small_count_init(&small, 0.025);
	for (double m = 0.2; m < 10; m += 0.0137) {
		const double exact = quantile_chi2(0.025, 2 * m) / 2;

		assert_true(fabs(log(small_count_bound(&small, m) / exact)) < 6.1e-5 / m);
	}
	assert_near(small_count_bound(&small, 12.5), quantile_chi2(0.025, 25) / 2, 1e-9);
	assert_true(small_count_bound(&small, 0) == 0);
	assert_true(small_count_bound(&small, 1e-6) >= 0);
}

/* one sample in n: 0.025/n (exact Poisson) to 5.7/n */
static void one_sample_has_a_lower_end_forty_times_below_it(void **state)
{
	struct small_count small;
	struct bounds bounds;

	(void)state;
	small_count_init(&small, 0.025);
	bounds = bounds_share(1e-4, 1e4, 1.959964, 1, 9999, &small);
	assert_near(bounds.lo * 1e4, 0.0253, 1e-4);
	assert_near(bounds.hi * 1e4, 5.66, 0.01);
}

static void all_but_one_sample_mirrors_one_sample(void **state)
{
	struct small_count small;
	struct bounds few, many;

	(void)state;
	small_count_init(&small, 0.025);
	few = bounds_share(0.002, 500, 2.05, 1, 499, &small);
	many = bounds_share(0.998, 500, 2.05, 499, 1, &small);
	assert_near(few.lo, 1 - many.hi, 1e-12);
	assert_near(few.hi, 1 - many.lo, 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wilson_has_its_reference_value),
		cmocka_unit_test(bounds_stay_within_0_and_1_and_around_the_share),
		cmocka_unit_test(the_grid_of_small_counts_agrees_with_the_exact_poisson_bound),
		cmocka_unit_test(one_sample_has_a_lower_end_forty_times_below_it),
		cmocka_unit_test(all_but_one_sample_mirrors_one_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
