/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/test.h"

#include <math.h>

#include "estimate/variance.h"
#include "unit/estimate/near.h"

static void the_range_of_the_workload_part_has_its_reference_value(void **state)
{
	const struct variance_quantiles f = variance_quantiles(20, 20, 0.95);
	const struct variance_split split = variance_split(1, 3, &f);

	(void)state;
	assert_near(split.workload, 2, 1e-12);
	assert_near(split.lo, 0.1726, 5e-5);
	assert_near(split.hi, 0.8671, 5e-5);
}

static void a_workload_part_below_zero_keeps_its_sign_and_an_upper_end(void **state)
{
	const struct variance_quantiles f = variance_quantiles(20, 20, 0.95);
	const struct variance_split split = variance_split(1, 0.8, &f);

	(void)state;
	assert_near(split.workload, -0.2, 1e-12);
	assert_true(split.lo == 0);
	assert_true(split.hi > 0.4 && split.hi < 0.6);
}

static void no_variance_at_all_gives_no_nan(void **state)
{
	const struct variance_quantiles f = variance_quantiles(20, 20, 0.95);

	(void)state;
	assert_true(variance_split(0, 0, &f).hi == 1);
	assert_true(variance_split(0, 1, &f).lo == 0);
	assert_true(variance_split(1, 0, &f).hi == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_range_of_the_workload_part_has_its_reference_value),
		cmocka_unit_test(a_workload_part_below_zero_keeps_its_sign_and_an_upper_end),
		cmocka_unit_test(no_variance_at_all_gives_no_nan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
