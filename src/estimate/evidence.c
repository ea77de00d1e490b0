/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/evidence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PLACE_NONE UINT32_MAX

static double cell_weight(const struct estimate_table *table, bool periods, size_t cell)
{
	return periods ? table->cell_weight[cell] : (double)table->cell_count[cell];
}

static enum status table_check_row(const struct estimate_table *table, size_t s,
				   struct error *error)
{
	const size_t n_cells = table->n_epochs * table->n_clocks;

	if (table->first[s] > table->first[s + 1])
		return error_set(error, STATUS_CORRUPT, "estimate: row %zu ends before it begins",
				 s);
	for (size_t i = table->first[s]; i < table->first[s + 1]; i++) {
		const struct estimate_count *count = &table->counts[i];

		if (count->cell >= n_cells ||
		    (i > table->first[s] && count->cell <= count[-1].cell))
			return error_set(error, STATUS_CORRUPT,
					 "estimate: row %zu has cell %u of %zu out of order", s,
					 count->cell, n_cells);
		if (count->count > table->cell_count[count->cell] || !(count->weight >= 0) ||
		    !isfinite(count->weight))
			return error_set(error, STATUS_CORRUPT,
					 "estimate: row %zu has more samples than its cell %u", s,
					 count->cell);
	}
	return STATUS_OK;
}

static enum status table_check(const struct estimate_table *table, struct error *error)
{
	if (table->n_epochs > EVIDENCE_EPOCHS_MAX || table->n_clocks > EVIDENCE_CLOCKS_MAX ||
	    table->n_epochs * table->n_clocks > EVIDENCE_CELLS_MAX)
		return error_set(error, STATUS_LIMIT,
				 "estimate: %zu epochs of %zu clocks are too many: merge epochs",
				 table->n_epochs, table->n_clocks);
	for (size_t cell = 0; cell < table->n_epochs * table->n_clocks; cell++)
		if (!(table->cell_weight[cell] >= 0) || !isfinite(table->cell_weight[cell]))
			return error_set(error, STATUS_CORRUPT,
					 "estimate: cell %zu has no valid weight", cell);
	for (size_t s = 0; s < table->n_functions; s++) {
		const enum status status = table_check_row(table, s, error);

		if (status != STATUS_OK)
			return status;
	}
	return STATUS_OK;
}

/* Numbers the epochs and clocks that have samples; fills place and cell_part. `seen` holds n_epochs +
 * n_clocks zeroes. */
static void evidence_lay_out(struct evidence *evidence, uint32_t *seen)
{
	const struct estimate_table *table = evidence->table;
	uint32_t *epoch = seen, *clock = seen + table->n_epochs;
	uint32_t n_epochs = 0, n_clocks = 0;

	for (size_t e = 0; e < table->n_epochs; e++)
		for (size_t k = 0; k < table->n_clocks; k++) {
			const size_t cell = e * table->n_clocks + k;

			if (!table->cell_count[cell])
				continue;
			epoch[e] = clock[k] = 1;
			evidence->samples += table->cell_count[cell];
			evidence->total += cell_weight(table, evidence->periods, cell);
		}
	for (size_t e = 0; e < table->n_epochs; e++)
		epoch[e] = epoch[e] ? n_epochs++ : PLACE_NONE;
	for (size_t k = 0; k < table->n_clocks; k++)
		clock[k] = clock[k] ? n_clocks++ : PLACE_NONE;
	evidence->n_epochs = n_epochs;
	evidence->n_clocks = n_clocks;
	for (size_t cell = 0; cell < table->n_epochs * table->n_clocks; cell++) {
		const uint32_t e = epoch[cell / table->n_clocks];
		const uint32_t k = clock[cell % table->n_clocks];

		evidence->place[cell] = PLACE_NONE;
		if (e == PLACE_NONE || k == PLACE_NONE)
			continue;
		evidence->place[cell] = e * n_clocks + k;
		if (evidence->total > 0)
			evidence->cell_part[evidence->place[cell]] =
				cell_weight(table, evidence->periods, cell) / evidence->total;
	}
}

enum status evidence_init(struct evidence *evidence, const struct estimate_table *table,
			  bool periods, struct error *error)
{
	enum status status = table_check(table, error);
	size_t n_cells;
	uint32_t *seen;

	*evidence = (struct evidence){ .table = table, .periods = periods };
	if (status != STATUS_OK)
		return status;
	n_cells = table->n_epochs * table->n_clocks;
	seen = calloc(table->n_epochs + table->n_clocks + 1, sizeof(*seen));
	evidence->place = calloc(n_cells + 1, sizeof(*evidence->place));
	evidence->cell_part = calloc(n_cells + 1, sizeof(*evidence->cell_part));
	evidence->deviation = calloc(n_cells + 1, sizeof(*evidence->deviation));
	evidence->contrasts = calloc(n_cells + 1, sizeof(*evidence->contrasts));
	evidence->epochs = calloc(table->n_epochs + 1, sizeof(*evidence->epochs));
	if (!seen || !evidence->place || !evidence->cell_part || !evidence->deviation ||
	    !evidence->contrasts || !evidence->epochs) {
		free(seen);
		evidence_release(evidence);
		return error_set(error, STATUS_NO_MEMORY, "estimate: no memory for %zu cells",
				 n_cells);
	}
	evidence_lay_out(evidence, seen);
	free(seen);
	if (evidence->n_clocks > 1) {
		evidence->n_contrasts = evidence->n_epochs * (evidence->n_clocks - 1);
		evidence->contrast_df = (double)evidence->n_contrasts;
	} else {
		evidence->n_contrasts = evidence->n_epochs;
		evidence->contrast_df = evidence->n_epochs ? (double)evidence->n_epochs - 1 : 0;
	}
	return STATUS_OK;
}

void evidence_release(struct evidence *evidence)
{
	free(evidence->place);
	free(evidence->cell_part);
	free(evidence->deviation);
	free(evidence->contrasts);
	free(evidence->epochs);
	*evidence = (struct evidence){ 0 };
}

/* Helmert's contrasts of z[0..K-1]: h_c = (c z_c - sum of those before) / sqrt(c(c+1)), c = 1..K-1;
 * the sum of their squares is sum (z - mean)^2. */
static void contrasts_of_clocks(const double *z, size_t n_clocks, double *contrasts)
{
	const double scale = sqrt((double)n_clocks / (double)(n_clocks - 1));
	double before = z[0];

	for (size_t c = 1; c < n_clocks; c++) {
		const double rank = (double)c;

		contrasts[c - 1] = scale * (before - rank * z[c]) / sqrt(rank * (rank + 1));
		before += z[c];
	}
}

double evidence_deviations(const struct evidence *evidence, size_t s, double *contrasts,
			   double *epochs)
{
	const struct estimate_table *table = evidence->table;
	const size_t n_clocks = evidence->n_clocks;
	double *z = evidence->deviation;
	double share = 0;

	if (!(evidence->total > 0))
		return 0;
	memset(z, 0, evidence->n_epochs * n_clocks * sizeof(*z));
	for (size_t i = table->first[s]; i < table->first[s + 1]; i++) {
		const struct estimate_count *count = &table->counts[i];
		const double x = evidence->periods ? count->weight : (double)count->count;

		if (!count->count)
			continue;
		z[evidence->place[count->cell]] = x / evidence->total;
		share += x;
	}
	share /= evidence->total;
	for (size_t e = 0; e < evidence->n_epochs; e++) {
		double sum = 0;

		for (size_t k = 0; k < n_clocks; k++) {
			z[e * n_clocks + k] -= share * evidence->cell_part[e * n_clocks + k];
			sum += z[e * n_clocks + k];
		}
		epochs[e] = sum;
		if (n_clocks > 1)
			contrasts_of_clocks(z + e * n_clocks, n_clocks,
					    contrasts + e * (n_clocks - 1));
		else
			contrasts[e] = sum * sqrt((double)evidence->n_epochs /
						  fmax((double)evidence->n_epochs - 1, 1));
	}
	return share;
}

static double df_of_squares(double sum, double sum_of_squares, double n)
{
	if (!(sum_of_squares > 0))
		return 1;
	return fmin(n, fmax(1, 3 * sum * sum / sum_of_squares));
}

struct moments evidence_moments(const struct evidence *evidence, size_t s)
{
	const struct estimate_table *table = evidence->table;
	const double n_epochs = (double)evidence->n_epochs;
	struct moments moments = { 0 };
	double fourth = 0;

	for (size_t i = table->first[s]; i < table->first[s + 1]; i++)
		moments.samples += table->counts[i].count;
	moments.share = evidence_deviations(evidence, s, evidence->contrasts, evidence->epochs);
	for (size_t i = 0; i < evidence->n_contrasts; i++) {
		const double q = evidence->contrasts[i] * evidence->contrasts[i];

		moments.v_recording += q;
		fourth += q * q;
	}
	moments.df_recording = df_of_squares(moments.v_recording, fourth, evidence->contrast_df);
	fourth = 0;
	for (size_t e = 0; e < evidence->n_epochs; e++) {
		const double q = evidence->epochs[e] * evidence->epochs[e];

		moments.squares += q;
		fourth += q * q;
		if (e)
			moments.lagged += evidence->epochs[e] * evidence->epochs[e - 1];
	}
	moments.df_epochs = df_of_squares(moments.squares, fourth, n_epochs - 1);
	if (n_epochs > 1)
		moments.v_epochs = n_epochs / (n_epochs - 1) * moments.squares;
	return moments;
}
