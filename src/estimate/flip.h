/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Did a conventional profile put the wrong function first? (section 8 of docs/estimates.md)
 *
 * Where the conventional profile has a above b and the randomised samples have b above a, the randomised
 * counts say how sure that is:
 *	P-value = Q((c_b - c_a) / sqrt((c_b + c_a) max(1, d)))
 * A lock test says that a profile could be wrong; this says that it is.
 */
#ifndef ASSAY_ESTIMATE_FLIP_H
#define ASSAY_ESTIMATE_FLIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ESTIMATE_FLIP_TOP   5
#define ESTIMATE_FLIP_PAIRS (ESTIMATE_FLIP_TOP * (ESTIMATE_FLIP_TOP - 1) / 2)

struct estimate_flip_pair {
	size_t shown_above, truly_above; /* conventional order, randomised order */
	double p_value;                  /* one-sided, of this pair alone */
	bool flipped;                    /* holds among all pairs of the top 5 (Holm) */
};

struct estimate_flip {
	bool differs;        /* the two profiles have different functions in first place */
	size_t shown, truly; /* these functions */
	double p_value; /* that the conventional first is not below the other one; 1: same first */
	size_t n_pairs; /* pairs of the conventional top 5 that the randomised samples invert */
	struct estimate_flip_pair pairs[ESTIMATE_FLIP_PAIRS];
};

/* Counts by function. `alpha` is for the pairs of the top 5; 0: 0.05. */
struct estimate_flip estimate_flip(const uint64_t *conventional, const uint64_t *randomised,
				   size_t n_functions, double design_effect, double alpha);

#endif
