/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stopping when the answer is in, although it is looked for after every epoch (section 6 of
 * docs/estimates.md), and how long that will still take.
 *
 * Each pair that must be settled is held against the boundary of a normal-mixture confidence sequence
 * (Robbins 1970; Waudby-Smith et al. 2024), which a tied pair crosses with a chance of at most alpha
 * however often one looks. Stopping asserts all pairs at once, so it takes the truly tied one to cross:
 * no correction for the number of pairs (intersection-union, Berger 1982).
 *
 *	D = c_i - c_j,  V = max(E/(E-1) sum_e (d_e - (D/N) n_e)^2, c_i + c_j) * (1 + r)/(1 - r)
 *	g = D^2 rho^2 / (2 (V/E)(E rho^2 + 1)) - ln(E rho^2 + 1)/2,   settled when g >= ln(1/alpha)
 *
 * r is the lag-1 correlation of epochs, shrunk while it could be chance. Where epochs differ much in their
 * samples, E is what they are worth: (sum n_e)^2 / sum n_e^2.
 */
#ifndef ASSAY_ESTIMATE_SEQUENTIAL_H
#define ASSAY_ESTIMATE_SEQUENTIAL_H

#include "estimate/estimate.h"

#define ESTIMATE_UNTIL_EPOCHS_MIN 12

enum estimate_until_kind {
	ESTIMATE_UNTIL_ORDER, /* top=K: the top K and their order */
	ESTIMATE_UNTIL_SET,   /* top=K:set */
	ESTIMATE_UNTIL_SHARE, /* share=+-P: every share within +-half_width */
};

struct estimate_until_options {
	enum estimate_until_kind kind;
	size_t top_k;      /* 0: 5 */
	double half_width; /* of a share, 0..1 */
	double alpha;      /* 0: 0.05 */
	/* How many epochs as recorded one epoch of the table holds: 1, after m mergings in pairs 2^m.
	 * Keeps the boundary the same when epochs are merged. 0: 1. */
	double epochs_per_row;
	/* Samples count by their periods, as they must where the rate changed on the way: else the time
	 * of the higher rate would count more. */
	bool period_weights;
};

#define ESTIMATE_UNTIL_NONE SIZE_MAX

struct estimate_until {
	bool settled;
	const char *why; /* cannot be judged yet, and why; else NULL */
	/* The weakest pair met (for a share: the function in `a`). Not settled: it is among neighbours
	 * in order of share; others were looked at only when all neighbours had passed. */
	size_t a, b;
	double evidence; /* its g; settled at `boundary` */
	double boundary;
	/* Further epochs (as in the table): probably, and at most if shares are as observed. At least 1
	 * when not settled; infinite when the observed shares are equal. 0 when settled. */
	double epochs_more, epochs_more_max;
	double epochs_at_best; /* beyond what can be waited for: it will not settle */
};

/* Can the question be answered now, or when? Allocates nothing that outlives it. */
MUST_CHECK enum status estimate_until(struct estimate_until *until,
				      const struct estimate_table *table,
				      const struct estimate_until_options *options,
				      struct error *error);

/* rho^2 = (-2 ln alpha + ln(1 - 2 ln alpha)) / 60: the boundary is tightest around 60 epochs. */
double estimate_until_rho2(double alpha);

/* g of a difference D with variance V after E epochs. */
double estimate_until_evidence(double difference, double variance, double n_epochs, double rho2);

#endif
