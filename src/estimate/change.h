/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What changed between two single recordings: the difference of each function's share with an interval.
 *
 * Each recording's own epochs say how much a share varies while nobody touches anything; a difference
 * beyond what both of them show is a change. The interval is Newcombe's (1998, method 10): from the
 * score intervals of the two shares, each with its effective sample size and a t quantile,
 *	lo = D - sqrt((P_B - l_B)^2 + (u_A - P_A)^2),  hi = D + sqrt((u_B - P_B)^2 + (P_A - l_A)^2)
 * so that it keeps its coverage near 0 and 1, where D +- t * error does not.
 *
 * Family-wise: the level is alpha/M for the M functions that could differ at all. A function with so few
 * samples that not even all of them on one side would be evidence is not one of them (Tarone 1990), and
 * since that depends on the sum of both sides only, choosing by it favours no difference.
 *
 * Correlation of epochs that all functions together show, r, widens those that do not show it themselves by
 * (1 + r)/(1 - r), as for ranks (section 5), and r is never taken for less than 1.5/E: so much can hide. Without
 * that, programs of four phases per recording "changed" in 10 % of recordings of nothing new.
 *
 * Assumes that epochs of a recording are alike and independent, or that their correlation was seen; that
 * a recording shows the run-to-run spread of its program. What differs from run to run but not within one
 * (address layout, the state of a cache, the data) looks like a change, and is one: of this run.
 */
#ifndef ASSAY_ESTIMATE_CHANGE_H
#define ASSAY_ESTIMATE_CHANGE_H

#include "estimate/estimate.h"

/* One function in one recording. */
struct estimate_change_side {
	double share;
	uint64_t samples;
	double effective_samples; /* for the workload; 0: not in this recording */
	double changes; /* independent stretches where epochs repeat each other, else NAN */
};

/* One recording. */
struct estimate_change_recording {
	uint64_t samples;
	size_t n_epochs;
	double design_effect; /* pooled, for the workload: what bounds a function that is not there */
	double correlation;   /* of neighbouring epochs, pooled (section 3); 0: none */
};

struct estimate_change_options {
	double alpha; /* 0: 0.05; of all functions together */
};

struct estimate_change {
	double difference, lo, hi; /* B - A; lo and hi hold for all tested functions at once */
	bool tested;               /* enough samples that it could differ at all */
	bool differs;              /* tested, and 0 lies outside */
};

/* Fills n changes from n functions of A and B, and *n_tested (may be NULL). */
MUST_CHECK enum status estimate_changes(struct estimate_change *changes,
					const struct estimate_change_side *a,
					const struct estimate_change_side *b, size_t n,
					const struct estimate_change_recording recordings[2],
					const struct estimate_change_options *options,
					size_t *n_tested, struct error *error);

#endif
