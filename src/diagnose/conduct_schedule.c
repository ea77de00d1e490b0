/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether the clocks did what was drawn for them: retuning, realised against intended intervals, their
 * drift, redraws, and whether any clock was randomised at all.
 */
#include "diagnose/conduct.h"

#include <math.h>
#include <stdio.h>

#include "diagnose/finding_code.h"
#include "estimate/quantile.h"

#define FIDELITY_TOLERANCE  0.02 /* of the mean interval; above it a rate is not the stated one */
#define FIDELITY_SAMPLES    30   /* fewer intervals of a clock say nothing */
#define DRIFT_EPOCHS_MIN    8
#define DRIFT_P             0.01
#define RETUNE_RANGE_WARN   1.25 /* largest over smallest mean period of an epoch */
#define UNREDRAWN_PART_WARN 0.2  /* of the epochs */

void conduct_find_retune(struct findings *findings, const struct manifest *manifest)
{
	double retunes = 0, low = INFINITY, high = 0, samples = 0;
	struct finding *finding;

	for (size_t e = 0; e < manifest->n_epochs; e++)
		for (size_t k = 0; k < manifest->n_clocks; k++) {
			const struct manifest_epoch_clock *clock = &manifest->epochs[e].clocks[k];

			if (!conduct_clock_counts(manifest, k) || !clock->samples)
				continue;
			retunes += (double)clock->retuned;
			samples += (double)clock->samples;
			if (!clock->retuned || !(clock->realised_mean > 0))
				continue;
			low = fmin(low, clock->realised_mean);
			high = fmax(high, clock->realised_mean);
		}
	if (!(retunes > 0))
		return;
	finding = findings_add(
		findings, CODE_RETUNE,
		high > RETUNE_RANGE_WARN * low ? FINDING_WARNING : FINDING_INFO,
		"The kernel changed the period %.0f times in %.0f samples to steer towards a "
		"rate. A sample then stands for more events in one place than in another, and "
		"the period follows what the program does.",
		retunes, samples);
	finding_next(findings, finding,
		     "Shares here are weighted by the period; a period that assay draws "
		     "(--schedule jitter, "
		     "or -c) does not follow the program.");
	finding_number(findings, finding, "retunes", retunes);
	finding_number(findings, finding, "samples", samples);
	if (high > 0) {
		finding_number(findings, finding, "lowest_mean_period", low);
		finding_number(findings, finding, "highest_mean_period", high);
	}
}

/* Realised over intended mean interval of one clock in one epoch; NAN when too few. */
static double epoch_ratio(const struct manifest_epoch_clock *clock)
{
	if (!clock->intervals || !(clock->intended_mean > 0))
		return NAN;
	return clock->realised_mean / clock->intended_mean;
}

/* Straight line through the ratios of the epochs, weighted alike: how much the ratio changes from the
 * first to the last, and the two-sided P-value of no change (t with n - 2 degrees of freedom). */
struct drift {
	double change, p;
	size_t n;
};

static struct drift drift_of(const struct manifest *manifest, size_t k)
{
	double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0, syy = 0, residual, slope, error;
	struct drift drift = { 0, 1, 0 };

	for (size_t e = 0; e < manifest->n_epochs; e++) {
		const double y = epoch_ratio(&manifest->epochs[e].clocks[k]);
		const double x = (double)e / (double)manifest->n_epochs;

		if (isnan(y))
			continue;
		n++;
		sx += x;
		sy += y;
		sxx += x * x;
		sxy += x * y;
		syy += y * y;
	}
	drift.n = (size_t)n;
	sxx -= sx * sx / n;
	if (n < DRIFT_EPOCHS_MIN || sxx <= 0)
		return drift;
	sxy -= sx * sy / n;
	syy -= sy * sy / n;
	slope = sxy / sxx;
	residual = fmax(0, syy - slope * sxy) / (n - 2);
	error = sqrt(residual / sxx);
	drift.change = slope;
	drift.p = error > 0 ? 2 * tail_t(fabs(slope) / error, n - 2) : slope == 0 ? 1 : 0;
	return drift;
}

static void find_drift(struct findings *findings, const struct manifest *manifest, size_t k)
{
	const struct drift drift = drift_of(manifest, k);
	struct finding *finding;
	char percent[32];

	if (fabs(drift.change) <= FIDELITY_TOLERANCE || drift.p >= DRIFT_P)
		return;
	finding = findings_add(
		findings, CODE_FIDELITY_DRIFT, FINDING_WARNING,
		"The intervals of clock %zu (%s) became %s %s than drawn between the first and "
		"the last of %zu epochs: the rate did not stay what it was.",
		k, schedule_kind_name(manifest->clocks[k].kind),
		conduct_percent(fabs(drift.change), percent, sizeof(percent)),
		drift.change > 0 ? "longer" : "shorter", drift.n);
	finding_next(
		findings, finding,
		"Look for load or throttling that grew meanwhile; shares of early and late epochs "
		"stand for different numbers of samples.");
	finding_number(findings, finding, "clock", (double)k);
	finding_number(findings, finding, "change", drift.change);
	finding_number(findings, finding, "p_value", drift.p);
	finding_number(findings, finding, "epochs", (double)drift.n);
}

void conduct_find_fidelity(struct findings *findings, const struct manifest *manifest)
{
	for (size_t k = 0; k < manifest->n_clocks; k++) {
		double intervals = 0, realised = 0, intended = 0, ratio;
		struct finding *finding;
		char percent[32];

		for (size_t e = 0; e < manifest->n_epochs; e++) {
			const struct manifest_epoch_clock *clock = &manifest->epochs[e].clocks[k];
			const double n = (double)clock->intervals;

			if (isnan(epoch_ratio(clock)))
				continue;
			intervals += n;
			realised += n * clock->realised_mean;
			intended += n * clock->intended_mean;
		}
		if (intervals < FIDELITY_SAMPLES)
			continue;
		find_drift(findings, manifest, k);
		ratio = realised / intended;
		if (fabs(ratio - 1) <= FIDELITY_TOLERANCE)
			continue;
		finding = findings_add(
			findings, CODE_FIDELITY_INTERVAL, FINDING_WARNING,
			"The intervals of clock %zu (%s) were %s %s than drawn, over %.0f "
			"intervals that nothing cut short.",
			k, schedule_kind_name(manifest->clocks[k].kind),
			conduct_percent(fabs(ratio - 1), percent, sizeof(percent)),
			ratio > 1 ? "longer" : "shorter", intervals);
		finding_next(findings, finding,
			     "Lower the rate: intervals near the cost of a sample cannot be kept.");
		finding_number(findings, finding, "clock", (double)k);
		finding_number(findings, finding, "intervals", intervals);
		finding_number(findings, finding, "realised_mean", realised / intervals);
		finding_number(findings, finding, "intended_mean", intended / intervals);
	}
}

/* Epochs in which a clock that should be redrawn took samples but was given no new period. (Drawn afresh
 * at the start of each epoch, so one is not a redraw.) Samples below twice the block say nothing: the
 * epoch may be shorter than one block. */
static bool epoch_was_not_redrawn(const struct manifest_clock *clock,
				  const struct manifest_epoch_clock *epoch)
{
	const double block = clock->redraw == REDRAW_SAMPLE ? 1 : fmax(1, clock->block);

	return (double)epoch->samples > 4 * block && epoch->redraws <= 1;
}

void conduct_find_redraw(struct findings *findings, const struct manifest *manifest)
{
	size_t cells = 0, unredrawn = 0;
	struct finding *finding;
	char percent[32];

	for (size_t k = 0; k < manifest->n_clocks; k++) {
		const struct manifest_clock *clock = &manifest->clocks[k];

		if (!clock->randomised || clock->redraw == REDRAW_NONE)
			continue;
		for (size_t e = 0; e < manifest->n_epochs; e++) {
			cells += manifest->epochs[e].clocks[k].samples > 0;
			unredrawn += epoch_was_not_redrawn(clock, &manifest->epochs[e].clocks[k]);
		}
	}
	if (!cells || (double)unredrawn < UNREDRAWN_PART_WARN * (double)cells)
		return;
	finding = findings_add(
		findings, CODE_FIDELITY_REDRAW, FINDING_WARNING,
		"In %s of the epochs a randomised clock kept one period instead of being "
		"redrawn: within such an epoch it is a fixed clock.",
		conduct_percent((double)unredrawn / (double)cells, percent, sizeof(percent)));
	finding_next(findings, finding, "Give the collector more CPU time, or lower the rate.");
	finding_number(findings, finding, "cells", (double)cells);
	finding_number(findings, finding, "not_redrawn", (double)unredrawn);
}

/* Every occurrence of its events is in the recording: nothing was left to a clock. */
static bool is_counted(const struct manifest *manifest)
{
	for (size_t i = 0; i < manifest->n_clocks; i++)
		if (manifest->clocks[i].mean_period > 1)
			return false;
	return true;
}

void conduct_find_unchecked(struct findings *findings, const struct manifest *manifest)
{
	struct finding *finding;

	if (is_counted(manifest))
		return;
	if (!conduct_is_randomised(manifest)) {
		finding = findings_add(
			findings, CODE_ALIAS_UNCHECKED, FINDING_WARNING,
			"No clock of this recording was randomised. If its period fits a cycle "
			"of the program, shares are wrong by any amount, and nothing in the "
			"samples would show it: the intervals assume that there is no lock.");
		finding_next(
			findings, finding,
			"Record with randomised clocks: `assay record`, which does so by default.");
		finding_text(findings, finding, "schedule",
			     schedule_kind_name(manifest->clocks[0].kind));
		finding_number(findings, finding, "mean_period", manifest->clocks[0].mean_period);
		return;
	}
	if (manifest->redraw != REDRAW_NONE)
		return;
	finding = findings_add(
		findings, CODE_ALIAS_UNCHECKED, FINDING_WARNING,
		"Periods were drawn once per epoch and not redrawn. Within an epoch each clock "
		"is a fixed one: intervals are honest but wide where it locks to the program.");
	finding_next(findings, finding, "%s",
		     manifest->scope_why
			     ? manifest->scope_why
			     : "Record with a schedule that redraws (--schedule jitter).");
	finding_text(findings, finding, "schedule", schedule_kind_name(manifest->schedule));
	finding_text(findings, finding, "redraw", redraw_kind_name(manifest->redraw));
}
