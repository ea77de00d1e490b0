/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/until/bundle.h"

#include <math.h>

static const struct scenario apart = { .epochs = 30,
				       .samples_per_cell = 100,
				       .shares = { 0.4, 0.24, 0.18, 0.12, 0.06 } };
static const struct scenario tie = { .epochs = 30,
				     .samples_per_cell = 100,
				     .shares = { 0.4, 0.2, 0.2, 0.1, 0.1 } };

static void functions_far_apart_are_settled_and_named_in_order(void **state)
{
	const struct until_answer answer = answer_of(&apart, "top=3", false);

	(void)state;
	assert_int_equal(answer.state, UNTIL_SETTLED);
	assert_int_equal(answer.epochs, 30);
	assert_int_equal(answer.samples, 6000);
	assert_string_equal(answer.text,
			    "the first 3 and their order are settled: parse, lex, emit");
}

static void more_functions_asked_for_than_there_are_means_all(void **state)
{
	const struct until_answer answer = answer_of(&apart, "top=50", false);

	(void)state;
	assert_int_equal(answer.state, UNTIL_SETTLED);
	assert_non_null(strstr(answer.text, "the first 5"));
}

static void a_tie_is_open_and_both_are_named_with_the_time_that_is_missing(void **state)
{
	const struct until_answer answer = answer_of(&tie, "top=2", false);

	(void)state;
	assert_int_equal(answer.state, UNTIL_OPEN);
	assert_non_null(strstr(answer.text, "lex"));
	assert_non_null(strstr(answer.text, "emit"));
	assert_true(answer.seconds > 0);
	assert_true(answer.seconds_max >= answer.seconds);
}

static void a_set_is_settled_where_its_inner_order_is_not(void **state)
{
	(void)state;
	assert_int_equal(answer_of(&tie, "top=3", false).state, UNTIL_OPEN);
	assert_int_equal(answer_of(&tie, "top=3:set", false).state, UNTIL_SETTLED);
}

static void shares_are_known_to_the_width_that_the_samples_give(void **state)
{
	/* 6000 samples: a share of 40 % has a standard error of 0.63 points; the boundary asks for
	 * sqrt(2 (ln 20 + ln(30 rho^2 + 1)/2) (30 rho^2 + 1)/(30 rho^2)) = 3.1 of them, 2 points */
	(void)state;
	assert_int_equal(answer_of(&apart, "share=3%", false).state, UNTIL_SETTLED);
	assert_int_equal(answer_of(&apart, "share=1.5%", false).state, UNTIL_OPEN);
}

static void a_recording_that_was_just_begun_is_too_early_to_say(void **state)
{
	const struct scenario young = { .epochs = 4,
					.samples_per_cell = 100,
					.shares = { 0.9, 0.04, 0.03, 0.02, 0.01 } };
	const struct scenario blank = { .epochs = 30, .samples_per_cell = 0 };

	(void)state;
	assert_int_equal(answer_of(&young, "top=1", false).state, UNTIL_OPEN);
	assert_non_null(strstr(answer_of(&young, "top=1", false).text, "too early"));
	assert_int_equal(answer_of(&blank, "top=1", true).state, UNTIL_OPEN);
}

static void a_recording_under_way_is_read_up_to_its_last_epoch(void **state)
{
	struct scenario open = apart;

	(void)state;
	open.unfinished = true;
	assert_int_equal(answer_of(&open, "top=3", true).state, UNTIL_SETTLED);
}

static void without_a_randomised_clock_nothing_is_settled(void **state)
{
	struct scenario fixed = apart;
	struct until_answer answer;

	(void)state;
	fixed.fixed = true;
	answer = answer_of(&fixed, "top=1", true);
	assert_int_equal(answer.state, UNTIL_UNCHECKED);
	assert_non_null(strstr(answer.text, "randomised clock"));
}

static void what_is_settled_by_chance_alone_is_not_while_a_bias_touches_it(void **state)
{
	struct scenario lossy = apart;
	struct until_answer answer;

	(void)state;
	lossy.lost_in_epoch_3 = 4000;
	assert_int_equal(answer_of(&lossy, "top=1", false).state, UNTIL_SETTLED);
	answer = answer_of(&lossy, "top=1", true);
	assert_int_equal(answer.state, UNTIL_BIASED);
	assert_non_null(strstr(answer.text, "more samples will not help"));
	assert_non_null(strstr(answer.text, "loss"));
}

static void a_bundle_that_is_not_there_yet_is_an_error_and_no_answer(void **state)
{
	const struct until_question question = question_of("top=1");
	struct until_looker looker;
	struct until_answer answer;
	struct error error;

	(void)state;
	until_looker_init(&looker, sys_real(), "/nonexistent/out.assay", &question);
	assert_int_equal(until_look(&looker, false, &answer, &error), STATUS_NOT_FOUND);
	until_looker_release(&looker);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_far_apart_are_settled_and_named_in_order),
		cmocka_unit_test(more_functions_asked_for_than_there_are_means_all),
		cmocka_unit_test(a_tie_is_open_and_both_are_named_with_the_time_that_is_missing),
		cmocka_unit_test(a_set_is_settled_where_its_inner_order_is_not),
		cmocka_unit_test(shares_are_known_to_the_width_that_the_samples_give),
		cmocka_unit_test(a_recording_that_was_just_begun_is_too_early_to_say),
		cmocka_unit_test(a_recording_under_way_is_read_up_to_its_last_epoch),
		cmocka_unit_test(without_a_randomised_clock_nothing_is_settled),
		cmocka_unit_test(what_is_settled_by_chance_alone_is_not_while_a_bias_touches_it),
		cmocka_unit_test(a_bundle_that_is_not_there_yet_is_an_error_and_no_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
