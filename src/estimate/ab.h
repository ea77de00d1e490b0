/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What changed between A and B, from pairs of interleaved runs (section 9 of docs/estimates.md).
 *
 * The run is the unit of evidence: y = ln(B/A) of one function's cost per pair, a paired t test on its
 * mean. Machines drift and logs make changes of small and large functions comparable; pairing takes the
 * drift out. With few pairs a function's own variance is unsure, so it is never believed to be smaller
 * than what all functions together suggest (moderation, Smyth 2004) nor than counting alone would give:
 *	s~^2 = max(s^2, (d0 s0^2 + nu s^2)/(d0 + nu), phi)
 * Holm over functions decides what "changed". Symmetric under exchange of A and B.
 *
 * Exact counters: when all runs of A agree and all runs of B agree, equality is equality and a difference
 * has P-value 2 * 4^-n, whatever the distribution.
 */
#ifndef ASSAY_ESTIMATE_AB_H
#define ASSAY_ESTIMATE_AB_H

#include "estimate/estimate.h"

#define ESTIMATE_AB_MODERATED_MIN 20 /* functions below which variances are not pooled */

/* One function: n_pairs values each. */
struct estimate_ab_function {
	const double *a, *b; /* cost per unit of work (or of the total), >= 0 */
	const double *count_a,
		*count_b; /* samples behind them; NULL: the costs are counted exactly */
};

struct estimate_ab_options {
	double confidence; /* 0: 0.95 */
	double alpha;      /* 0: 0.05; of all functions together */
	/* Samples of all functions over all runs: what a function that is absent is measured against. */
	double exposure_a, exposure_b;
	double same_within; /* "same" when the interval lies within +- this relative change; 0: never */
};

enum estimate_ab_verdict {
	ESTIMATE_AB_UNRESOLVED,
	ESTIMATE_AB_SAME,
	ESTIMATE_AB_LESS, /* B costs less */
	ESTIMATE_AB_MORE, /* B costs more */
};

enum estimate_ab_method {
	ESTIMATE_AB_TOO_FEW,   /* fewer than 2 pairs, or nothing to compare */
	ESTIMATE_AB_OWN,       /* paired t with the function's own variance */
	ESTIMATE_AB_MODERATED, /* ... with the moderated one */
	ESTIMATE_AB_EXACT,     /* all runs of each side agree */
	ESTIMATE_AB_ABSENT_A,  /* no run of A has the function */
	ESTIMATE_AB_ABSENT_B,
};

struct estimate_ab_row {
	double mean_a, mean_b; /* of the costs */
	double ratio, lo, hi;  /* B/A and its interval; NAN when there is none */
	double p_value;        /* of this function alone */
	double p_adjusted;     /* Holm: at most alpha means changed */
	double q_value;        /* Benjamini-Hochberg: for a list of suspects only */
	double absent_hi; /* upper bound (95 %, one-sided) of the absent side's share of samples */
	enum estimate_ab_method method;
	enum estimate_ab_verdict verdict;
};

/* Fills n_functions rows. Recommended: 10 pairs; at least 3 for many functions, 2 for a total. */
MUST_CHECK enum status estimate_ab(struct estimate_ab_row *rows,
				   const struct estimate_ab_function *functions, size_t n_functions,
				   size_t n_pairs, const struct estimate_ab_options *options,
				   struct error *error);

/* When all n runs agree: at most this fraction of runs deviates (95 %). */
double estimate_ab_deviating(size_t n_runs);

#endif
