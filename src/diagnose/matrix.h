/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samples by function, epoch and clock, dense: what the tests of the diagnosis look at.
 *
 * A function here is the real function whose code was sampled (never an inlined one). Only the largest
 * MATRIX_FUNCTIONS_MAX are told apart; all others are one last "rest". Nothing that a diagnosis says
 * is about a function with a handful of samples, and memory stays bounded (1025 x 128 x 16 counts).
 *
 * Columns are those of profile/clocks.h: first the clocks that enter the estimates, then the canaries.
 */
#ifndef ASSAY_DIAGNOSE_MATRIX_H
#define ASSAY_DIAGNOSE_MATRIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "estimate/estimate.h"
#include "profile/profile.h"
#include "profile/table.h"

#define MATRIX_FUNCTIONS_MAX 1024

struct matrix_function {
	const char *name, *module; /* borrowed from the symbolizer; of the rest "(others)", "" */
	uint64_t samples;          /* of the estimates' clocks */
	uint64_t canary_samples;
	bool named;
};

struct matrix {
	struct matrix_function *functions; /* by samples, largest first; the rest is last */
	size_t n;                          /* with the rest */
	uint32_t n_epochs, n_clocks, n_canaries;
	uint64_t samples, canary_samples;
	uint32_t *counts;     /* [function][epoch][column] */
	uint32_t *of_subject; /* from the table's subjects to functions */
	size_t n_subjects;
};

/* `table` must tell functions apart. On failure *matrix needs no release. */
MUST_CHECK enum status matrix_build(struct matrix *matrix, struct profile *profile,
				    const struct table *table, struct error *error);
/* An empty one of this shape, functions unnamed: for simulations and tests. */
MUST_CHECK enum status matrix_make(struct matrix *matrix, size_t n, uint32_t n_epochs,
				   uint32_t n_clocks, uint32_t n_canaries, struct error *error);
void matrix_release(struct matrix *matrix);

static inline uint32_t matrix_columns(const struct matrix *matrix)
{
	return matrix->n_clocks + matrix->n_canaries;
}

static inline uint32_t *matrix_cell(const struct matrix *matrix, size_t function, uint32_t epoch,
				    uint32_t column)
{
	return &matrix->counts[(function * matrix->n_epochs + epoch) * matrix_columns(matrix) +
			       column];
}

/* The function of a sampled address, matrix->n - 1 (the rest) at least. */
MUST_CHECK enum status matrix_function_at(const struct matrix *matrix, struct profile *profile,
					  const struct table *table, uint32_t generation,
					  uint8_t cpumode, uint64_t address, uint32_t *function,
					  struct error *error);

/* Some columns as a table for the estimates. */
struct matrix_table {
	struct estimate_table table;
	size_t *first;
	struct estimate_count *counts;
	double *cell_weight;
	uint32_t *cell_count;
};

/* Columns [from, to). */
MUST_CHECK enum status matrix_table_make(struct matrix_table *out, const struct matrix *matrix,
					 uint32_t from, uint32_t to, bool randomised,
					 struct error *error);
void matrix_table_release(struct matrix_table *out);

#endif
