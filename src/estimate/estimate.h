/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From counts to shares that state their own uncertainty. Pure: numbers in, numbers out.
 *
 * The unit of evidence is the clock within the epoch (a cell), never the single sample: samples of
 * one clock are not independent. E epochs by K clocks give E x K cells. Clocks that watch the same
 * epoch differ by measurement only; epochs differ by measurement and by what the program did.
 *
 * Functions, stacks and inclusive counts all use the same formulas with "the sample contains s".
 * Symbols as in docs/estimates.md.
 */
#ifndef ASSAY_ESTIMATE_ESTIMATE_H
#define ASSAY_ESTIMATE_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* One non-empty cell of one function. */
struct estimate_count {
	uint32_t cell;  /* epoch * n_clocks + clock */
	uint32_t count; /* plain samples */
	double weight;  /* sum of their periods; equal to count when periods are not used */
};

/* A table of functions by cells, compressed by rows: function s owns
 * counts[first[s] .. first[s + 1]), cells ascending. */
struct estimate_table {
	size_t n_functions, n_epochs, n_clocks;
	const size_t *first; /* n_functions + 1 */
	const struct estimate_count *counts;
	/* all samples of each cell, n_epochs * n_clocks; for inclusive tables these are samples, not
	 * sums over functions */
	const double *cell_weight;
	const uint32_t *cell_count;
	bool randomised; /* false: no randomised clock, intervals assume no lock */
};

struct estimate_interval {
	double share;
	double lo, hi;
	bool supported; /* false: lo and hi are not to be shown; `why` says the reason */
	const char *why;
};

struct estimate_row {
	uint64_t samples;
	struct estimate_interval recording; /* this recording: measurement error only */
	struct estimate_interval workload;  /* this workload: measurement and change */
	double variance_measurement;
	double variance_workload;    /* signed; see variance_workload_hi */
	double variance_workload_hi; /* upper end of the workload part's share of the variance */
	double effective_samples, effective_samples_workload;
};

enum estimate_weighting { ESTIMATE_WEIGHT_AUTO, ESTIMATE_WEIGHT_ONE, ESTIMATE_WEIGHT_PERIOD };

struct estimate_options {
	double confidence; /* 0.95 */
	enum estimate_weighting weighting;
};

struct estimate_shares {
	struct estimate_row *rows; /* n_functions */
	size_t n_rows;
	bool period_weights;  /* which weighting AUTO chose */
	bool serial;          /* serial correlation between epochs was detected */
	double design_effect; /* pooled, section 2 */
	uint64_t samples;
	const char *too_few; /* why no interval is given at all, NULL when they are */
};

/* Sections 1-4 and 10 of docs/estimates.md. Owns its rows: estimate_shares_release. */
MUST_CHECK enum status estimate_shares(struct estimate_shares *shares,
				       const struct estimate_table *table,
				       const struct estimate_options *options, struct error *error);
void estimate_shares_release(struct estimate_shares *shares);

#endif
