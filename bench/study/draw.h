/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Random variables for simulations, from reproducible streams.
 */
#ifndef ASSAY_STUDY_DRAW_H
#define ASSAY_STUDY_DRAW_H

#include <stddef.h>
#include <stdint.h>

#include "base/random.h"

double draw_uniform(struct random *random, double low, double high);
double draw_normal(struct random *random);
double draw_exponential(struct random *random, double mean);
/* Gamma with scale 1 (Marsaglia, Tsang 2000). */
double draw_gamma(struct random *random, double shape);
/* Shares around `mean` with variance mean (1 - mean)/(concentration + 1). */
void draw_dirichlet(struct random *random, const double *mean, size_t n, double concentration,
		    double *shares);
/* Pareto with density ~ x^-(exponent + 1) on [low, high], and its mean. */
double draw_pareto(struct random *random, double exponent, double low, double high);
double pareto_mean(double exponent, double low, double high);

/* A discrete distribution; `sums` are cumulative shares ending in 1. */
size_t draw_index(struct random *random, const double *sums, size_t n);
void cumulate(const double *shares, size_t n, double *sums);

#endif
