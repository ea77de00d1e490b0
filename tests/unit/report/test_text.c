/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Golden reports: tests/data/report/NAME.txt and .json. `BLESS=1 make check` (or BLESS=1 before this
 * program) writes them anew; read the difference before you commit it.
 */
#include <ctype.h>
#include <stdlib.h>

#include "report/json.h"
#include "report/text.h"
#include "unit/report/golden.h"
#include "unit/report/scenario.h"

static const struct scenario settled = { .epochs = 20,
					 .samples_per_cell = 100,
					 .shares = { 0.4, 0.24, 0.18, 0.12, 0.06 },
					 .stacks = true };
static const struct scenario close_race = { .epochs = 20,
					    .samples_per_cell = 50,
					    .shares = { 0.4, 0.2, 0.19, 0.18, 0.03 } };
static const struct scenario few = { .epochs = 2,
				     .samples_per_cell = 4,
				     .shares = { 0.4, 0.2, 0.2, 0.1, 0.1 } };
static const struct scenario empty = { .epochs = 6, .samples_per_cell = 0 };
static const struct scenario lossy = { .epochs = 20,
				       .samples_per_cell = 50,
				       .shares = { 0.4, 0.3, 0.2, 0.08, 0.02 },
				       .lost_in_epoch_3 = 300 };
static const struct scenario killed = { .epochs = 20,
					.samples_per_cell = 50,
					.shares = { 0.4, 0.3, 0.2, 0.08, 0.02 },
					.unfinished = true };
static const struct scenario fixed = {
	.epochs = 20, .samples_per_cell = 50, .shares = { 0.4, 0.3, 0.2, 0.08, 0.02 }, .fixed = true
};
static const struct scenario hostile = {
	.epochs = 20,
	.samples_per_cell = 50,
	.shares = { 0.3, 0.25, 0.2, 0.15, 0.1 },
	.names = { "</script><script>alert(1)</script>", "\033[2J\033]0;owned\a",
		   "tab\there \xff\xfe bad", "\u202egnp.exe", "a\\x1b\\n" },
	.comm = "c\x1b[31m\nd",
};

static void render(const struct made *made, const struct text_options *options,
		   struct output *output)
{
	output_init(output);
	report_text_render(&made->report, options, output);
	assert_int_equal(output_check(output, NULL), STATUS_OK);
}

static void text_is_golden(const char *name, const struct scenario *scenario, unsigned int by,
			   const struct text_options *options)
{
	struct output output;
	struct made made;

	scenario_make(&made, scenario, by);
	render(&made, options, &output);
	golden_check("report", name, &output);
	output_release(&output);
	scenario_end(&made);
}

static void a_settled_recording_reads_as_before(void **state)
{
	const struct text_options plain = { .percent_limit = 0.5, .max_rows = 40 };
	const struct text_options rich = {
		.unicode = true, .colour = true, .verbose = true, .samples = true
	};

	(void)state;
	text_is_golden("settled.txt", &settled, SCENARIO_BY, &plain);
	text_is_golden("settled-verbose.txt", &settled, SCENARIO_BY, &rich);
}

static void an_open_order_reads_as_before(void **state)
{
	const struct text_options options = { .unicode = true };

	(void)state;
	text_is_golden("close-race.txt", &close_race, SCENARIO_BY, &options);
}

static void few_samples_are_called_few(void **state)
{
	const struct text_options options = { 0 };

	(void)state;
	text_is_golden("few.txt", &few, SCENARIO_BY, &options);
}

static void no_samples_are_called_none(void **state)
{
	const struct text_options options = { 0 };

	(void)state;
	text_is_golden("empty.txt", &empty, SCENARIO_BY, &options);
}

static void loss_is_told_with_place_and_share(void **state)
{
	const struct text_options options = { 0 };

	(void)state;
	text_is_golden("lossy.txt", &lossy, SCENARIO_BY, &options);
}

static void a_killed_recording_says_so(void **state)
{
	const struct text_options options = { 0 };

	(void)state;
	text_is_golden("killed.txt", &killed, SCENARIO_BY, &options);
}

static void a_recording_without_randomised_clock_says_so(void **state)
{
	const struct text_options options = { 0 };

	(void)state;
	text_is_golden("fixed.txt", &fixed, SCENARIO_BY, &options);
}

static void hostile_names_never_reach_the_terminal(void **state)
{
	const struct text_options options = { .unicode = true, .verbose = true };
	struct output output;
	struct made made;

	(void)state;
	scenario_make(&made, &hostile, SCENARIO_BY | REPORT_BY_COMM);
	render(&made, &options, &output);
	for (size_t i = 0; i < output.size; i++)
		assert_true(output.text[i] == '\n' || !iscntrl((unsigned char)output.text[i]));
	assert_null(strstr(output.text, "\u202e"));
	assert_non_null(strstr(output.text, "</script><script>alert(1)</script>"));
	golden_check("report", "hostile.txt", &output);
	output_release(&output);
	scenario_end(&made);
}

static void json_reads_as_before(void **state)
{
	static const struct {
		const char *name;
		const struct scenario *scenario;
	} cases[] = { { "settled.json", &settled },
		      { "few.json", &few },
		      { "empty.json", &empty },
		      { "lossy.json", &lossy },
		      { "fixed.json", &fixed } };
	const struct json_options options = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct output output;
		struct made made;

		scenario_make(&made, cases[i].scenario, SCENARIO_BY);
		output_init(&output);
		assert_int_equal(report_json(&made.report, &options, &output, NULL), STATUS_OK);
		golden_check("report", cases[i].name, &output);
		output_release(&output);
		scenario_end(&made);
	}
}

static void two_reports_on_one_bundle_are_the_same_bytes(void **state)
{
	const struct text_options options = { .unicode = true, .verbose = true };
	struct output outputs[2];
	struct made made;

	(void)state;
	scenario_make(&made, &close_race, SCENARIO_BY);
	render(&made, &options, &outputs[0]);
	report_release(&made.report);
	table_release(&made.table);
	profile_release(&made.profile);
	symbolizer_free(made.symbolizer);
	bundle_close(&made.bundle);
	scenario_profile(&made, &close_race, SCENARIO_BY);
	render(&made, &options, &outputs[1]);
	assert_string_equal(outputs[0].text, outputs[1].text);
	output_release(&outputs[0]);
	output_release(&outputs[1]);
	scenario_end(&made);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_settled_recording_reads_as_before),
		cmocka_unit_test(an_open_order_reads_as_before),
		cmocka_unit_test(few_samples_are_called_few),
		cmocka_unit_test(no_samples_are_called_none),
		cmocka_unit_test(loss_is_told_with_place_and_share),
		cmocka_unit_test(a_killed_recording_says_so),
		cmocka_unit_test(a_recording_without_randomised_clock_says_so),
		cmocka_unit_test(hostile_names_never_reach_the_terminal),
		cmocka_unit_test(json_reads_as_before),
		cmocka_unit_test(two_reports_on_one_bundle_are_the_same_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
