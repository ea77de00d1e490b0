/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Empirical Bayes for variances (Smyth 2004): many variances, each with few degrees of freedom, tell
 * together where a typical one lies (s0^2) and how much they differ (d0 prior degrees of freedom).
 */
#ifndef ASSAY_ESTIMATE_MODERATE_H
#define ASSAY_ESTIMATE_MODERATE_H

#include <stddef.h>

struct moderation {
	double d0, s0_squared;
};

/* From n >= 2 positive variances with `nu` degrees of freedom each. d0 is at most 100. */
struct moderation moderation_fit(const double *variances, size_t n, double nu);

double moderation_variance(const struct moderation *moderation, double variance, double nu);

/* psi and its derivative, x > 0. */
double digamma(double x);
double trigamma(double x);

#endif
