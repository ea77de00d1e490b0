/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/counts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "study/draw.h"

#define NOISE_CONCENTRATION 49
#define BURST_CHANCE        0.1
#define BURST_FACTOR        5
#define AR                  0.6
#define AR_SPREAD           0.3

bool counts_init(struct counts *counts, size_t n_functions, size_t n_epochs, size_t n_clocks,
		 size_t per_cell, enum process process, const double *share)
{
	const size_t n_cells = n_epochs * n_clocks;

	*counts = (struct counts){
		.n_functions = n_functions,
		.n_epochs = n_epochs,
		.n_clocks = n_clocks,
		.per_cell = per_cell,
		.process = process,
		.share = share,
	};
	counts->dense = calloc(n_functions * n_cells, sizeof(*counts->dense));
	counts->rows = calloc(n_functions * n_cells, sizeof(*counts->rows));
	counts->truth = calloc(n_functions, sizeof(*counts->truth));
	counts->log_state = calloc(n_functions, sizeof(*counts->log_state));
	counts->now = calloc(n_functions, sizeof(*counts->now));
	counts->sums = calloc(n_functions, sizeof(*counts->sums));
	counts->first = calloc(n_functions + 1, sizeof(*counts->first));
	counts->cell_weight = calloc(n_cells, sizeof(*counts->cell_weight));
	counts->cell_count = calloc(n_cells, sizeof(*counts->cell_count));
	return counts->dense && counts->rows && counts->truth && counts->log_state && counts->now &&
	       counts->sums && counts->first && counts->cell_weight && counts->cell_count;
}

void counts_release(struct counts *counts)
{
	free(counts->dense);
	free(counts->rows);
	free(counts->truth);
	free(counts->log_state);
	free(counts->now);
	free(counts->sums);
	free(counts->first);
	free(counts->cell_weight);
	free(counts->cell_count);
	*counts = (struct counts){ 0 };
}

void counts_start(struct counts *counts, uint64_t seed)
{
	random_init(&counts->random, seed, 4, 0, 0);
	memset(counts->dense, 0,
	       counts->n_functions * counts->n_epochs * counts->n_clocks * sizeof(*counts->dense));
	for (size_t s = 0; s < counts->n_functions; s++) {
		counts->truth[s] = 0;
		counts->log_state[s] = AR_SPREAD * draw_normal(&counts->random);
	}
}

static void shares_now(struct counts *counts)
{
	double sum = 0;

	for (size_t s = 0; s < counts->n_functions; s++) {
		double share = counts->share[s];

		if (counts->process == PROCESS_BURSTS &&
		    random_double(&counts->random) < BURST_CHANCE)
			share *= BURST_FACTOR;
		if (counts->process == PROCESS_AR) {
			share *= exp(counts->log_state[s]);
			counts->log_state[s] =
				AR * counts->log_state[s] +
				sqrt(1 - AR * AR) * AR_SPREAD * draw_normal(&counts->random);
		}
		sum += counts->now[s] = share;
	}
	for (size_t s = 0; s < counts->n_functions; s++)
		counts->now[s] /= sum;
	if (counts->process == PROCESS_NOISE)
		draw_dirichlet(&counts->random, counts->share, counts->n_functions,
			       NOISE_CONCENTRATION, counts->now);
}

void counts_epoch(struct counts *counts, size_t epoch)
{
	const size_t n_cells = counts->n_epochs * counts->n_clocks;

	shares_now(counts);
	cumulate(counts->now, counts->n_functions, counts->sums);
	for (size_t s = 0; s < counts->n_functions; s++)
		counts->truth[s] += counts->now[s] / (double)counts->n_epochs;
	for (size_t k = 0; k < counts->n_clocks; k++)
		for (size_t i = 0; i < counts->per_cell; i++) {
			const size_t s =
				draw_index(&counts->random, counts->sums, counts->n_functions);

			counts->dense[s * n_cells + epoch * counts->n_clocks + k]++;
		}
}

void counts_table(struct counts *counts, size_t n_epochs)
{
	const size_t n_cells = counts->n_epochs * counts->n_clocks;
	size_t n = 0;

	for (size_t c = 0; c < n_epochs * counts->n_clocks; c++) {
		counts->cell_count[c] = (uint32_t)counts->per_cell;
		counts->cell_weight[c] = (double)counts->per_cell;
	}
	for (size_t s = 0; s < counts->n_functions; s++) {
		counts->first[s] = n;
		for (size_t c = 0; c < n_epochs * counts->n_clocks; c++) {
			const uint32_t count = counts->dense[s * n_cells + c];

			if (count)
				counts->rows[n++] =
					(struct estimate_count){ (uint32_t)c, count, count };
		}
	}
	counts->first[counts->n_functions] = n;
	counts->table = (struct estimate_table){
		.n_functions = counts->n_functions,
		.n_epochs = n_epochs,
		.n_clocks = counts->n_clocks,
		.first = counts->first,
		.counts = counts->rows,
		.cell_weight = counts->cell_weight,
		.cell_count = counts->cell_count,
		.randomised = true,
	};
}

void counts_draw(struct counts *counts, uint64_t seed)
{
	counts_start(counts, seed);
	for (size_t e = 0; e < counts->n_epochs; e++)
		counts_epoch(counts, e);
	counts_table(counts, counts->n_epochs);
}
