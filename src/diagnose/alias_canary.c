/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A fixed clock that did run beside the randomised ones: where they disagree, a conventional profile of
 * this program is wrong, whatever the cause; no period need be known. And the flip test: is its first
 * function the wrong one? Several canaries (a mixed schedule) are tested one by one.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "diagnose/alias.h"
#include "diagnose/conduct.h"
#include "diagnose/finding_code.h"
#include "estimate/flip.h"

#define COUNTING_Z 3.3 /* two-sided 1e-3, as below */
#define FLIP_P     0.01
#define FLIP_Z     3.3 /* one-sided 5e-4: several pairs are looked at */

static const struct matrix_function *function_at(const struct alias *alias, size_t function)
{
	return &alias->matrix->functions[function];
}

static bool is_rest(const struct alias *alias, size_t function)
{
	return function + 1 == alias->matrix->n;
}

static void canary_name(const struct alias *alias, uint32_t canary, char *text, size_t size)
{
	char rate[48];

	if (alias->canary_period_ns[canary] > 0)
		snprintf(text, size, "canary of %s",
			 alias_rate_name(alias->canary_period_ns[canary], rate, sizeof(rate)));
	else
		snprintf(text, size, "canary %u", canary + 1);
}

/*
 * The function that the canary shows most wrongly. The largest t need not be it: where clock and program
 * drift against each other, the function that is off most also varies most between epochs. So once the
 * max-t test has found the two clocks to disagree, every function counts whose difference in this very
 * recording is beyond what counting alone would give.
 */
static bool function_differs(const struct alias *alias,
			     const struct estimate_canary_function *function, double tests)
{
	const double n_can = (double)alias->matrix->canary_samples,
		     n = (double)alias->matrix->samples,
		     p = (double)alias->matrix->functions[function->function].samples / n,
		     own = p + function->difference, mixed = fmin(1, fmax(p, own));
	const double v = mixed * (1 - mixed) * (1 / n_can + 1 / n) * fmax(1, alias->design_effect);

	if (is_rest(alias, function->function))
		return false;
	return function->p_value * tests * (double)alias->n_families < ALIAS_P_POSSIBLE ||
	       fabs(function->difference) > COUNTING_Z * sqrt(v);
}

static const struct estimate_canary_function *
function_worst(const struct alias *alias, const struct estimate_canary *canary, double tests)
{
	const struct estimate_canary_function *worst = &canary->worst;

	if (worst->p_value * tests * (double)alias->n_families >= ALIAS_P_POSSIBLE)
		return worst;
	for (size_t f = 0; f < canary->n_functions; f++)
		if (canary->functions[f].error_hi > worst->error_hi &&
		    function_differs(alias, &canary->functions[f], tests))
			worst = &canary->functions[f];
	return worst;
}

static enum status candidate_add(struct alias *alias, const struct estimate_canary *canary,
				 const char *name, uint32_t number, double tests,
				 struct error *error)
{
	const struct estimate_canary_function *worst;
	enum status status = STATUS_OK;
	struct alias_candidate *candidate = alias_candidate_add(alias, name, &status);

	if (status != STATUS_OK)
		return error_set(error, status, "not enough memory for the diagnosis");
	if (!candidate)
		return STATUS_OK;
	candidate->period_ns = alias->canary_period_ns[number];
	candidate->statistic_name = "t";
	candidate->why = canary->why;
	if (canary->why)
		return STATUS_OK;
	worst = function_worst(alias, canary, tests);
	candidate->statistic = canary->worst.t;
	candidate->p_value = fmin(1, canary->worst.p_value * tests);
	candidate->concentration = fmin(1, fabs(worst->difference));
	candidate->share_error_hi = worst->error_hi;
	candidate->verdict = alias_verdict(candidate->p_value, candidate->share_error_hi,
					   (double)alias->n_families);
	return STATUS_OK;
}

static void canary_finding(const struct alias *alias, const struct estimate_canary *canary,
			   const char *name, const struct alias_candidate *candidate, double tests,
			   struct findings *findings)
{
	const bool locked = candidate->verdict == ESTIMATE_LOCK_LOCKED;
	const struct estimate_canary_function *worst = function_worst(alias, canary, tests);
	char difference[32], at_most[32];
	struct finding *finding;

	if (candidate->verdict == ESTIMATE_LOCK_NONE)
		return;
	finding = findings_add(
		findings, locked ? CODE_ALIAS_LOCKED : CODE_ALIAS_POSSIBLE, FINDING_WARNING,
		"The %s, sampling as a conventional profiler does, %s with the randomised clocks: "
		"it puts "
		"%s %s %s. A conventional profile of this program is wrong by up to %s; the shares "
		"here "
		"come from the randomised clocks.",
		name, locked ? "disagrees" : "may disagree",
		function_at(alias, worst->function)->name,
		conduct_percent(fabs(worst->difference), difference, sizeof(difference)),
		worst->difference > 0 ? "too high" : "too low",
		conduct_percent(worst->error_hi, at_most, sizeof(at_most)));
	if (finding)
		finding->elsewhere = true;
	finding_next(
		findings, finding,
		"Of this program, distrust profiles taken at a fixed rate; compare with tools that "
		"randomise.");
	for (size_t f = 0; f < canary->n_functions; f++) {
		const struct estimate_canary_function *function = &canary->functions[f];

		if (function_differs(alias, function, tests))
			finding_touches(
				findings, finding, function_at(alias, function->function)->name,
				function_at(alias, function->function)->module, function->error_hi);
	}
	finding_text(findings, finding, "test", "canary");
	finding_number(findings, finding, "period_ns", candidate->period_ns);
	finding_number(findings, finding, "t", canary->worst.t);
	finding_number(findings, finding, "p_value", candidate->p_value);
	finding_number(findings, finding, "difference", worst->difference);
	finding_number(findings, finding, "share_error_hi", candidate->share_error_hi);
	finding_number(findings, finding, "canary_samples", (double)alias->matrix->canary_samples);
	finding_number(findings, finding, "samples", (double)alias->matrix->samples);
}

/* Counts by function of one canary, and of the randomised clocks; the rest of the functions is left out,
 * since it is no function. */
static enum status flip_counts(const struct alias *alias, uint32_t column, uint64_t *canary,
			       uint64_t *randomised)
{
	const struct matrix *matrix = alias->matrix;

	for (size_t f = 0; f + 1 < matrix->n; f++)
		for (uint32_t e = 0; e < matrix->n_epochs; e++) {
			canary[f] += *matrix_cell(matrix, f, e, column);
			for (uint32_t c = 0; c < matrix->n_clocks; c++)
				randomised[f] += *matrix_cell(matrix, f, e, c);
		}
	return STATUS_OK;
}

/* The canary has the two the wrong way round by more than its own few samples explain: its difference of
 * shares against that of the randomised clocks, in standard errors of both. Without this, two functions
 * that are nearly equal would be swapped by chance and called aliased. */
static double flip_z(const struct alias *alias, const uint64_t *canary, const uint64_t *randomised,
		     size_t shown, size_t truly)
{
	const double n_can = (double)alias->matrix->canary_samples,
		     n = (double)alias->matrix->samples;
	const double can_a = (double)canary[shown] / n_can, can_b = (double)canary[truly] / n_can;
	const double rnd_a = (double)randomised[shown] / n, rnd_b = (double)randomised[truly] / n;
	const double d = fmax(1, alias->design_effect);
	/* variance of a difference of two multinomial shares */
	const double v = (rnd_a + rnd_b - (rnd_a - rnd_b) * (rnd_a - rnd_b)) * (d / n_can + d / n);

	return v > 0 ? ((can_a - can_b) - (rnd_a - rnd_b)) / sqrt(v) : 0;
}

static void flip_finding(const struct alias *alias, const struct estimate_flip *flip,
			 const uint64_t *canary, const uint64_t *randomised, const char *name,
			 double tests, struct findings *findings)
{
	const struct estimate_flip_pair *pair = NULL;
	size_t shown = flip->shown, truly = flip->truly;
	double p = fmin(1, flip->p_value * tests), total = (double)alias->matrix->samples,
	       difference;
	const bool first = flip->differs && p < FLIP_P &&
			   flip_z(alias, canary, randomised, shown, truly) > FLIP_Z;
	struct finding *finding;
	char size[32];

	for (size_t i = 0; i < flip->n_pairs && !first; i++)
		if (flip->pairs[i].flipped &&
		    flip->pairs[i].p_value * tests * ESTIMATE_FLIP_PAIRS < FLIP_P &&
		    flip_z(alias, canary, randomised, flip->pairs[i].shown_above,
			   flip->pairs[i].truly_above) > FLIP_Z &&
		    (!pair || flip->pairs[i].p_value < pair->p_value))
			pair = &flip->pairs[i];
	if (!first && !pair)
		return;
	if (pair) {
		shown = pair->shown_above;
		truly = pair->truly_above;
		p = fmin(1, pair->p_value * tests * ESTIMATE_FLIP_PAIRS);
	}
	difference = ((double)randomised[truly] - (double)randomised[shown]) / total;
	finding = findings_add(findings, CODE_ALIAS_FLIP, FINDING_WARNING,
			       "The %s %s %s above %s; by the randomised clocks it is the other "
			       "way round, by %s of the "
			       "time. Whoever optimises by a conventional profile of this program "
			       "starts with the wrong "
			       "function.",
			       name, first ? "puts first" : "ranks",
			       function_at(alias, shown)->name, function_at(alias, truly)->name,
			       conduct_percent(difference, size, sizeof(size)));
	if (finding)
		finding->elsewhere = true;
	finding_next(findings, finding,
		     "Trust the order of this report (randomised clocks), not that of a profile at "
		     "a fixed "
		     "rate.");
	finding_touches(findings, finding, function_at(alias, shown)->name,
			function_at(alias, shown)->module,
			fabs((double)canary[shown] / (double)alias->matrix->canary_samples -
			     (double)randomised[shown] / total));
	finding_touches(findings, finding, function_at(alias, truly)->name,
			function_at(alias, truly)->module,
			fabs((double)canary[truly] / (double)alias->matrix->canary_samples -
			     (double)randomised[truly] / total));
	finding_text(findings, finding, "test", "flip");
	finding_text(findings, finding, "shown_first", function_at(alias, shown)->name);
	finding_text(findings, finding, "truly_first", function_at(alias, truly)->name);
	finding_number(findings, finding, "first_place", first);
	finding_number(findings, finding, "p_value", p);
	finding_number(findings, finding, "shown_samples", (double)randomised[shown]);
	finding_number(findings, finding, "truly_samples", (double)randomised[truly]);
	finding_number(findings, finding, "design_effect", alias->design_effect);
}

static enum status flip_examine(const struct alias *alias, uint32_t column, const char *name,
				double tests, struct findings *findings, struct error *error)
{
	const size_t n = alias->matrix->n;
	uint64_t *canary = calloc(n + 1, sizeof(*canary)),
		 *randomised = calloc(n + 1, sizeof(*randomised));
	enum status status = STATUS_OK;

	if (!canary || !randomised) {
		status = error_set(error, STATUS_NO_MEMORY, "not enough memory for the diagnosis");
	} else {
		struct estimate_flip flip;

		status = flip_counts(alias, column, canary, randomised);
		flip = estimate_flip(canary, randomised, n, alias->design_effect, 0.05 / tests);
		flip_finding(alias, &flip, canary, randomised, name, tests, findings);
	}
	free(canary);
	free(randomised);
	return status;
}

static enum status canary_examine(struct alias *alias, uint32_t number,
				  const struct matrix_table *randomised, struct findings *findings,
				  struct error *error)
{
	const uint32_t column = alias->matrix->n_clocks + number;
	const double tests = alias->matrix->n_canaries;
	struct estimate_canary canary;
	struct matrix_table fixed;
	char name[80];
	enum status status;

	status = matrix_table_make(&fixed, alias->matrix, column, column + 1, false, error);
	if (status != STATUS_OK)
		return status;
	status = estimate_canary(&canary, &fixed.table, &randomised->table, error);
	matrix_table_release(&fixed);
	if (status != STATUS_OK)
		return status;
	canary_name(alias, number, name, sizeof(name));
	status = candidate_add(alias, &canary, name, number, tests, error);
	if (status == STATUS_OK && alias->n && !canary.why) {
		canary_finding(alias, &canary, name, &alias->candidates[alias->n - 1], tests,
			       findings);
		status = flip_examine(alias, column, name, tests, findings, error);
	}
	estimate_canary_release(&canary);
	return status;
}

enum status alias_canary(struct alias *alias, struct findings *findings, struct error *error)
{
	struct matrix_table randomised;
	enum status status = matrix_table_make(&randomised, alias->matrix, 0,
					       alias->matrix->n_clocks, true, error);

	if (status != STATUS_OK)
		return status;
	for (uint32_t i = 0; i < alias->matrix->n_canaries && status == STATUS_OK; i++)
		status = canary_examine(alias, i, &randomised, findings, error);
	matrix_table_release(&randomised);
	return status;
}
