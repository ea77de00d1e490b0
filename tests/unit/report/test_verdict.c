/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The verdict in each situation: state, sentence and forecast, golden in tests/data/report/verdict-*.txt.
 */
#include <math.h>

#include "diagnose/finding_code.h"
#include "report/json.h"
#include "report/text.h"
#include "report/verdict.h"
#include "unit/report/golden.h"
#include "unit/report/scenario.h"

static const struct scenario apart = { .epochs = 40,
				       .samples_per_cell = 100,
				       .shares = { 0.4, 0.24, 0.18, 0.12, 0.06 } };

static void made_check(const struct made *made, const char *name)
{
	const struct report *report = &made->report;
	struct output output;

	output_init(&output);
	output_format(&output, "%s\n", report_state_name(report->state));
	text_wrap(&output, report->verdict, 0, 0, 100);
	output_format(&output, "\nsettle: %.1f s, at most %.1f s%s\n", report->settle.seconds,
		      report->settle.max_seconds,
		      report->settle.blocked_by_bias ? ", blocked by bias" : "");
	golden_check("report", name, &output);
	output_release(&output);
}

static void situation(const char *name, const struct scenario *scenario, enum estimate_state state)
{
	struct made made;

	scenario_make(&made, scenario, SCENARIO_BY);
	made_check(&made, name);
	assert_int_equal(made.report.state, state);
	scenario_end(&made);
}

static struct scenario with(struct scenario scenario, size_t top_k)
{
	scenario.top_k = top_k;
	return scenario;
}

static void a_settled_order_says_how_many_and_what_the_first_takes(void **state)
{
	const struct scenario three = with(apart, 3), one = with(apart, 1);

	(void)state;
	situation("verdict-settled.txt", &three, ESTIMATE_RESOLVED);
	situation("verdict-settled-first.txt", &one, ESTIMATE_RESOLVED);
}

static void a_settled_set_with_an_open_order_says_both(void **state)
{
	const struct scenario tie = { .epochs = 40,
				      .samples_per_cell = 100,
				      .shares = { 0.4, 0.2, 0.2, 0.1, 0.1 },
				      .top_k = 3 };

	(void)state;
	situation("verdict-set-settled.txt", &tie, ESTIMATE_UNRESOLVED);
}

static void an_open_set_names_the_contenders_and_what_would_settle_them(void **state)
{
	const struct scenario tie = { .epochs = 40,
				      .samples_per_cell = 100,
				      .shares = { 0.4, 0.2, 0.19, 0.11, 0.1 },
				      .top_k = 2 };

	(void)state;
	situation("verdict-set-open.txt", &tie, ESTIMATE_UNRESOLVED);
}

static void an_open_first_place_is_said_first(void **state)
{
	const struct scenario tie = { .epochs = 40,
				      .samples_per_cell = 100,
				      .shares = { 0.3, 0.3, 0.2, 0.1, 0.1 },
				      .top_k = 2 };

	(void)state;
	situation("verdict-first-open.txt", &tie, ESTIMATE_UNRESOLVED);
}

static void equals_are_not_told_to_wait(void **state)
{
	const struct scenario tie = { .epochs = 40,
				      .samples_per_cell = 100,
				      .shares = { 0.4, 0.2, 0.2, 0.1, 0.1 },
				      .top_k = 2 };
	struct made made;

	(void)state;
	scenario_make(&made, &tie, SCENARIO_BY);
	made.report.next.seconds = made.report.next.max_seconds = INFINITY;
	made.report.settle.seconds = made.report.settle.max_seconds = INFINITY;
	verdict_write(&made.report);
	made_check(&made, "verdict-alike.txt");
	scenario_end(&made);
}

static void a_bias_of_all_shares_comes_first_and_time_does_not_help(void **state)
{
	struct scenario lossy = with(apart, 3);

	(void)state;
	lossy.lost_in_epoch_3 = 3000;
	situation("verdict-bias-all.txt", &lossy, ESTIMATE_BIASED);
}

/* A diagnosis that found one function to be biased. */
static void biased(const char *name, const char *function, enum estimate_state state)
{
	struct scenario scenario = with(apart, 2);
	struct finding *finding;
	struct findings findings;

	findings_init(&findings);
	finding = findings_add(&findings, CODE_SKID_CALL, FINDING_BIAS,
			       "Samples of %s belong to what it calls.", function);
	finding_next(&findings, finding, "Ask for a precise event.");
	finding_touches(&findings, finding, function, "", 0.15);
	scenario.findings = &findings;
	situation(name, &scenario, state);
	findings_release(&findings);
}

static void a_bias_of_a_function_among_the_first_is_named(void **state)
{
	(void)state;
	biased("verdict-bias-first.txt", "lex", ESTIMATE_BIASED);
}

static void a_bias_of_a_function_that_nobody_asked_about_does_not_block_the_answer(void **state)
{
	(void)state;
	biased("verdict-bias-elsewhere.txt", "tail", ESTIMATE_RESOLVED);
}

static void a_bias_of_another_clock_touches_nothing(void **state)
{
	struct scenario scenario = with(apart, 2);
	struct finding *finding;
	struct findings findings;

	(void)state;
	findings_init(&findings);
	finding = findings_add(&findings, CODE_ALIAS_LOCKED, FINDING_WARNING,
			       "Another profiler would run in step.");
	finding_touches(&findings, finding, "parse", "", 0.5);
	finding->elsewhere = true;
	scenario.findings = &findings;
	situation("verdict-alias-elsewhere.txt", &scenario, ESTIMATE_RESOLVED);
	findings_release(&findings);
}

static void without_randomised_clock_no_time_is_promised(void **state)
{
	struct scenario fixed = with(apart, 3);

	(void)state;
	fixed.fixed = true;
	situation("verdict-fixed.txt", &fixed, ESTIMATE_RESOLVED);
}

static void too_few_and_no_samples_say_what_to_do(void **state)
{
	const struct scenario few = { .epochs = 2,
				      .samples_per_cell = 4,
				      .shares = { 0.4, 0.2, 0.2, 0.1, 0.1 } };
	const struct scenario empty = { .epochs = 6, .samples_per_cell = 0 };

	(void)state;
	situation("verdict-few.txt", &few, ESTIMATE_UNRESOLVED);
	situation("verdict-empty.txt", &empty, ESTIMATE_UNRESOLVED);
}

static void a_stop_that_the_data_chose_is_told_and_its_intervals_hold(void **state)
{
	const struct text_options options = { .percent_limit = 0.5 };
	struct scenario until = with(apart, 3);
	struct output output;
	struct made made;

	(void)state;
	until.until = "top=3";
	until.answer = "the first 3 and their order are settled: parse, lex, emit";
	scenario_make(&made, &until, SCENARIO_BY);
	output_init(&output);
	text_head(&made.report, &options, &output);
	golden_check("report", "until-settled.txt", &output);
	output_release(&output);
	scenario_end(&made);
	until.answer = NULL;
	scenario_make(&made, &until, SCENARIO_BY);
	output_init(&output);
	text_head(&made.report, &options, &output);
	golden_check("report", "until-open.txt", &output);
	output_release(&output);
	scenario_end(&made);
}

/* Whatever is printed, above or below: no row stands above one that it was resolved to be below, and
 * rows of one group stand in the order of their names. */
static void no_order_is_asserted_inside_a_group(void **state)
{
	const struct scenario tie = { .epochs = 40,
				      .samples_per_cell = 100,
				      .shares = { 0.2, 0.2, 0.2, 0.2, 0.2 } };
	struct made made;

	(void)state;
	scenario_make(&made, &tie, SCENARIO_BY);
	assert_int_equal(made.report.rows[0].group, made.report.rows[4].group);
	for (size_t i = 1; i < made.report.n_rows; i++) {
		const struct report_row *above = &made.report.rows[i - 1],
					*row = &made.report.rows[i];

		if (row->group && row->group == above->group)
			assert_true(strcmp(above->name, row->name) < 0);
		if (row->rank_lo && above->rank_lo)
			assert_true(above->rank_lo <= row->rank_lo);
	}
	scenario_end(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_settled_order_says_how_many_and_what_the_first_takes),
		cmocka_unit_test(a_settled_set_with_an_open_order_says_both),
		cmocka_unit_test(an_open_set_names_the_contenders_and_what_would_settle_them),
		cmocka_unit_test(an_open_first_place_is_said_first),
		cmocka_unit_test(equals_are_not_told_to_wait),
		cmocka_unit_test(a_bias_of_all_shares_comes_first_and_time_does_not_help),
		cmocka_unit_test(a_bias_of_a_function_among_the_first_is_named),
		cmocka_unit_test(
			a_bias_of_a_function_that_nobody_asked_about_does_not_block_the_answer),
		cmocka_unit_test(a_bias_of_another_clock_touches_nothing),
		cmocka_unit_test(without_randomised_clock_no_time_is_promised),
		cmocka_unit_test(too_few_and_no_samples_say_what_to_do),
		cmocka_unit_test(a_stop_that_the_data_chose_is_told_and_its_intervals_hold),
		cmocka_unit_test(no_order_is_asserted_inside_a_group),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
