/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How much of the execution lies in functions that were never sampled (section 7 of docs/estimates.md).
 *
 * Good-Turing (Good 1953) on epochs: samples of functions that were met in one epoch only estimate the
 * share of what was met in none. Single samples instead of epochs would be fooled by runs: a function
 * that is sampled four times in a row looks well known.
 *
 * Fails under phase lock, which hides functions from every count: only randomised clocks may be given.
 */
#ifndef ASSAY_ESTIMATE_UNSEEN_H
#define ASSAY_ESTIMATE_UNSEEN_H

#include "estimate/estimate.h"

struct estimate_unseen {
	const char *why;           /* not available, and why; else NULL */
	double share;              /* estimated share of never-seen execution */
	double hi;                 /* its one-sided upper bound at the confidence asked for */
	bool two_epochs;           /* the rule for correlated samples was used */
	uint64_t functions_once;   /* functions met in one epoch only (or in two adjacent ones) */
	double functions_at_least; /* never-seen functions, Chao's lower bound (Chao 1987) */
};

/* `correlated`: epochs repeat each other, or a clock shows runs of one function (estimate_runs): then
 * functions confined to two adjacent epochs count as new. `confidence` 0: 0.95. */
MUST_CHECK enum status estimate_unseen(struct estimate_unseen *unseen,
				       const struct estimate_table *table, bool correlated,
				       double confidence, struct error *error);

#endif
