/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which function is above which, and what is not known about it (section 5 of docs/estimates.md).
 *
 * Every pair {contender, any function} is tested; Holm's procedure keeps the chance that any pair of the
 * family is asserted wrongly below alpha. Contenders are the top k and whoever could belong to them:
 * with only the observed top k in the family, choosing the winners from the same data makes 15-54 % of
 * flat profiles assert something false.
 *
 * Asserted pairs are closed transitively (a above b above c makes a above c: implied, at no further
 * chance of error), which also guarantees that ordering rows by (rank_lo, rank_hi, name) never prints
 * an asserted pair inverted.
 *
 * Two families that are never mixed: order in this recording, and order in this workload.
 */
#ifndef ASSAY_ESTIMATE_RANK_H
#define ASSAY_ESTIMATE_RANK_H

#include "estimate/estimate.h"

#define ESTIMATE_CONTENDERS_MAX 200

enum estimate_family { ESTIMATE_FAMILY_RECORDING, ESTIMATE_FAMILY_WORKLOAD };

struct estimate_rank_options {
	enum estimate_family family;
	size_t top_k;             /* 0: 5 */
	double alpha;             /* 0: 0.05 */
	const char *const *names; /* of functions, to order what is not resolved; NULL: by number */
};

#define ESTIMATE_RANK_NO_RIVAL SIZE_MAX

struct estimate_rank {
	size_t rank_lo, rank_hi; /* from 1; the whole range when nothing is known */
	/* Examined rows with equal numbers are mutually unresolved; numbered from 1 in printed order.
	 * 0: not examined. Unresolved pairs across groups exist too: rank ranges show them. */
	size_t group;
	bool examined; /* a contender; the order among the others was not examined */
	bool resolved; /* rank_lo == rank_hi */
	/* The function nearest in share from which an examined one is not resolved, or
	 * ESTIMATE_RANK_NO_RIVAL; and the number of samples that would resolve the two if their shares
	 * are as observed: with nothing else compared (t = 1.96), and in a table like this one.
	 * Infinite when the shares are equal. */
	size_t rival;
	double samples_alone, samples_here;
};

struct estimate_ranks {
	struct estimate_rank *rows; /* by function */
	size_t *order;              /* functions in printed order: examined ones first */
	size_t n_rows, n_examined, n_groups;
	size_t top_k;       /* min(k, functions) */
	bool set_settled;   /* the top k are above all others */
	bool order_settled; /* and their order among themselves is known */
	size_t n_pairs;     /* size of the family */
	size_t n_resolved;  /* pairs of it that are resolved, implied ones included */
	const char *why;    /* nothing could be resolved, and why; else NULL */
	/* resolved pairs: bit (c * n_rows + position), by contender and place in order of share */
	uint64_t *below;
	size_t *place; /* function -> its place in order of share */
};

/* `shares` must come from the same table. Owns its arrays: estimate_ranks_release. */
MUST_CHECK enum status estimate_ranks(struct estimate_ranks *ranks,
				      const struct estimate_table *table,
				      const struct estimate_shares *shares,
				      const struct estimate_rank_options *options,
				      struct error *error);
void estimate_ranks_release(struct estimate_ranks *ranks);

/* Whether function `a` is known to be above function `b`. */
bool estimate_ranks_above(const struct estimate_ranks *ranks, size_t a, size_t b);

#endif
