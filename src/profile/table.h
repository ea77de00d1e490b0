/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rows by cells: what estimates are made of.
 *
 * A row is a subject (function, module, line; subjects.h) together with a tag (comm, pid, ...; tags.h),
 * whichever of them the report tells apart. `self` counts the samples that were in the row's own code;
 * `total` those whose stack contains it anywhere, once per sample, also under recursion.
 *
 * Epochs without any sample are left out, and where a cut file has few samples neighbouring epochs are
 * put together. Canaries are counted beside the estimates' cells, per row only.
 */
#ifndef ASSAY_PROFILE_TABLE_H
#define ASSAY_PROFILE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "estimate/estimate.h"
#include "profile/profile.h"
#include "profile/subjects.h"

struct table_row {
	uint32_t subject; /* KEYTABLE_NONE: rows are told apart by tag only */
	uint32_t tag;
};

/* Compressed rows: row r owns counts[first[r] .. first[r + 1]), cells ascending. */
struct table_counts {
	size_t *first;
	struct estimate_count *counts;
	size_t n, capacity;
};

/* Samples without a name, by module and reason. */
struct table_miss {
	struct module *module; /* NULL: none */
	const char *module_name;
	enum symbol_miss miss;
	uint64_t samples;   /* whose own address has no name */
	uint64_t in_stacks; /* whose stack holds such an address anywhere */
	uint64_t addresses; /* distinct ones */
};

struct table {
	struct subjects subjects;
	struct table_row *rows;
	size_t n_rows, rows_capacity;
	struct keytable row_index;
	struct table_counts self, total;
	bool has_total; /* stacks exist, so that total differs from self */
	uint32_t n_epochs, n_clocks;
	double *cell_weight; /* n_epochs * n_clocks */
	uint32_t *cell_count;
	uint64_t *self_samples, *total_samples; /* by row */
	uint64_t *canary_self;                  /* by row: samples of canaries */
	uint64_t canary_samples;
	struct table_miss *misses;
	size_t n_misses, misses_capacity;
	uint64_t cut_samples; /* whose stack is cut */
};

/* `by`: SUBJECT_*, 0 for tags alone. Names every place of the profile's stacks; without `totals` only
 * the innermost one of each. On failure *table needs no release. */
MUST_CHECK enum status table_build(struct table *table, struct profile *profile, unsigned int by,
				   bool totals, struct error *error);
void table_release(struct table *table);

/* The table as the estimates take it; borrows. */
struct estimate_table table_estimate_self(const struct table *table, bool randomised);
struct estimate_table table_estimate_total(const struct table *table, bool randomised);

/* NULL where rows have no subject. */
const struct subject *table_subject(const struct table *table, size_t row);

#endif
