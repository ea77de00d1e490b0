/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/test.h"

#include <math.h>

#include "estimate/workload.h"
#include "unit/estimate/near.h"

static void the_cosine_variance_has_its_reference_value(void **state)
{
	const double u[] = { 1, -1, 2, 0, -2, 1, 0, -1, 1, -1 };
	struct cosines cosines;

	(void)state;
	assert_true(cosines_init(&cosines, 10));
	assert_int_equal(cosines.q, 2);
	assert_near(cosines_variance(&cosines, u), 4.309938, 1e-6);
	cosines_release(&cosines);
}

static void a_drift_raises_the_cosine_variance_far_above_the_plain_one(void **state)
{
	double u[20], plain = 0;
	struct cosines cosines;

	(void)state;
	for (int e = 0; e < 20; e++) {
		u[e] = e - 9.5;
		plain += u[e] * u[e] * 20 / 19;
	}
	assert_true(cosines_init(&cosines, 20));
	assert_int_equal(cosines.q, 3);
	assert_true(cosines_variance(&cosines, u) > 5 * plain);
	cosines_release(&cosines);
}

static void two_epochs_or_none_are_handled(void **state)
{
	const double u[] = { 1, -1 };
	struct cosines cosines;

	(void)state;
	for (size_t n = 0; n < 3; n++) {
		assert_true(cosines_init(&cosines, n));
		assert_true(isfinite(cosines_variance(&cosines, u)));
		cosines_release(&cosines);
	}
}

static void repetition_is_detected_from_own_or_pooled_correlation(void **state)
{
	(void)state;
	assert_false(serial_detect(-0.5, -0.5, 20).detected);
	assert_false(serial_detect(0.28, 0.22, 20)
			     .detected); /* 1.28/sqrt(20) = 0.286, 1/sqrt(20) = 0.224 */
	assert_true(serial_detect(0.29, 0, 20).detected);
	assert_true(serial_detect(0, 0.23, 20).detected);
	assert_true(serial_detect(2, 0, 20).correlation == 0.95);
	assert_true(serial_detect(-1, -1, 20).correlation == 0);
}

static void twelve_independent_stretches_support_a_workload_claim(void **state)
{
	const struct serial some = { true, 0.5 }, none = { false, 0.2 };

	(void)state;
	assert_near(serial_changes(0.5, 36), 12, 1e-12);
	assert_true(serial_supported(&some, 36));
	assert_false(serial_supported(&some, 35));
	assert_true(serial_epochs_needed(0.5) == 36);
	assert_true(serial_supported(&none, 5));
	assert_false(serial_supported(&some, 5));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_cosine_variance_has_its_reference_value),
		cmocka_unit_test(a_drift_raises_the_cosine_variance_far_above_the_plain_one),
		cmocka_unit_test(two_epochs_or_none_are_handled),
		cmocka_unit_test(repetition_is_detected_from_own_or_pooled_correlation),
		cmocka_unit_test(twelve_independent_stretches_support_a_workload_claim),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
