/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Recordings at the level of counts: independent samples within an epoch, whose shares follow some
 * process from epoch to epoch. Much cheaper than timelines, for questions about epochs and ranks.
 */
#ifndef ASSAY_STUDY_COUNTS_H
#define ASSAY_STUDY_COUNTS_H

#include "base/random.h"
#include "estimate/estimate.h"

enum process {
	PROCESS_IID,    /* shares never change */
	PROCESS_NOISE,  /* Dirichlet(49) around them in every epoch: design effect about 3 */
	PROCESS_BURSTS, /* in one epoch of ten a function has five times its share */
	PROCESS_AR,     /* log shares follow an autoregression with 0.6 and spread 0.3 */
};

struct counts {
	size_t n_functions, n_epochs, n_clocks, per_cell;
	enum process process;
	const double *share; /* in the long run, to first order; equal shares stay exchangeable */
	uint32_t *dense;     /* function, epoch, clock */
	double *truth;       /* mean of the epochs' shares: those of this recording */
	double *log_state;   /* PROCESS_AR */
	double *now, *sums;
	struct random random;
	struct estimate_table table;
	size_t *first;
	struct estimate_count *rows;
	double *cell_weight;
	uint32_t *cell_count;
};

/* Room for n_epochs; false without memory. */
bool counts_init(struct counts *counts, size_t n_functions, size_t n_epochs, size_t n_clocks,
		 size_t per_cell, enum process process, const double *share);
void counts_release(struct counts *counts);

/* Forgets everything and draws epochs anew: counts_start, then counts_epoch for e = 0, 1, ..., then
 * counts_table for the first n of them. counts_draw does all of it. */
void counts_start(struct counts *counts, uint64_t seed);
void counts_epoch(struct counts *counts, size_t epoch);
void counts_table(struct counts *counts, size_t n_epochs);
void counts_draw(struct counts *counts, uint64_t seed);

#endif
