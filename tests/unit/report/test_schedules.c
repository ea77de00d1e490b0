/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/report/scenario.h"

static const struct scenario mixed = { .epochs = 40,
				       .samples_per_cell = 100,
				       .shares = { 0.4, 0.24, 0.18, 0.12, 0.06 },
				       .mixed = true };

static void each_kind_of_clock_says_how_far_it_agrees(void **state)
{
	struct made made;
	const struct report_stability *stability = &made.report.stability;

	(void)state;
	scenario_make(&made, &mixed, SCENARIO_BY);
	assert_int_equal(stability->n_schedules, 2);
	assert_string_equal(stability->schedules[0].kind, "jitter");
	assert_string_equal(stability->schedules[1].kind, "exp");
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(stability->schedules[i].samples, 4000);
		assert_true(stability->schedules[i].set == 1);
		assert_false(stability->schedules[i].canary);
	}
	scenario_end(&made);
}

static void a_tie_is_agreed_on_less_often(void **state)
{
	struct scenario tie = mixed;
	struct made made;

	(void)state;
	tie.top_k = 2;
	tie.shares[1] = tie.shares[2] = 0.21;
	scenario_make(&made, &tie, SCENARIO_BY);
	assert_int_equal(made.report.stability.n_schedules, 2);
	assert_true(made.report.stability.schedules[0].set < 1);
	assert_true(made.report.stability.schedules[1].set < 1);
	scenario_end(&made);
}

static void clocks_of_one_kind_have_nobody_to_be_compared_with(void **state)
{
	struct scenario one = mixed, fixed = mixed;
	struct made made;

	(void)state;
	one.mixed = false;
	scenario_make(&made, &one, SCENARIO_BY);
	assert_int_equal(made.report.stability.n_schedules, 0);
	scenario_end(&made);
	fixed.mixed = false;
	fixed.fixed = true;
	scenario_make(&made, &fixed, SCENARIO_BY);
	assert_int_equal(made.report.stability.n_schedules, 0);
	scenario_end(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_of_clock_says_how_far_it_agrees),
		cmocka_unit_test(a_tie_is_agreed_on_less_often),
		cmocka_unit_test(clocks_of_one_kind_have_nobody_to_be_compared_with),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
