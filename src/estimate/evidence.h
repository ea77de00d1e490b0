/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The counts of a table as deviations from its overall shares: what every variance here is made of.
 *
 *	z[e][k] = (x[e][k] - P n[e][k]) / X      deviation of one clock in one epoch
 *	u[e]    = sum over k of z[e][k]          deviation of one epoch
 *
 * X is the weight of all samples, P the function's share of it. The sum over all z is zero, and the
 * error of P is, to first order, the sum of the errors of z (ratio linearisation).
 *
 * Clocks watch the same epoch, so their differences contain measurement error only. They are kept as
 * K-1 orthogonal contrasts per epoch (Helmert), scaled by sqrt(K/(K-1)), so that
 *	V_rec = sum of squared contrasts = sum_e K/(K-1) sum_k (z[e][k] - mean)^2,
 * for K = 2 simply contrast[e] = z[e][0] - z[e][1]. With a single clock there is nothing to compare
 * within an epoch; then contrast[e] = sqrt(E/(E-1)) u[e], which holds the measurement error and the
 * change between epochs: an upper bound of the measurement variance, not an estimate of it.
 *
 * Epochs and clocks without any sample are taken out first: they are no evidence and must not count as
 * degrees of freedom.
 */
#ifndef ASSAY_ESTIMATE_EVIDENCE_H
#define ASSAY_ESTIMATE_EVIDENCE_H

#include "estimate/estimate.h"

/* Shapes beyond these are refused: far above what a recording has, far below what would overflow. */
#define EVIDENCE_EPOCHS_MAX ((size_t)1 << 20)
#define EVIDENCE_CLOCKS_MAX ((size_t)256)
#define EVIDENCE_CELLS_MAX  ((size_t)1 << 24)

struct evidence {
	const struct estimate_table *table;
	bool periods;               /* weights are sums of periods, else plain counts */
	size_t n_epochs, n_clocks;  /* those with samples */
	size_t n_contrasts;         /* the degrees of freedom of V_rec are contrast_df */
	double contrast_df;         /* E(K-1), with one clock E-1 */
	uint64_t samples;           /* N */
	double total;               /* X */
	uint32_t *place;            /* cell of the table -> epoch * n_clocks + clock of here */
	double *cell_part;          /* n[e][k] / X */
	double *deviation;          /* scratch: z of one function */
	double *contrasts, *epochs; /* scratch: of one function */
};

struct moments {
	uint64_t samples;
	double share;
	double v_recording; /* V_rec */
	double v_epochs;    /* V_ep = E/(E-1) sum u^2 */
	double squares;     /* sum u^2 */
	double lagged;      /* sum over e >= 1 of u[e] u[e-1] */
	/* Degrees of freedom that V_rec and V_ep are worth, by the spread of the squares q they sum:
	 * 3 (sum q)^2 / sum q^2, which is about their number for normal q and fewer when a few of them
	 * make up the sum; at most their number. */
	double df_recording, df_epochs;
};

/* Checks the table (STATUS_CORRUPT names the row that contradicts itself) and lays it out. */
MUST_CHECK enum status evidence_init(struct evidence *evidence, const struct estimate_table *table,
				     bool periods, struct error *error);
void evidence_release(struct evidence *evidence);

/* The deviations of function `s`: n_contrasts and n_epochs numbers. Returns its share. */
double evidence_deviations(const struct evidence *evidence, size_t s, double *contrasts,
			   double *epochs);

/* Sums over the deviations of function `s`, which stay in evidence->contrasts and ->epochs. */
struct moments evidence_moments(const struct evidence *evidence, size_t s);

#endif
