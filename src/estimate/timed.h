/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The total duration of all calls from timing one call in N (section 11 of docs/estimates.md).
 *
 * One call at a uniformly random position in each consecutive block of N calls is timed, all calls are
 * counted: T = N sum y is unbiased whatever the durations and their order. Hall's transformation (Hall
 * 1992) makes the interval longer on the upper side, where skewed durations need it.
 *
 * Fails: a rare slow class (fraction below 3/timed) can be missed altogether. A fixed "every Nth" call
 * locks like a fixed clock does and is not covered.
 */
#ifndef ASSAY_ESTIMATE_TIMED_H
#define ASSAY_ESTIMATE_TIMED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ESTIMATE_TIMED_MIN 500

/* Sufficient sums over windows: blocks may differ in N from window to window. */
struct estimate_timed {
	double total;    /* T */
	double lo, hi;   /* NAN when not supported */
	bool supported;  /* at least 500 calls timed */
	const char *why; /* when not supported */
	uint64_t timed, calls;
	double mean, sd, skewness; /* of the durations */
	double slow_class; /* calls rarer than this fraction may have been missed: 3/timed */
};

/* `durations` of the n_timed calls, one from each block of `block` calls; `calls` counted in all, of
 * which the last block may be incomplete. Durations are in any unit and finite. */
struct estimate_timed estimate_timed(const double *durations, size_t n_timed, uint64_t block,
				     uint64_t calls, double confidence);

/* The same for windows with blocks of their own: sums of totals, of squared half-widths. `parts` were
 * estimated with the same confidence. Supported when together 500 calls were timed. */
struct estimate_timed estimate_timed_sum(const struct estimate_timed *parts, size_t n_parts);

/* N so that about 1000 calls are timed in a window in which `calls_expected` will come. */
uint64_t estimate_timed_block(double calls_expected);

/* Hall's bounds of a mean: {lo, hi} of mean - s/sqrt(1) G(+-t), without finite-population factor; for
 * tests. `t` > 0. */
void estimate_hall(double mean, double sd, double skewness, double m, double t, double *lo,
		   double *hi);

#endif
