/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Intervals for a share, given an effective sample size.
 *
 * Wilson's score interval (Wilson 1927) with n* = N/d in place of N and a t quantile in place of the
 * normal one: score intervals keep their coverage near 0 and 1, where share +- t * error does not.
 * At expected counts below about 5 even Wilson's lower end is too high (coverage 84 % at an expected
 * count of 0.17), so there it is lowered to the exact Poisson one.
 */
#ifndef ASSAY_ESTIMATE_INTERVAL_H
#define ASSAY_ESTIMATE_INTERVAL_H

#include <stdint.h>

/* Poisson lower bounds on a grid that is filled where it is asked for, so that 100 000 stacks with one
 * sample each cost few root searches. */
#define SMALL_COUNT_GRID 641
struct small_count {
	double p;                             /* chance left below the lower end, 0.025 */
	double m_log_bound[SMALL_COUNT_GRID]; /* NAN: not yet asked for */
};

/* For chance `p`. */
void small_count_init(struct small_count *bounds, double p);

/* chi2_quantile(p, 2m)/2: the mean of a Poisson count that is `m` or more with chance p. m > 0. */
double small_count_bound(struct small_count *bounds, double m);

struct bounds {
	double lo, hi;
};

/* Wilson's interval for `share` with `n_effective` > 0 and quantile `t`, clipped to [0, 1]. */
struct bounds bounds_wilson(double share, double n_effective, double t);

/* The same, its lower end corrected for `count` <= 5 samples of the function, its upper end for
 * `rest` <= 5 samples of everything else (the same statement about the complement). */
struct bounds bounds_share(double share, double n_effective, double t, uint64_t count,
			   uint64_t rest, struct small_count *small);

#endif
