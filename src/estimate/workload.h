/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How far epochs speak for the workload: their serial correlation, and the variance that survives it.
 *
 * The sample variance of epochs understates the variance of their mean when neighbouring epochs repeat
 * each other. Then the equal-weighted-cosine variance of Lazarus, Lewis, Stock and Watson (2018) is used:
 * the low-frequency cosine transforms of u are nearly independent, each an estimate of the long-run
 * variance, and the average of q of them has a t distribution with q degrees of freedom.
 */
#ifndef ASSAY_ESTIMATE_WORKLOAD_H
#define ASSAY_ESTIMATE_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>

#define COSINES_MAX 1024

struct cosines {
	size_t n_epochs, q;
	double *weight; /* q rows of n_epochs: sqrt(2/E) cos(pi j (e + 1/2)/E) */
};

/* q = max(2, round(0.4 E^(2/3))). False without memory. */
bool cosines_init(struct cosines *cosines, size_t n_epochs);
void cosines_release(struct cosines *cosines);

/* V_cos = (E/q) sum_j (sum_e weight[j][e] u[e])^2; 0 when there are fewer than 2 epochs. */
double cosines_variance(const struct cosines *cosines, const double *u);

struct serial {
	bool detected;
	double correlation; /* max of pooled and own, within 0..0.95 */
};

/* `own`, `pooled`: lag-1 correlations of a function and of all functions. */
struct serial serial_detect(double own, double pooled, size_t n_epochs);

/* E(1 - r)/(1 + r): about how many independent epochs there were. */
double serial_changes(double correlation, size_t n_epochs);

/* Whether a workload interval is supported: 12 independent epochs, or no sign of dependence. */
bool serial_supported(const struct serial *serial, size_t n_epochs);

/* 12 (1 + r)/(1 - r): epochs after which it will be. */
double serial_epochs_needed(double correlation);

#endif
