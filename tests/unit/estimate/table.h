/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Small tables for tests: dense counts in, a compressed estimate_table out.
 */
#ifndef ASSAY_TESTS_ESTIMATE_TABLE_H
#define ASSAY_TESTS_ESTIMATE_TABLE_H

#include <stdlib.h>

#include "estimate/estimate.h"
#include "unit/estimate/near.h"

struct test_table {
	struct estimate_table table;
	size_t *first;
	struct estimate_count *counts;
	double *cell_weight;
	uint32_t *cell_count;
};

/* counts[s][e][k], n_functions x n_epochs x n_clocks; weights NULL: 1 each. `rest` (e][k], may be NULL)
 * is added to the cells as samples of no function listed. */
static inline void test_table_init(struct test_table *test, size_t n_functions, size_t n_epochs,
				   size_t n_clocks, const uint32_t *counts, const double *weights,
				   const uint32_t *rest)
{
	const size_t n_cells = n_epochs * n_clocks;
	size_t n = 0;

	test->first = calloc(n_functions + 1, sizeof(*test->first));
	test->counts = calloc(n_functions * n_cells + 1, sizeof(*test->counts));
	test->cell_weight = calloc(n_cells + 1, sizeof(*test->cell_weight));
	test->cell_count = calloc(n_cells + 1, sizeof(*test->cell_count));
	if (!test->first || !test->counts || !test->cell_weight || !test->cell_count)
		abort();
	for (size_t c = 0; rest && c < n_cells; c++) {
		test->cell_count[c] = rest[c];
		test->cell_weight[c] = rest[c];
	}
	for (size_t s = 0; s < n_functions; s++) {
		test->first[s] = n;
		for (size_t c = 0; c < n_cells; c++) {
			const uint32_t count = counts[s * n_cells + c];
			const double weight = weights ? weights[s * n_cells + c] : count;

			if (!count)
				continue;
			test->counts[n++] = (struct estimate_count){ .cell = (uint32_t)c,
								     .count = count,
								     .weight = weight };
			test->cell_count[c] += count;
			test->cell_weight[c] += weight;
		}
	}
	test->first[n_functions] = n;
	test->table = (struct estimate_table){
		.n_functions = n_functions,
		.n_epochs = n_epochs,
		.n_clocks = n_clocks,
		.first = test->first,
		.counts = test->counts,
		.cell_weight = test->cell_weight,
		.cell_count = test->cell_count,
		.randomised = true,
	};
}

static inline void test_table_release(struct test_table *test)
{
	free(test->first);
	free(test->counts);
	free(test->cell_weight);
	free(test->cell_count);
}

#endif
