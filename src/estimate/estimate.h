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
	/* Variances of the share. The workload part is signed, so that averages over recordings stay
	 * unbiased: not above 0 means "none seen, at most variance_workload_hi of the variance". The
	 * range is rough and is NAN when epochs repeat each other (`serial`: then the workload part is
	 * "at least" what is given). All four are NAN with one clock, where the two cannot be told
	 * apart, and when too few samples give no interval at all. */
	double variance_measurement;
	double variance_workload;
	double variance_workload_lo; /* the workload part's share of the variance of one epoch ... */
	double variance_workload_hi;                          /* ... lies between these */
	double effective_samples, effective_samples_workload; /* never above the plain number */
	bool serial;    /* this function's epochs repeat each other */
	double changes; /* when serial: about so often did it change while watched, else NAN */
	double epochs_needed; /* when serial and unsupported: record at least so many epochs, else NAN */
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
	const char *too_few;           /* why no interval is given at all, NULL when they are */
	double design_effect_workload; /* pooled over epochs, section 3 */
	double correlation;            /* pooled lag-1 correlation of epochs, section 3 */
	double correlation_error;      /* its standard error if epochs were independent */
	bool workload_unsupported; /* serial, and too few independent stretches: no workload claim */
	size_t n_epochs, n_clocks; /* those that have samples */
	bool one_clock; /* measurement error is bounded by the change between epochs, not measured */
	/* What the intervals take for granted beyond the formulas, NULL when nothing: to be printed with
	 * them. */
	const char *assumes;
};

/* Below these no interval is given. */
#define ESTIMATE_SAMPLES_MIN         30
#define ESTIMATE_EPOCHS_MIN          5
#define ESTIMATE_EPOCHS_MIN_WORKLOAD 10

/* Sections 1-4 and 10 of docs/estimates.md. `options` NULL: 95 %, automatic weighting. Owns its rows:
 * estimate_shares_release. Fails on a table that contradicts itself, on one beyond the limits of
 * evidence.h, and without memory; never for lack of samples, which is a result (`too_few`).
 *
 * A row without samples has share 0, the interval [0, 3.0 max(1, design effect)/N], which is one-sided,
 * and is meant for functions that the user named. */
MUST_CHECK enum status estimate_shares(struct estimate_shares *shares,
				       const struct estimate_table *table,
				       const struct estimate_options *options, struct error *error);
void estimate_shares_release(struct estimate_shares *shares);

#endif
