/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/test.h"

#include "base/random.h"
#include "estimate/marker.h"
#include "unit/estimate/near.h"

static void the_h_test_has_its_reference_value(void **state)
{
	double phases[100];
	struct estimate_h_test test;

	(void)state;
	for (int i = 0; i < 100; i++)
		phases[i] = 0.5 * (i % 2) + 0.1 * (i / 2) / 50;
	test = estimate_h_test(phases, 100, 1);
	assert_near(test.h, 323.506, 5e-4);
	assert_int_equal(test.harmonics, 8);
}

/* P(H > 7.5) = exp(-0.4 * 7.5) = 5 %: 1000 uniform sets have 50 +- 7 above; 22..78 is +-4 sigma. */
static void uniform_phases_give_the_stated_false_alarms(void **state)
{
	struct random random;
	int alarms = 0;

	(void)state;
	random_init(&random, 21, 0, 0, 0);
	for (int trial = 0; trial < 1000; trial++) {
		double phases[200];

		for (int i = 0; i < 200; i++)
			phases[i] = random_double(&random);
		alarms += estimate_h_test(phases, 200, 1).p_value < 0.05;
	}
	assert_true(alarms >= 22 && alarms <= 78);
}

static void phases_follow_a_cycle_whose_length_drifts(void **state)
{
	const double markers[] = { 10, 20, 40, 45, 500 };
	const double times[] = { 5, 10, 15, 30, 44, 100, 500, 600 };
	double phases[8];

	(void)state;
	assert_int_equal(estimate_phases(phases, times, 8, markers, 5, 100), 4);
	assert_true(phases[0] == -1 && phases[6] == -1 && phases[7] == -1);
	assert_true(phases[5] == -1); /* in a gap of 455 */
	assert_near(phases[1], 0, 1e-12);
	assert_near(phases[2], 0.5, 1e-12);
	assert_near(phases[3], 0.5, 1e-12);
	assert_near(phases[4], 0.8, 1e-12);
	assert_int_equal(estimate_phases(phases, times, 8, markers, 0, 0), 0);
	assert_int_equal(estimate_phases(phases, times, 8, markers, 1, 0), 0);
}

/* n samples whose function depends on phase (first 0.4 of the cycle: 0) or does not. */
static void randomised_of(double *phases, uint32_t *functions, size_t n, bool depends,
			  struct random *random)
{
	for (size_t i = 0; i < n; i++) {
		phases[i] = random_double(random);
		functions[i] = (depends ? phases[i] : random_double(random)) < 0.4 ? 0 : 1;
	}
}

static void a_clock_in_step_is_a_lock_only_if_functions_depend_on_phase(void **state)
{
	double fixed[500], phases[1000];
	uint32_t functions[1000];
	struct estimate_marker marker;
	struct random random;

	(void)state;
	random_init(&random, 22, 0, 0, 0);
	for (int i = 0; i < 500; i++)
		fixed[i] = 0.1 + 0.2 * random_double(&random);
	randomised_of(phases, functions, 1000, true, &random);
	assert_int_equal(estimate_marker(&marker, fixed, 500, phases, functions, 1000, 2, 1, NULL),
			 STATUS_OK);
	assert_int_equal(marker.verdict, ESTIMATE_LOCK_LOCKED);
	/* the fixed clock sees function 0 always, the truth is 40 % */
	assert_near(marker.error[0], 0.6, 0.07);
	estimate_marker_release(&marker);
	randomised_of(phases, functions, 1000, false, &random);
	assert_int_equal(estimate_marker(&marker, fixed, 500, phases, functions, 1000, 2, 1, NULL),
			 STATUS_OK);
	assert_true(marker.fixed.p_value < 1e-10);
	assert_int_equal(marker.verdict, ESTIMATE_LOCK_NONE);
	estimate_marker_release(&marker);
	for (int i = 0; i < 500; i++)
		fixed[i] = random_double(&random);
	randomised_of(phases, functions, 1000, true, &random);
	assert_int_equal(estimate_marker(&marker, fixed, 500, phases, functions, 1000, 2, 1, NULL),
			 STATUS_OK);
	assert_int_equal(marker.verdict, ESTIMATE_LOCK_NONE);
	estimate_marker_release(&marker);
}

static void few_phases_are_no_evidence(void **state)
{
	const double fixed[] = { 0.1, -1 }, phases[] = { 0.2 };
	const uint32_t functions[] = { 0 }, bad[] = { 7 };
	struct estimate_marker marker;

	(void)state;
	assert_int_equal(estimate_marker(&marker, fixed, 2, phases, functions, 1, 1, 1, NULL),
			 STATUS_OK);
	assert_non_null(marker.why);
	assert_int_equal(marker.fixed.n, 1);
	estimate_marker_release(&marker);
	assert_int_equal(estimate_marker(&marker, fixed, 2, phases, bad, 1, 1, 1, NULL),
			 STATUS_CORRUPT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_h_test_has_its_reference_value),
		cmocka_unit_test(uniform_phases_give_the_stated_false_alarms),
		cmocka_unit_test(phases_follow_a_cycle_whose_length_drifts),
		cmocka_unit_test(a_clock_in_step_is_a_lock_only_if_functions_depend_on_phase),
		cmocka_unit_test(few_phases_are_no_evidence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
