/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Epochs made longer after the fact, so that tables stay bounded and epochs comparable.
 *
 * A recording begins with short epochs, since it may end soon, and may last for hours. Neighbours are
 * merged until none is much shorter than the rest, and in pairs while there are too many. Merging never
 * splits: a merged epoch is a run of recorded ones, so counts add up.
 */
#ifndef ASSAY_ESTIMATE_MERGE_H
#define ASSAY_ESTIMATE_MERGE_H

#include "estimate/estimate.h"

#define ESTIMATE_EPOCHS_MAX 128

struct estimate_merge_options {
	size_t epochs_max; /* 0: 128. Above it neighbours are merged in pairs, as often as needed. */
	/* Epochs are joined until they are at least this long; 0: as chosen by
	 * estimate_merge_target. Same unit as the lengths. */
	double target;
};

/* The target for epochs of these lengths: the mean length that 20 epochs would have, but not more than
 * the longest quarter of the recorded ones already has. */
double estimate_merge_target(const double *lengths, size_t n_epochs);

/* place[e] becomes the merged epoch of recorded epoch e, ascending from 0. Returns how many there are.
 * `options` NULL: standard ones. */
size_t estimate_merge_plan(size_t *place, const double *lengths, size_t n_epochs,
			   const struct estimate_merge_options *options);

struct estimate_merged {
	struct estimate_table table;
	size_t *first;
	struct estimate_count *counts;
	double *cell_weight;
	uint32_t *cell_count;
};

/* The table with its epochs merged; owns its arrays. */
MUST_CHECK enum status estimate_merge(struct estimate_merged *merged,
				      const struct estimate_table *table, const size_t *place,
				      size_t n_merged, struct error *error);
void estimate_merge_release(struct estimate_merged *merged);

#endif
