/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What regimes mean: the workload changed, or the measurement did. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "diagnose/conduct.h"
#include "diagnose/finding_code.h"
#include "diagnose/regime.h"

#define RATE_RANGE     1.25 /* largest over smallest mean period of an epoch */
#define FUNCTIONS_TOLD 5
#define MISSING_P      0.01
#define MISSING_SHIFT  0.02

static double since_start_s(const struct regimes *regimes, size_t epoch)
{
	return (double)(regimes->epochs[epoch].start_ns - regimes->epochs[0].start_ns) / 1e9;
}

/* "3.2 s", "3.2, 5.0 and 7.1 s" */
static void times_list(const struct regimes *regimes, char *text, size_t size)
{
	size_t told = 0;

	text[0] = '\0';
	for (size_t e = 1; e < regimes->n_epochs; e++) {
		if (regimes->epochs[e].regime == regimes->epochs[e - 1].regime)
			continue;
		told++;
		snprintf(text + strlen(text), size - strlen(text), "%s%.1f",
			 told == 1                ? ""
			 : told + 1 == regimes->n ? " and "
						  : ", ",
			 since_start_s(regimes, e));
	}
	snprintf(text + strlen(text), size - strlen(text), " s");
}

static void workload_find(struct findings *findings, const struct regimes *regimes,
			  const struct matrix *matrix, bool randomised)
{
	char times[160], from[32], to[32], move[32];
	const struct regime_function *most;
	struct finding *finding;

	if (regimes->n < 2 || !regimes->n_functions)
		return;
	most = &regimes->functions[0];
	for (size_t i = 1; i < regimes->n_functions; i++)
		if (regimes->functions[i].high - regimes->functions[i].low > most->high - most->low)
			most = &regimes->functions[i];
	times_list(regimes, times, sizeof(times));
	finding = findings_add(
		findings, CODE_REGIME, randomised ? FINDING_WARNING : FINDING_INFO,
		"%s%s after the start: %s went from %s to %s between stretches (sampling alone "
		"moves it by "
		"%s). %s",
		randomised ? (regimes->n >= REGIMES_MAX
				      ? "The workload changed again and again, first "
				      : "The workload changed ")
			   : "Shares changed ",
		times, matrix->functions[most->function].name,
		conduct_percent(most->falls ? most->high : most->low, from, sizeof(from)),
		conduct_percent(most->falls ? most->low : most->high, to, sizeof(to)),
		conduct_percent(most->expected, move, sizeof(move)),
		randomised ? "One share for the whole recording is an average of different things."
			   : "The workload changed, or the fixed clock drifted through a cycle of "
			     "the program: "
			     "this recording cannot tell which.");
	finding_next(findings, finding,
		     randomised ? "Report the stretches one by one (--time START,STOP), or record "
				  "a steady part."
				: "Record with randomised clocks to tell the two apart.");
	for (size_t i = 0; i < regimes->n_functions && i < FUNCTIONS_TOLD; i++) {
		const struct regime_function *function = &regimes->functions[i];

		if (function->observed > 1.5 * function->expected)
			finding_touches(findings, finding,
					matrix->functions[function->function].name,
					matrix->functions[function->function].module, NAN);
	}
	finding_number(findings, finding, "regimes", (double)regimes->n);
	finding_text(findings, finding, "at", times);
	finding_number(findings, finding, "p_value", regimes->p_value);
	finding_number(findings, finding, "largest_move", regimes->largest);
	for (size_t i = 0; i < regimes->n_functions && i < FUNCTIONS_TOLD; i++) {
		const struct regime_function *function = &regimes->functions[i];
		char key[64];

		snprintf(key, sizeof(key), "function_%zu", i + 1);
		finding_text(findings, finding, key, matrix->functions[function->function].name);
		snprintf(key, sizeof(key), "function_%zu_sd", i + 1);
		finding_number(findings, finding, key, function->observed);
		snprintf(key, sizeof(key), "function_%zu_sd_expected", i + 1);
		finding_number(findings, finding, key, function->expected);
	}
}

/* Epochs in which samples are missing have other shares than the rest. */
static void missing_find(struct findings *findings, const struct regimes *regimes,
			 const struct matrix *matrix)
{
	struct finding *finding;
	char shift[32];

	if (isnan(regimes->missing_p) || regimes->missing_p >= MISSING_P ||
	    regimes->missing_shift < MISSING_SHIFT)
		return;
	finding = findings_add(findings, CODE_REGIME_MEASUREMENT, FINDING_WARNING,
			       "In %zu of %zu epochs many samples were lost or throttled, and "
			       "there shares look different (%s by "
			       "%s): the measurement changed, which says nothing of the workload.",
			       regimes->missing_epochs, regimes->n_epochs,
			       matrix->functions[regimes->missing_function].name,
			       conduct_percent(regimes->missing_shift, shift, sizeof(shift)));
	finding_next(findings, finding,
		     "See the findings loss and throttle; trust the other epochs.");
	finding_touches(findings, finding, matrix->functions[regimes->missing_function].name,
			matrix->functions[regimes->missing_function].module,
			regimes->missing_shift * (double)regimes->missing_epochs /
				(double)regimes->n_epochs);
	finding_number(findings, finding, "epochs", (double)regimes->missing_epochs);
	finding_number(findings, finding, "p_value", regimes->missing_p);
	finding_number(findings, finding, "shift", regimes->missing_shift);
}

/* The sampling rate was not the same throughout. */
static void rate_find(struct findings *findings, const struct regimes *regimes)
{
	double low = INFINITY, high = 0;
	struct finding *finding;
	size_t at = 0;

	for (size_t e = 0; e < regimes->n_epochs; e++) {
		const double period = regimes->epochs[e].mean_period;

		if (isnan(period) || !regimes->epochs[e].samples)
			continue;
		if (period > high && low < INFINITY)
			at = e;
		low = fmin(low, period);
		high = fmax(high, period);
	}
	if (!(high > RATE_RANGE * low))
		return;
	finding = findings_add(
		findings, CODE_REGIME_MEASUREMENT, regimes->n > 1 ? FINDING_WARNING : FINDING_INFO,
		"The sampling rate was not the same throughout: mean periods of epochs are between "
		"%.3g and %.3g. "
		"Where it was higher, a stretch of the program counts for more samples.%s",
		low, high,
		regimes->n > 1
			? " Since the workload changed too, weights matter: see period_weights."
			: "");
	finding_next(
		findings, finding,
		"Fix the rate (-F), or use a larger --budget so that it need not be adjusted.");
	finding_number(findings, finding, "lowest_mean_period", low);
	finding_number(findings, finding, "highest_mean_period", high);
	finding_number(findings, finding, "at_s", since_start_s(regimes, at));
}

void regimes_findings(struct findings *findings, const struct regimes *regimes,
		      const struct matrix *matrix, bool randomised)
{
	workload_find(findings, regimes, matrix, randomised);
	missing_find(findings, regimes, matrix);
	rate_find(findings, regimes);
}
