/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/merge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "estimate/evidence.h"

#define EPOCHS_WANTED 20.0

static int length_compare(const void *left, const void *right)
{
	const double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

double estimate_merge_target(const double *lengths, size_t n_epochs)
{
	double *sorted = malloc((n_epochs + 1) * sizeof(*sorted));
	double total = 0, quarter;

	if (!sorted || !n_epochs) {
		free(sorted);
		return 0;
	}
	memcpy(sorted, lengths, n_epochs * sizeof(*sorted));
	qsort(sorted, n_epochs, sizeof(*sorted), length_compare);
	for (size_t e = 0; e < n_epochs; e++)
		total += sorted[e];
	quarter = sorted[n_epochs * 3 / 4];
	free(sorted);
	return fmin(total / EPOCHS_WANTED, quarter);
}

/* Joins neighbours until each is at least 3/4 of the target (an epoch of random length 0.6-1.4 would
 * else be joined every other time); what is left over at the end joins the last one. */
static size_t plan_short(size_t *place, const double *lengths, size_t n_epochs, double target)
{
	double length = 0;
	size_t n = 0;

	for (size_t e = 0; e < n_epochs; e++) {
		place[e] = n;
		length += lengths[e];
		if (length < 0.75 * target)
			continue;
		length = 0;
		n++;
	}
	if (length > 0 && n > 0)
		for (size_t e = n_epochs; e-- > 0 && place[e] == n;)
			place[e] = n - 1;
	else if (length > 0 || !n)
		n = n_epochs ? 1 : 0;
	return n;
}

size_t estimate_merge_plan(size_t *place, const double *lengths, size_t n_epochs,
			   const struct estimate_merge_options *options)
{
	const size_t epochs_max =
		options && options->epochs_max ? options->epochs_max : ESTIMATE_EPOCHS_MAX;
	const double target = options && options->target > 0
				      ? options->target
				      : estimate_merge_target(lengths, n_epochs);
	size_t n = plan_short(place, lengths, n_epochs, target);

	while (n > epochs_max) {
		for (size_t e = 0; e < n_epochs; e++)
			place[e] /= 2;
		n = (n + 1) / 2;
	}
	return n;
}

static bool merged_allocate(struct estimate_merged *merged, const struct estimate_table *table,
			    size_t n_cells)
{
	merged->first = calloc(table->n_functions + 1, sizeof(*merged->first));
	merged->counts = calloc(table->first[table->n_functions] + 1, sizeof(*merged->counts));
	merged->cell_weight = calloc(n_cells + 1, sizeof(*merged->cell_weight));
	merged->cell_count = calloc(n_cells + 1, sizeof(*merged->cell_count));
	return merged->first && merged->counts && merged->cell_weight && merged->cell_count;
}

/* One row: cells are ascending in epochs, so those of one merged epoch are neighbours; within it they are
 * sorted by clock through `slots`, one per clock. Returns the counts written. */
static size_t merge_row(struct estimate_count *out, const struct estimate_table *table, size_t s,
			const size_t *place, struct estimate_count *slots)
{
	const size_t n_clocks = table->n_clocks;
	size_t n = 0, i = table->first[s];

	while (i < table->first[s + 1]) {
		const size_t epoch = place[table->counts[i].cell / n_clocks];

		for (size_t k = 0; k < n_clocks; k++)
			slots[k] =
				(struct estimate_count){ .cell = (uint32_t)(epoch * n_clocks + k) };
		for (; i < table->first[s + 1] && place[table->counts[i].cell / n_clocks] == epoch;
		     i++) {
			slots[table->counts[i].cell % n_clocks].count += table->counts[i].count;
			slots[table->counts[i].cell % n_clocks].weight += table->counts[i].weight;
		}
		for (size_t k = 0; k < n_clocks; k++)
			if (slots[k].count)
				out[n++] = slots[k];
	}
	return n;
}

enum status estimate_merge(struct estimate_merged *merged, const struct estimate_table *table,
			   const size_t *place, size_t n_merged, struct error *error)
{
	const size_t n_clocks = table->n_clocks, n_cells = n_merged * n_clocks;
	struct estimate_count *slots = NULL;
	struct evidence check;
	enum status status;
	size_t n = 0;

	*merged = (struct estimate_merged){ 0 };
	status = evidence_init(&check, table, false, error);
	if (status != STATUS_OK)
		return status;
	evidence_release(&check);
	slots = calloc(n_clocks + 1, sizeof(*slots));
	if (!slots || !merged_allocate(merged, table, n_cells)) {
		free(slots);
		estimate_merge_release(merged);
		return error_set(error, STATUS_NO_MEMORY, "estimate: no memory to merge %zu epochs",
				 table->n_epochs);
	}
	for (size_t cell = 0; cell < table->n_epochs * n_clocks; cell++) {
		const size_t to = place[cell / n_clocks] * n_clocks + cell % n_clocks;

		merged->cell_weight[to] += table->cell_weight[cell];
		merged->cell_count[to] += table->cell_count[cell];
	}
	for (size_t s = 0; s < table->n_functions; s++) {
		merged->first[s] = n;
		n += merge_row(merged->counts + n, table, s, place, slots);
	}
	merged->first[table->n_functions] = n;
	free(slots);
	merged->table = *table;
	merged->table.n_epochs = n_merged;
	merged->table.first = merged->first;
	merged->table.counts = merged->counts;
	merged->table.cell_weight = merged->cell_weight;
	merged->table.cell_count = merged->cell_count;
	return STATUS_OK;
}

void estimate_merge_release(struct estimate_merged *merged)
{
	free(merged->first);
	free(merged->counts);
	free(merged->cell_weight);
	free(merged->cell_count);
	*merged = (struct estimate_merged){ 0 };
}
