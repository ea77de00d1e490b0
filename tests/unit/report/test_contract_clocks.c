/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/test.h"

#include <math.h>
#include <string.h>

#include "report/contract_clocks.h"
#include "report/contract_text.h"

#define EPOCHS 3

/* Two random clocks and a canary on cpu-clock; epochs of a second of CPU time. */
struct scene {
	struct manifest manifest;
	struct manifest_clock all[3];
	struct manifest_epoch epochs[EPOCHS];
	struct manifest_epoch_clock cells[EPOCHS][3];
	struct clocks clocks;
	struct report report;
};

static void scene_make(struct scene *scene)
{
	memset(scene, 0, sizeof(*scene));
	for (int c = 0; c < 3; c++)
		scene->all[c] = (struct manifest_clock){
			.kind = c < 2 ? SCHEDULE_JITTER : SCHEDULE_FIXED,
			.randomised = c < 2,
			.mean_period = 10e6,
			.low = c < 2 ? 0.5 : 1,
			.high = c < 2 ? 1.5 : 1,
			.target_hz = 100,
		};
	for (int e = 0; e < EPOCHS; e++) {
		scene->epochs[e] = (struct manifest_epoch){ .target_cpu_ns = 1000000000,
							    .end_ns = 2000000000,
							    .clocks = scene->cells[e] };
		for (int c = 0; c < 3; c++)
			scene->cells[e][c].mean_period = 10e6;
	}
	scene->manifest.clocks = scene->all;
	scene->manifest.n_clocks = 3;
	scene->manifest.epochs = scene->epochs;
	scene->manifest.n_epochs = EPOCHS;
	scene->manifest.scope = SCOPE_CGROUP;
	scene->manifest.min_period_ns = 100000;
	scene->clocks = (struct clocks){ .n_clocks = 2,
					 .n_canaries = 1,
					 .randomised = true,
					 .by_id = true,
					 .clock_of = { 0, 1, 2 } };
	scene->report.contract = (struct report_contract){ .unit = "ns",
							   .redraw = "block",
							   .clocks = 2,
							   .randomised = true,
							   .from_manifest = true,
							   .budget = NAN,
							   .mean_period = NAN,
							   .rate_hz = NAN,
							   .rate_first_hz = NAN,
							   .rate_last_hz = NAN };
}

static const struct report_contract *fill(struct scene *scene)
{
	contract_clocks(&scene->report.contract, &scene->manifest, &scene->clocks);
	return &scene->report.contract;
}

static void says(const struct report *report, void (*write)(const struct report *, struct output *),
		 const char *words)
{
	struct output out;

	output_init(&out);
	write(report, &out);
	if (!strstr(out.text, words))
		fail_msg("'%s' lacks '%s'", out.text, words);
	output_release(&out);
}

static void clocks_that_are_alike_are_told_together(void **state)
{
	struct scene scene;
	const struct report_contract *contract;

	(void)state;
	scene_make(&scene);
	contract = fill(&scene);
	assert_int_equal(contract->n_groups, 2);
	assert_int_equal(contract->groups[0].n, 2);
	assert_true(contract->groups[1].canary);
	assert_string_equal(contract->kind, "jitter");
	says(&scene.report, contract_clocks_text, "2 clocks, each a sample every 10 ms");
	says(&scene.report, contract_clocks_text, "beside them a canary with a fixed interval");
}

/* An exponential fits 2.1 samples into its mean: both are told, and which clock has which. */
static void clocks_that_differ_are_told_one_by_one(void **state)
{
	struct scene scene;

	(void)state;
	scene_make(&scene);
	scene.all[1].kind = SCHEDULE_EXP;
	scene.all[1].mean_period = 21e6;
	scene.all[1].low = 0.1;
	scene.all[1].high = 5;
	for (int e = 0; e < EPOCHS; e++)
		scene.cells[e][1].mean_period = 21e6;
	assert_string_equal(fill(&scene)->kind, "mixed");
	assert_int_equal(scene.report.contract.n_groups, 3);
	says(&scene.report, contract_clocks_text, "(jitter) from 0.5-1.5 of 10 ms");
	says(&scene.report, contract_clocks_text,
	     "every 10 ms of CPU time on average, "
	     "intervals drawn (exp) from 0.1-5 of 21 ms");
}

/* 200 a second were planned, and 200, 100 and 50 were taken. */
static void a_rate_that_followed_the_budget_is_the_one_that_was_realised(void **state)
{
	struct scene scene;
	const struct report_contract *contract;

	(void)state;
	scene_make(&scene);
	scene.manifest.budget = 0.01;
	for (int e = 0; e < EPOCHS; e++)
		for (int c = 0; c < 3; c++) {
			scene.cells[e][c].mean_period = 10e6 * (1 << e);
			scene.cells[e][c].samples = 100u >> e;
		}
	contract = fill(&scene);
	assert_true(fabs(contract->rate_hz - 350.0 / 3) < 1);
	assert_true(contract->rate_first_hz == 200 && contract->rate_last_hz == 50);
	/* 3 s hold 100 + 50 + 25 intervals. */
	assert_true(fabs(contract->mean_period - 3e9 / 175) < 1);
	says(&scene.report, contract_rate_text, "it fell from 200 to 50");
}

static void a_rate_that_was_asked_for_is_the_planned_one(void **state)
{
	struct scene scene;

	(void)state;
	scene_make(&scene);
	scene.cells[0][0].samples = 1;
	assert_true(fill(&scene)->rate_hz == 200);
	assert_true(isnan(scene.report.contract.rate_first_hz));
}

static void no_advice_is_given_that_the_safety_bound_forbids(void **state)
{
	struct scene scene;

	(void)state;
	scene_make(&scene);
	assert_true(fill(&scene)->faster_is_possible);
	says(&scene.report, contract_rate_text, "4 times the rate would halve");
	scene_make(&scene);
	scene.manifest.min_period_ns = 1300000; /* 4 times twice that are more than 10 ms */
	assert_false(fill(&scene)->faster_is_possible);
	says(&scene.report, contract_rate_text, "record 4 times as long");
	scene_make(&scene);
	scene.manifest.budget = 0.3;
	assert_false(fill(&scene)->faster_is_possible);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clocks_that_are_alike_are_told_together),
		cmocka_unit_test(clocks_that_differ_are_told_one_by_one),
		cmocka_unit_test(a_rate_that_followed_the_budget_is_the_one_that_was_realised),
		cmocka_unit_test(a_rate_that_was_asked_for_is_the_planned_one),
		cmocka_unit_test(no_advice_is_given_that_the_safety_bound_forbids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
