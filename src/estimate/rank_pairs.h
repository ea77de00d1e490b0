/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tests behind ranks: one t per pair of functions, and Holm's procedure over them.
 *
 *	D = P_i - P_j,  f = (P_i + P_j)/N     the variance of D if both shares were equal
 *	t = D / sqrt(f d)                     d: design effect of the difference, moderated, at least 1
 *
 * Functions are numbered by their place in order of share, so D >= 0 and only "i above j" with i < j can
 * be asserted.
 */
#ifndef ASSAY_ESTIMATE_RANK_PAIRS_H
#define ASSAY_ESTIMATE_RANK_PAIRS_H

#include "estimate/evidence.h"
#include "estimate/rank.h"

/* Degrees of freedom are rounded down to eighths (conservative by at most 1/8), so that quantiles can be
 * kept in a table; above 1000 they count as 1000. */
#define DF_STEPS   8
#define DF_MAX     1000
#define DF_CLASSES (DF_MAX * DF_STEPS + 1)

struct pair {
	double t;
	uint32_t low;  /* place of j */
	uint16_t high; /* place of i, a contender */
	uint16_t df;   /* class */
};

/* What a family needs to test a pair. */
struct family {
	enum estimate_family kind;
	const struct evidence *evidence;
	double n, pooled, rho, rho_error;
	size_t length;    /* of the vectors that are compared */
	double df_common; /* recording: E(K-1) + 8 */
};

/* Borrows from both arguments. */
struct family family_of(enum estimate_family kind, const struct evidence *evidence,
			const struct estimate_shares *shares);

/* The vector of function `s` in this family (`length` numbers). `scratch` holds as many. */
void family_vector(const struct family *family, size_t s, double *vector, double *scratch);

/* Its own design effect, from its vector. */
double family_effect(const struct family *family, double share, const double *vector);

struct member {
	double share;
	uint64_t samples;
	const double *vector;
};

/* The design effect of P_i - P_j, and the degrees of freedom with which it is known. */
double pair_effect(const struct family *family, const struct member *i, const struct member *j,
		   double *df);

/* Quantiles of |t| at a two-sided level, by class of df, filled as they are asked for. */
struct thresholds {
	double level;
	double *t; /* DF_CLASSES, NAN: not yet asked for */
};

/* Quantiles are kept until the level moves; false when there is no memory. */
bool thresholds_init(struct thresholds *thresholds, double level);
void thresholds_release(struct thresholds *thresholds);
void thresholds_move(struct thresholds *thresholds, double level);
double thresholds_at(struct thresholds *thresholds, uint16_t df_class);
uint16_t df_class(double df);

/*
 * Holm's step-down over a family of `n_family` pairs, `n_certain` of which passed at alpha/n_family
 * and are not listed; pairs not listed otherwise have p > alpha. Moves the accepted ones to the front
 * and returns their number; *step_level is the two-sided level at which the next one failed.
 *
 * Step-down with sorting accepts m pairs where m is the smallest number with p_(m+1) > alpha/(M - m).
 * The same m is the smallest fixed point of m -> #{p <= alpha/(M - m)}, reached from below without
 * sorting, and without p-values.
 */
size_t pairs_holm(struct pair *pairs, size_t n_pairs, size_t n_certain, size_t n_family,
		  double alpha, struct thresholds *thresholds, double *step_level);

#endif
