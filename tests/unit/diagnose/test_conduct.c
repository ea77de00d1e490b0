/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/test.h"

#include <math.h>
#include <string.h>

#include "diagnose/conduct.h"
#include "diagnose/finding_code.h"
#include "unit/diagnose/contract.h"

struct fixture {
	struct contract contract;
	struct findings findings;
};

static int setup(void **state)
{
	static struct fixture fixture;

	contract_init(&fixture.contract);
	findings_init(&fixture.findings);
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	findings_release(&f->findings);
	return 0;
}

static double number(const struct finding *finding, const char *key)
{
	for (size_t i = 0; i < finding->n_evidence; i++)
		if (!strcmp(finding->evidence[i].key, key))
			return finding->evidence[i].number;
	return NAN;
}

/* All findings; the one with this code, which must be the only one. */
static const struct finding *only(struct fixture *f, const char *code)
{
	conduct_find(&f->findings, &f->contract.manifest);
	assert_int_equal(f->findings.n, 1);
	assert_string_equal(f->findings.items[0].code, code);
	return &f->findings.items[0];
}

static void a_recording_as_planned_has_no_finding(void **state)
{
	struct fixture *f = *state;

	conduct_find(&f->findings, &f->contract.manifest);
	assert_int_equal(f->findings.n, 0);
}

static void loss_bounds_every_share_and_says_where_it_fell(void **state)
{
	struct fixture *f = *state;
	const struct finding *finding;

	f->contract.epochs[4].clocks[0].lost = 100;
	f->contract.epochs[5].clocks[1].lost = 300;
	f->contract.epochs[17].clocks[1].lost = 20;
	finding = only(f, CODE_LOSS);
	assert_int_equal(finding->severity, FINDING_BIAS);
	assert_true(finding->every_function);
	assert_true(fabs(finding->error_hi - 420.0 / 4420) < 1e-12);
	assert_true(number(finding, "worst_epoch") == 5);
	/* epochs 4 and 5 hold 400 of 420 */
	assert_true(fabs(number(finding, "from_s") - 0.8) < 1e-9);
	assert_true(fabs(number(finding, "to_s") - 1.2) < 1e-9);
	assert_non_null(strstr(finding->text, "between 0.8 and 1.2 s"));
}

static void a_few_lost_samples_are_only_worth_a_word(void **state)
{
	struct fixture *f = *state;
	const struct finding *finding;

	for (size_t e = 0; e < CONTRACT_EPOCHS; e++)
		f->contract.epochs[e].clocks[0].lost = e % 2;
	finding = only(f, CODE_LOSS);
	assert_int_equal(finding->severity, FINDING_INFO);
	assert_null(strstr(finding->text, "between"));
}

static void loss_of_a_canary_does_not_touch_the_estimates(void **state)
{
	struct fixture *f = *state;

	f->contract.clocks[1].randomised = false;
	f->contract.epochs[4].clocks[1].lost = 100;
	conduct_find(&f->findings, &f->contract.manifest);
	assert_int_equal(f->findings.n, 0);
}

static void throttled_time_is_a_bias_when_it_is_a_larger_part(void **state)
{
	struct fixture *f = *state;
	const struct finding *finding;

	f->contract.epochs[7].clocks[0].throttled = 3;
	f->contract.epochs[7].clocks[0].throttled_ns = 200000000;
	f->contract.epochs[8].clocks[0].throttled = 5;
	f->contract.epochs[8].clocks[0].throttled_ns = 200000000;
	finding = only(f, CODE_THROTTLE);
	assert_int_equal(finding->severity, FINDING_BIAS);
	assert_true(number(finding, "times") == 8);
	assert_true(fabs(finding->error_hi - 0.4 / 8) < 1e-12); /* 2 clocks of 4 s */
}

static void a_collector_that_came_late_is_starved(void **state)
{
	struct fixture *f = *state;
	const struct finding *finding;

	f->contract.epochs[3].late_ns = 40000000; /* a fifth of the epoch: no matter */
	f->contract.epochs[9].late_ns = 90000000;
	finding = only(f, CODE_STARVED);
	assert_int_equal(finding->severity, FINDING_WARNING);
	assert_true(number(finding, "epochs") == 1);
	assert_true(number(finding, "longest_ns") == 9e7);
}

static void time_between_epochs_is_uncovered(void **state)
{
	struct fixture *f = *state;
	const struct finding *finding;

	f->contract.epochs[9].end_ns -= 100000000;
	finding = only(f, CODE_UNCOVERED);
	assert_true(fabs(finding->error_hi - 0.1 / 4) < 1e-12);
	assert_int_equal(finding->severity, FINDING_BIAS);
}

static void retuning_is_a_warning_only_when_the_period_really_moved(void **state)
{
	struct fixture *f = *state;
	const struct finding *finding;

	f->contract.epochs[1].clocks[0].retuned = 10;
	f->contract.epochs[2].clocks[0].retuned = 10;
	finding = only(f, CODE_RETUNE);
	assert_int_equal(finding->severity, FINDING_INFO);
	findings_release(&f->findings);
	f->contract.epochs[2].clocks[0].realised_mean = 3e6;
	f->contract.epochs[2].clocks[0].intended_mean = 3e6;
	finding = only(f, CODE_RETUNE);
	assert_int_equal(finding->severity, FINDING_WARNING);
	assert_true(number(finding, "retunes") == 20);
}

static void intervals_longer_than_drawn_are_told_per_clock(void **state)
{
	struct fixture *f = *state;
	const struct finding *finding;

	for (int e = 0; e < CONTRACT_EPOCHS; e++)
		f->contract.epochs[e].clocks[1].realised_mean = 2.1e6;
	finding = only(f, CODE_FIDELITY_INTERVAL);
	assert_true(number(finding, "clock") == 1);
	assert_true(fabs(number(finding, "realised_mean") - 2.1e6) < 1);
	assert_non_null(strstr(finding->text, "5.0 % longer"));
}

static void intervals_that_grow_over_the_recording_drift(void **state)
{
	struct fixture *f = *state;
	const struct finding *finding;

	for (int e = 0; e < CONTRACT_EPOCHS; e++)
		f->contract.epochs[e].clocks[0].realised_mean =
			2e6 * (0.98 + 0.04 * e / CONTRACT_EPOCHS + 0.001 * (e % 3));
	finding = only(f, CODE_FIDELITY_DRIFT);
	assert_true(fabs(number(finding, "change") - 0.04) < 0.003);
	assert_true(number(finding, "p_value") < 1e-6);
}

/* The same spread in no order is no drift: a line through it explains nothing. */
static void intervals_that_scatter_do_not_drift(void **state)
{
	struct fixture *f = *state;

	for (int e = 0; e < CONTRACT_EPOCHS; e++)
		f->contract.epochs[e].clocks[0].realised_mean = 2e6 * (0.98 + 0.04 * (e % 2));
	conduct_find(&f->findings, &f->contract.manifest);
	assert_int_equal(f->findings.n, 0);
}

static void clocks_that_were_not_redrawn_are_told(void **state)
{
	struct fixture *f = *state;
	const struct finding *finding;

	for (int e = 0; e < CONTRACT_EPOCHS; e += 2)
		f->contract.epochs[e].clocks[0].redraws = 1;
	finding = only(f, CODE_FIDELITY_REDRAW);
	assert_true(number(finding, "not_redrawn") == 10);
	assert_true(number(finding, "cells") == 40);
}

static void without_a_randomised_clock_a_lock_would_not_show(void **state)
{
	struct fixture *f = *state;

	for (int k = 0; k < CONTRACT_CLOCKS; k++)
		f->contract.clocks[k] =
			(struct manifest_clock){ .kind = SCHEDULE_FIXED, .mean_period = 1e6 };
	f->contract.manifest.schedule = SCHEDULE_FIXED;
	f->contract.manifest.redraw = REDRAW_NONE;
	assert_int_equal(only(f, CODE_ALIAS_UNCHECKED)->severity, FINDING_WARNING);
}

static void where_every_occurrence_is_recorded_no_clock_can_be_in_step(void **state)
{
	struct fixture *f = *state;
	struct findings findings;

	for (int k = 0; k < CONTRACT_CLOCKS; k++)
		f->contract.clocks[k] =
			(struct manifest_clock){ .kind = SCHEDULE_FIXED, .mean_period = 1 };
	f->contract.manifest.redraw = REDRAW_NONE;
	findings_init(&findings);
	conduct_find_unchecked(&findings, &f->contract.manifest);
	assert_int_equal(findings.n, 0);
	findings_release(&findings);
}

static void one_draw_per_epoch_is_a_fixed_clock_within_it(void **state)
{
	struct fixture *f = *state;

	f->contract.manifest.redraw = REDRAW_NONE;
	for (int k = 0; k < CONTRACT_CLOCKS; k++)
		f->contract.clocks[k].redraw = REDRAW_NONE;
	only(f, CODE_ALIAS_UNCHECKED);
}

static void a_substituted_event_names_both(void **state)
{
	struct fixture *f = *state;
	const struct finding *finding;

	f->contract.event.asked = (char *)"cycles:pp";
	f->contract.event.why = (char *)"this machine has no PMU";
	finding = only(f, CODE_SUBSTITUTION);
	assert_non_null(strstr(finding->text, "cycles:pp"));
	assert_non_null(strstr(finding->text, "measured cpu-clock"));
	assert_non_null(strstr(finding->text, "no PMU"));
}

static void clocks_per_thread_are_a_warning_clocks_per_cpu_are_not(void **state)
{
	struct fixture *f = *state;
	const struct finding *finding;

	f->contract.manifest.scope = SCOPE_CPU;
	f->contract.manifest.scope_why = (char *)"cgroup v2 is not mounted";
	assert_int_equal(only(f, CODE_SUBSTITUTION_SCOPE)->severity, FINDING_INFO);
	findings_release(&f->findings);
	f->contract.manifest.scope = SCOPE_THREAD;
	finding = only(f, CODE_SUBSTITUTION_SCOPE);
	assert_int_equal(finding->severity, FINDING_WARNING);
	assert_non_null(strstr(finding->text, "cgroup v2 is not mounted"));
}

static void a_budget_that_was_not_kept_is_told_with_both_figures(void **state)
{
	struct fixture *f = *state;
	const struct finding *finding;

	f->contract.manifest.end.achieved = 0.012; /* within the slack of an estimate */
	conduct_find(&f->findings, &f->contract.manifest);
	assert_int_equal(f->findings.n, 0);
	f->contract.manifest.end.achieved = 0.02;
	finding = only(f, CODE_BUDGET);
	assert_non_null(strstr(finding->text, "cost 2.0 %"));
	assert_non_null(strstr(finding->text, "budget of 1.0 %"));
}

/* The advice fits what took the time, and is never the budget that was in force. */
static void the_advice_on_a_budget_names_what_ate_it(void **state)
{
	struct fixture *f = *state;
	struct manifest *manifest = &f->contract.manifest;
	const struct finding *finding;

	manifest->end.achieved = 0.02;
	manifest->sample_cost_ns = 0;
	manifest->epochs[0].collector_cpu_ns = 1000000000;
	finding = only(f, CODE_BUDGET);
	assert_non_null(strstr(finding->next, "100 % of that was assay's own work"));
	assert_null(strstr(finding->next, "instead of -F"));
	findings_release(&f->findings);
	manifest->sample_cost_ns = 1e12;
	finding = only(f, CODE_BUDGET);
	assert_non_null(strstr(finding->next, "Samples came faster"));
	findings_release(&f->findings);
	for (size_t c = 0; c < manifest->n_clocks; c++)
		manifest->clocks[c].mean_period = 1;
	finding = only(f, CODE_BUDGET);
	assert_non_null(strstr(finding->next, "-c N"));
}

static void without_a_budget_only_a_perturbing_cost_is_told(void **state)
{
	struct fixture *f = *state;

	f->contract.manifest.budget = 0;
	f->contract.manifest.end.achieved = 0.04;
	conduct_find(&f->findings, &f->contract.manifest);
	assert_int_equal(f->findings.n, 0);
	f->contract.manifest.end.achieved = 0.11;
	only(f, CODE_BUDGET);
}

static void tasks_too_short_to_sample_bias_only_clocks_per_thread(void **state)
{
	struct fixture *f = *state;
	const struct finding *finding;

	f->contract.manifest.end.tasks_seen = 100;
	f->contract.manifest.end.tasks_unsampled = 40;
	f->contract.manifest.end.unsampled_cpu_ns = 400000000; /* a tenth */
	finding = only(f, CODE_SHORT_TASKS);
	assert_int_equal(finding->severity, FINDING_INFO);
	findings_release(&f->findings);
	f->contract.manifest.scope = SCOPE_INHERIT;
	finding = only(f, CODE_SHORT_TASKS);
	assert_int_equal(finding->severity, FINDING_BIAS);
	assert_true(fabs(finding->error_hi - 0.1) < 1e-12);
}

static void a_recording_without_end_is_unfinished(void **state)
{
	struct fixture *f = *state;
	const struct finding *finding;

	f->contract.manifest.end = (struct manifest_end){ .present = false };
	finding = only(f, CODE_UNFINISHED);
	assert_non_null(strstr(finding->text, "20 in all"));
	findings_release(&f->findings);
	f->contract.manifest.end =
		(struct manifest_end){ .present = true, .reason = (char *)"disk-full" };
	finding = only(f, CODE_UNFINISHED);
	assert_non_null(strstr(finding->text, "disk"));
	findings_release(&f->findings);
	f->contract.manifest.end.reason = (char *)"file-limit";
	finding = only(f, CODE_UNFINISHED);
	assert_non_null(strstr(finding->next, "ulimit -f"));
}

/* Events have a finding each, which the recorder's incident of the same name must not repeat. */
static void another_schedule_or_rate_than_asked_for_is_a_substitution(void **state)
{
	struct fixture *f = *state;
	const struct finding *finding;

	f->contract.incidents[0] = (struct manifest_incident){ .code = (char *)CODE_SUBSTITUTION,
							       .unit = (char *)"cpu-clock",
							       .text = (char *)"an event" };
	f->contract.incidents[1] = (struct manifest_incident){ .code = (char *)CODE_SUBSTITUTION,
							       .unit = (char *)"schedule",
							       .text = (char *)"a fixed period" };
	f->contract.manifest.n_incidents = 2;
	finding = only(f, CODE_SUBSTITUTION);
	assert_non_null(strstr(finding->text, "schedule"));
	assert_non_null(strstr(finding->text, "a fixed period"));
	findings_release(&f->findings);
	f->contract.incidents[1].unit = (char *)"rate";
	finding = only(f, CODE_SUBSTITUTION);
	assert_non_null(strstr(finding->next, "longer"));
}

static void an_incident_of_its_own_kind_is_told_once_in_its_words(void **state)
{
	struct fixture *f = *state;
	const struct finding *finding;

	f->contract.incidents[0] =
		(struct manifest_incident){ .code = (char *)"loss", .text = (char *)"x" };
	f->contract.incidents[1] =
		(struct manifest_incident){ .code = (char *)"news", .text = (char *)"First." };
	f->contract.incidents[2] =
		(struct manifest_incident){ .code = (char *)"news", .text = (char *)"Second." };
	f->contract.manifest.n_incidents = 3;
	finding = only(f, "news");
	assert_non_null(strstr(finding->text, "First."));
	assert_true(number(finding, "incidents") == 2);
}

static void a_manifest_without_epochs_or_clocks_is_survived(void **state)
{
	struct fixture *f = *state;

	f->contract.manifest.n_epochs = 0;
	conduct_find(&f->findings, &f->contract.manifest);
	f->contract.manifest.n_clocks = 0;
	conduct_find(&f->findings, &f->contract.manifest);
	assert_int_equal(f->findings.n, 0);
}

static void percentages_and_times_show_the_digits_that_count(void **state)
{
	char text[32];

	(void)state;
	assert_string_equal(conduct_percent(0.5, text, sizeof(text)), "50 %");
	assert_string_equal(conduct_percent(0.0312, text, sizeof(text)), "3.1 %");
	assert_string_equal(conduct_percent(0.0003, text, sizeof(text)), "0.03 %");
	assert_string_equal(conduct_percent(0, text, sizeof(text)), "0 %");
	assert_string_equal(conduct_time(1234567, text, sizeof(text)), "1.2 ms");
	assert_string_equal(conduct_time(999.6e6, text, sizeof(text)), "1.0 s");
	assert_string_equal(conduct_time(12, text, sizeof(text)), "12 ns");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_recording_as_planned_has_no_finding),
		TEST(loss_bounds_every_share_and_says_where_it_fell),
		TEST(a_few_lost_samples_are_only_worth_a_word),
		TEST(loss_of_a_canary_does_not_touch_the_estimates),
		TEST(throttled_time_is_a_bias_when_it_is_a_larger_part),
		TEST(a_collector_that_came_late_is_starved),
		TEST(time_between_epochs_is_uncovered),
		TEST(retuning_is_a_warning_only_when_the_period_really_moved),
		TEST(intervals_longer_than_drawn_are_told_per_clock),
		TEST(intervals_that_grow_over_the_recording_drift),
		TEST(intervals_that_scatter_do_not_drift),
		TEST(clocks_that_were_not_redrawn_are_told),
		TEST(without_a_randomised_clock_a_lock_would_not_show),
		TEST(where_every_occurrence_is_recorded_no_clock_can_be_in_step),
		TEST(one_draw_per_epoch_is_a_fixed_clock_within_it),
		TEST(a_substituted_event_names_both),
		TEST(clocks_per_thread_are_a_warning_clocks_per_cpu_are_not),
		TEST(a_budget_that_was_not_kept_is_told_with_both_figures),
		TEST(the_advice_on_a_budget_names_what_ate_it),
		TEST(without_a_budget_only_a_perturbing_cost_is_told),
		TEST(tasks_too_short_to_sample_bias_only_clocks_per_thread),
		TEST(a_recording_without_end_is_unfinished),
		TEST(another_schedule_or_rate_than_asked_for_is_a_substitution),
		TEST(an_incident_of_its_own_kind_is_told_once_in_its_words),
		TEST(a_manifest_without_epochs_or_clocks_is_survived),
		TEST(percentages_and_times_show_the_digits_that_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
