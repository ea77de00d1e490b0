/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pairs of bundles of known content. The texts of each verdict are golden: tests/data/diff.
 */
#include <jansson.h>
#include <math.h>

#include "diagnose/finding_code.h"
#include "diff/diff.h"
#include "diff/json.h"
#include "diff/mismatch.h"
#include "diff/text.h"
#include "unit/report/golden.h"
#include "unit/report/scenario.h"

static const struct scenario before = { .epochs = 40,
					.samples_per_cell = 100,
					.shares = { 0.4, 0.24, 0.18, 0.12, 0.06 } };

struct pair {
	struct made sides[2];
	struct diff diff;
};

static void pair_make(struct pair *pair, const struct scenario *a, const struct scenario *b)
{
	const struct diff_options options = { .within = 0 };
	struct diff_side sides[2];
	struct error error;

	scenario_make(&pair->sides[0], a, SCENARIO_BY);
	scenario_make(&pair->sides[1], b, SCENARIO_BY);
	for (int i = 0; i < 2; i++)
		sides[i] =
			(struct diff_side){ &pair->sides[i].report, &pair->sides[i].bundle, NULL };
	if (diff_make(&pair->diff, sides, &options, &error) != STATUS_OK)
		fail_msg("%s", error.text);
}

static void pair_end(struct pair *pair)
{
	diff_release(&pair->diff);
	scenario_end(&pair->sides[1]);
	scenario_end(&pair->sides[0]);
}

static const struct diff_row *row_named(const struct diff *diff, const char *name)
{
	for (size_t i = 0; i < diff->n; i++)
		for (int side = 0; side < 2; side++)
			if (diff->rows[i].rows[side] &&
			    !strcmp(diff->rows[i].rows[side]->name, name))
				return &diff->rows[i];
	fail_msg("no row %s", name);
	return NULL;
}

static void verdict_is(const struct scenario *a, const struct scenario *b, enum diff_state state,
		       const char *golden)
{
	const struct text_options options = { .percent_limit = 0.5, .max_rows = 40 };
	struct output output;
	struct pair pair;

	pair_make(&pair, a, b);
	output_init(&output);
	diff_text(&pair.diff, &options, &output);
	golden_check("diff", golden, &output);
	output_release(&output);
	assert_int_equal(pair.diff.state, state);
	pair_end(&pair);
}

static void another_recording_of_the_same_program_is_the_same(void **state)
{
	struct scenario again = before;

	(void)state;
	again.seed = 1;
	verdict_is(&before, &again, DIFF_STATE_SAME, "same.txt");
}

static void a_recording_is_the_same_as_itself_and_every_interval_is_zero(void **state)
{
	struct pair pair;

	(void)state;
	pair_make(&pair, &before, &before);
	assert_true(pair.diff.same_recording);
	assert_int_equal(pair.diff.state, DIFF_STATE_SAME);
	for (size_t i = 0; i < pair.diff.n; i++)
		assert_true(pair.diff.rows[i].change.lo == 0 && pair.diff.rows[i].change.hi == 0);
	pair_end(&pair);
}

static void a_program_that_spends_its_time_elsewhere_has_changed(void **state)
{
	const struct scenario after = { .epochs = 40,
					.samples_per_cell = 100,
					.seed = 1,
					.shares = { 0.24, 0.4, 0.18, 0.12, 0.06 } };

	(void)state;
	verdict_is(&before, &after, DIFF_STATE_CHANGED, "changed.txt");
}

static void two_fixed_clocks_never_say_that_the_workload_changed(void **state)
{
	struct scenario a = before, b = { .epochs = 40,
					  .samples_per_cell = 100,
					  .seed = 1,
					  .shares = { 0.02, 0.9, 0.04, 0.02, 0.02 } };

	(void)state;
	a.fixed = b.fixed = true;
	verdict_is(&a, &b, DIFF_STATE_UNRESOLVED, "fixed.txt");
}

static void one_fixed_clock_is_enough_to_doubt_a_change(void **state)
{
	struct scenario after = { .epochs = 40,
				  .samples_per_cell = 100,
				  .seed = 1,
				  .shares = { 0.02, 0.9, 0.04, 0.02, 0.02 },
				  .fixed = true };
	struct pair pair;

	(void)state;
	pair_make(&pair, &before, &after);
	assert_int_equal(pair.diff.state, DIFF_STATE_UNRESOLVED);
	assert_non_null(findings_find(&pair.diff.mismatches, CODE_MISMATCH_SCHEDULE));
	pair_end(&pair);
}

static void a_clock_that_is_known_to_be_locked_is_the_answer(void **state)
{
	struct scenario locked = { .epochs = 40,
				   .samples_per_cell = 100,
				   .seed = 1,
				   .shares = { 0.02, 0.9, 0.04, 0.02, 0.02 },
				   .fixed = true };
	struct finding *finding;
	struct findings findings;

	(void)state;
	findings_init(&findings);
	finding = findings_add(&findings, "alias-locked", FINDING_BIAS,
			       "The clock runs in step with the marks of the program.");
	finding_touches_all(finding, NAN);
	locked.findings = &findings;
	verdict_is(&before, &locked, DIFF_STATE_MEASUREMENT, "locked.txt");
	findings_release(&findings);
}

static void what_a_loss_could_make_is_a_difference_of_the_measurement(void **state)
{
	/* lost are 8000 of 16000 samples: more than the move of 16 points */
	struct scenario lossy = { .epochs = 40,
				  .samples_per_cell = 100,
				  .seed = 1,
				  .shares = { 0.24, 0.4, 0.18, 0.12, 0.06 },
				  .lost_in_epoch_3 = 8000 };

	(void)state;
	verdict_is(&before, &lossy, DIFF_STATE_MEASUREMENT, "lossy.txt");
}

/* The rows of gc and tail are the kernel's; other programs are at work beside B when `loaded`. */
static enum diff_state state_with_kernel(const struct scenario *a, const struct scenario *b,
					 bool loaded, const char *golden)
{
	const struct text_options options = { .percent_limit = 0.5, .max_rows = 40 };
	const struct diff_options standard = { .within = 0 };
	struct made sides[2];
	struct diff_side compared[2];
	struct output output;
	struct error error;
	struct diff diff;
	enum diff_state state;

	scenario_make(&sides[0], a, SCENARIO_BY);
	scenario_make(&sides[1], b, SCENARIO_BY);
	for (int i = 0; i < 2; i++) {
		struct report *report = &sides[i].report;

		for (size_t j = 0; j < report->n_rows; j++)
			if (!strcmp(report->rows[j].name, "gc") ||
			    !strcmp(report->rows[j].name, "tail"))
				report->rows[j].module = "[kernel.kallsyms]";
		compared[i] = (struct diff_side){ report, &sides[i].bundle, NULL };
	}
	if (loaded)
		assert_non_null(findings_add(&sides[1].report.findings, CODE_LOAD, FINDING_WARNING,
					     "Other programs."));
	if (diff_make(&diff, compared, &standard, &error) != STATUS_OK)
		fail_msg("%s", error.text);
	if (golden) {
		output_init(&output);
		diff_text(&diff, &options, &output);
		golden_check("diff", golden, &output);
		output_release(&output);
	}
	state = diff.state;
	diff_release(&diff);
	scenario_end(&sides[1]);
	scenario_end(&sides[0]);
	return state;
}

/* From 18 to 36 % kernel, the program's own functions as before among themselves. */
static void what_other_programs_could_make_is_a_difference_of_the_measurement(void **state)
{
	const struct scenario after = { .epochs = 40,
					.samples_per_cell = 100,
					.seed = 1,
					.shares = { 0.312, 0.187, 0.141, 0.26, 0.1 } };

	(void)state;
	assert_int_equal(state_with_kernel(&before, &after, true, "loaded.txt"),
			 DIFF_STATE_MEASUREMENT);
	assert_int_equal(state_with_kernel(&before, &after, false, NULL), DIFF_STATE_CHANGED);
}

static void a_change_beyond_what_other_programs_could_make_is_one_of_the_workload(void **state)
{
	const struct scenario after = { .epochs = 40,
					.samples_per_cell = 100,
					.seed = 1,
					.shares = { 0.1, 0.399, 0.141, 0.26, 0.1 } };

	(void)state;
	assert_int_equal(state_with_kernel(&before, &after, true, NULL), DIFF_STATE_CHANGED);
}

static void few_samples_do_not_make_recordings_the_same(void **state)
{
	const struct scenario a = { .epochs = 20,
				    .samples_per_cell = 5,
				    .shares = { 0.4, 0.24, 0.18, 0.12, 0.06 } };
	struct scenario b = a;

	(void)state;
	b.seed = 1;
	verdict_is(&a, &b, DIFF_STATE_UNRESOLVED, "few.txt");
}

static void another_processor_is_no_change_of_the_workload(void **state)
{
	struct scenario a = before, b = { .epochs = 40,
					  .samples_per_cell = 100,
					  .seed = 1,
					  .shares = { 0.24, 0.4, 0.18, 0.12, 0.06 } };

	(void)state;
	if (strcmp(SCENARIO_ARCH, "x86_64"))
		SKIP("the text that is compared names x86_64");
	a.processor = "Turtle 1";
	b.processor = "Hare 9";
	verdict_is(&a, &b, DIFF_STATE_UNRESOLVED, "machine.txt");
}

static void shares_with_and_without_kernel_code_are_not_compared(void **state)
{
	struct scenario with = before;
	struct pair pair;

	(void)state;
	with.seed = 1;
	with.kernel = true;
	pair_make(&pair, &before, &with);
	assert_int_equal(pair.diff.state, DIFF_STATE_UNRESOLVED);
	assert_non_null(findings_find(&pair.diff.mismatches, CODE_MISMATCH_SCOPE));
	pair_end(&pair);
}

static void a_function_that_came_and_one_that_went_are_both_changes(void **state)
{
	const struct scenario after = { .epochs = 40,
					.samples_per_cell = 100,
					.seed = 1,
					.shares = { 0.4, 0.24, 0.18, 0.12, 0.06 },
					.names = { "parse", "lex_faster" } };
	struct pair pair;

	(void)state;
	pair_make(&pair, &before, &after);
	assert_int_equal(pair.diff.state, DIFF_STATE_CHANGED);
	assert_null(row_named(&pair.diff, "lex")->rows[1]);
	assert_int_equal(row_named(&pair.diff, "lex")->verdict, DIFF_LESS);
	assert_null(row_named(&pair.diff, "lex_faster")->rows[0]);
	assert_int_equal(row_named(&pair.diff, "lex_faster")->verdict, DIFF_MORE);
	assert_int_equal(row_named(&pair.diff, "parse")->verdict, DIFF_SAME);
	pair_end(&pair);
}

static void another_command_is_worth_knowing_and_no_obstacle(void **state)
{
	struct scenario after = before;
	struct pair pair;

	(void)state;
	after.seed = 1;
	after.program = "./demo.new";
	pair_make(&pair, &before, &after);
	assert_int_equal(pair.diff.state, DIFF_STATE_SAME);
	assert_non_null(findings_find(&pair.diff.mismatches, CODE_MISMATCH_COMMAND));
	pair_end(&pair);
}

static void recordings_with_too_few_samples_are_refused(void **state)
{
	const struct scenario tiny = { .epochs = 2,
				       .samples_per_cell = 4,
				       .shares = { 0.4, 0.24, 0.18, 0.12, 0.06 } };
	const struct diff_options options = { .within = 0 };
	struct diff_side sides[2];
	struct made made[2];
	struct error error;
	struct diff diff;

	(void)state;
	scenario_make(&made[0], &before, SCENARIO_BY);
	scenario_make(&made[1], &tiny, SCENARIO_BY);
	for (int i = 0; i < 2; i++)
		sides[i] = (struct diff_side){ &made[i].report, &made[i].bundle, NULL };
	assert_int_equal(diff_make(&diff, sides, &options, &error), STATUS_UNSUPPORTED);
	assert_non_null(strstr(error.text, "16 samples"));
	scenario_end(&made[1]);
	scenario_end(&made[0]);
}

static void the_document_has_what_the_contract_says(void **state)
{
	const struct scenario after = { .epochs = 40,
					.samples_per_cell = 100,
					.seed = 1,
					.shares = { 0.24, 0.4, 0.18, 0.12, 0.06 } };
	json_t *document, *rows, *row;
	struct output output;
	struct pair pair;
	size_t i;

	(void)state;
	pair_make(&pair, &before, &after);
	output_init(&output);
	assert_int_equal(diff_json(&pair.diff, &output, NULL), STATUS_OK);
	document = json_loadb(output.text, output.size, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(document);
	assert_string_equal(json_string_value(json_object_get(document, "schema")), "assay.diff/1");
	row = json_object_get(document, "verdict");
	assert_string_equal(json_string_value(json_object_get(row, "state")), "workload-changed");
	assert_non_null(json_string_value(json_object_get(row, "text")));
	rows = json_object_get(document, "functions");
	assert_int_equal(json_array_size(rows), 5);
	json_array_foreach(rows, i, row)
	{
		const double a = json_number_value(json_object_get(row, "a"));
		const double b = json_number_value(json_object_get(row, "b"));
		const double delta = json_number_value(json_object_get(row, "delta"));

		assert_non_null(json_string_value(json_object_get(row, "name")));
		assert_non_null(json_object_get(row, "module"));
		assert_non_null(json_string_value(json_object_get(row, "verdict")));
		assert_true(fabs(b - a - delta) < 1e-12);
		assert_true(json_number_value(json_object_get(row, "lo")) <= delta);
		assert_true(json_number_value(json_object_get(row, "hi")) >= delta);
	}
	json_decref(document);
	output_release(&output);
	pair_end(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_recording_of_the_same_program_is_the_same),
		cmocka_unit_test(a_recording_is_the_same_as_itself_and_every_interval_is_zero),
		cmocka_unit_test(a_program_that_spends_its_time_elsewhere_has_changed),
		cmocka_unit_test(two_fixed_clocks_never_say_that_the_workload_changed),
		cmocka_unit_test(one_fixed_clock_is_enough_to_doubt_a_change),
		cmocka_unit_test(a_clock_that_is_known_to_be_locked_is_the_answer),
		cmocka_unit_test(what_a_loss_could_make_is_a_difference_of_the_measurement),
		cmocka_unit_test(what_other_programs_could_make_is_a_difference_of_the_measurement),
		cmocka_unit_test(
			a_change_beyond_what_other_programs_could_make_is_one_of_the_workload),
		cmocka_unit_test(few_samples_do_not_make_recordings_the_same),
		cmocka_unit_test(another_processor_is_no_change_of_the_workload),
		cmocka_unit_test(shares_with_and_without_kernel_code_are_not_compared),
		cmocka_unit_test(a_function_that_came_and_one_that_went_are_both_changes),
		cmocka_unit_test(another_command_is_worth_knowing_and_no_obstacle),
		cmocka_unit_test(recordings_with_too_few_samples_are_refused),
		cmocka_unit_test(the_document_has_what_the_contract_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
