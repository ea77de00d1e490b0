/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rank stability: how often independent pieces of the recording agree with the printed first function,
 * top K set and order, beside what noise alone would give.
 *
 * A piece is one clock over a run of epochs; pieces do not share samples. A piece agrees when its own
 * counts confirm the claim strictly: ties, and functions that it has not met, confirm nothing.
 *
 * What noise alone gives is computed, not simulated: counts of a piece are independent Poisson variables
 * with the printed shares as means, scaled down by the design effect. A score well below the expected one
 * means that pieces differ by more than noise: the program changes, or a clock is locked.
 */
#ifndef ASSAY_ESTIMATE_STABILITY_H
#define ASSAY_ESTIMATE_STABILITY_H

#include "estimate/estimate.h"

#define ESTIMATE_STABILITY_TOP_MAX 50

struct estimate_agreement {
	size_t pieces;           /* 0: nothing to compare, all scores NAN */
	double samples;          /* mean per piece */
	double top1, set, order; /* mean agreement of pieces, 0..1 */
};

struct estimate_stability {
	size_t k;
	struct estimate_agreement observed;
	double expected_top1, expected_set, expected_order; /* by noise alone; NAN as above */
};

/* The printed claim: the functions of the top k, first one first. k is at most 50. */
struct estimate_claim {
	const size_t *top;
	size_t k;
};

/* How the pieces of one table (one schedule) agree with the claim: n_pieces of about equal numbers of
 * epochs per clock; 0: eight in all, fewer when they would have less than 50 samples. */
MUST_CHECK enum status estimate_agree(struct estimate_agreement *agreement,
				      const struct estimate_table *table,
				      const struct estimate_claim *claim, size_t n_pieces,
				      struct error *error);

/* The same for the table that the claim comes from, with the expectation. */
MUST_CHECK enum status estimate_stability(struct estimate_stability *stability,
					  const struct estimate_table *table,
					  const struct estimate_shares *shares,
					  const struct estimate_claim *claim, struct error *error);

#endif
