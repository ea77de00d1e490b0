/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diagnose/matrix.h"

#include <stdlib.h>
#include <string.h>

static enum status no_memory(struct error *error)
{
	return error_set(error, STATUS_NO_MEMORY, "not enough memory for the diagnosis");
}

void matrix_release(struct matrix *matrix)
{
	free(matrix->functions);
	free(matrix->counts);
	free(matrix->of_subject);
	memset(matrix, 0, sizeof(*matrix));
}

enum status matrix_make(struct matrix *matrix, size_t n, uint32_t n_epochs, uint32_t n_clocks,
			uint32_t n_canaries, struct error *error)
{
	*matrix = (struct matrix){
		.n = n, .n_epochs = n_epochs, .n_clocks = n_clocks, .n_canaries = n_canaries
	};
	matrix->functions = calloc(n + 1, sizeof(*matrix->functions));
	matrix->counts =
		calloc(n * n_epochs * (n_clocks + n_canaries) + 1, sizeof(*matrix->counts));
	if (matrix->functions && matrix->counts)
		return STATUS_OK;
	matrix_release(matrix);
	return no_memory(error);
}

static enum place_mode mode_of(uint8_t cpumode)
{
	switch (cpumode) {
	case PERF_RECORD_MISC_KERNEL: return PLACE_KERNEL;
	case PERF_RECORD_MISC_HYPERVISOR: return PLACE_HYPERVISOR;
	case PERF_RECORD_MISC_GUEST_KERNEL:
	case PERF_RECORD_MISC_GUEST_USER: return PLACE_GUEST;
	default: return PLACE_USER;
	}
}

/* The subject of a sampled address; KEYTABLE_NONE when the table never named it. */
static enum status subject_at(struct profile *profile, const struct table *table,
			      uint32_t generation, uint8_t cpumode, uint64_t address,
			      uint32_t *subject, struct error *error)
{
	const struct place *place;
	uint32_t index;
	enum status status = places_at(&profile->places, generation, mode_of(cpumode),
				       (struct runtime_address){ address }, false, &index, error);

	*subject = KEYTABLE_NONE;
	if (status != STATUS_OK)
		return status;
	place = &profile->places.items[index];
	if (place->n_subjects)
		*subject = table->subjects.list[place->subjects + place->n_subjects - 1];
	return STATUS_OK;
}

enum status matrix_function_at(const struct matrix *matrix, struct profile *profile,
			       const struct table *table, uint32_t generation, uint8_t cpumode,
			       uint64_t address, uint32_t *function, struct error *error)
{
	uint32_t subject;
	const enum status status =
		subject_at(profile, table, generation, cpumode, address, &subject, error);

	*function = status == STATUS_OK && subject < matrix->n_subjects
			    ? matrix->of_subject[subject]
			    : (uint32_t)matrix->n - 1;
	return status;
}

struct subject_sum {
	uint32_t subject;
	uint64_t samples, canary_samples;
};

static int sum_compare(const void *left, const void *right)
{
	const struct subject_sum *a = left, *b = right;

	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	if (a->canary_samples != b->canary_samples)
		return a->canary_samples > b->canary_samples ? -1 : 1;
	return (a->subject > b->subject) - (a->subject < b->subject);
}

/* Fills the subject of each stack, and the sums by subject. */
static enum status subjects_sum(struct profile *profile, const struct table *table,
				uint32_t *subject_of, struct subject_sum *sums, struct error *error)
{
	const struct stacks *stacks = &profile->stacks;
	const uint32_t columns = profile_columns(profile);

	for (size_t s = 0; s < table->subjects.n; s++)
		sums[s].subject = (uint32_t)s;
	for (size_t i = 0; i < stacks->n; i++) {
		const struct stack *stack = &stacks->items[i];
		const enum status status =
			subject_at(profile, table, stack->generation, stack->cpumode, stack->ip,
				   &subject_of[i], error);

		if (status != STATUS_OK)
			return status;
		if (subject_of[i] >= table->subjects.n)
			continue;
		for (uint32_t at = stack->counts; at != STACKS_END; at = stacks->counts[at].next)
			if (stacks->counts[at].cell % columns < profile->clocks.n_clocks)
				sums[subject_of[i]].samples += stacks->counts[at].count;
			else
				sums[subject_of[i]].canary_samples += stacks->counts[at].count;
	}
	return STATUS_OK;
}

static void functions_fill(struct matrix *matrix, const struct table *table,
			   const struct subject_sum *sums, size_t n_told)
{
	for (size_t s = 0; s < table->subjects.n; s++)
		matrix->of_subject[s] = (uint32_t)n_told;
	for (size_t f = 0; f < n_told; f++) {
		const struct subject *subject = &table->subjects.items[sums[f].subject];

		matrix->functions[f].name = subject->name ? subject->name : "[unknown]";
		matrix->functions[f].module = subject->module_name ? subject->module_name : "";
		matrix->functions[f].named = subject->named;
		matrix->of_subject[sums[f].subject] = (uint32_t)f;
	}
	matrix->functions[n_told].name = "(others)";
	matrix->functions[n_told].module = "";
}

static void counts_fill(struct matrix *matrix, const struct profile *profile,
			const uint32_t *subject_of)
{
	const struct stacks *stacks = &profile->stacks;
	const uint32_t columns = matrix_columns(matrix);

	for (size_t i = 0; i < stacks->n; i++) {
		const size_t f = subject_of[i] < matrix->n_subjects
					 ? matrix->of_subject[subject_of[i]]
					 : matrix->n - 1;

		for (uint32_t at = stacks->items[i].counts; at != STACKS_END;
		     at = stacks->counts[at].next) {
			const struct stack_count *count = &stacks->counts[at];

			*matrix_cell(matrix, f, count->cell / columns, count->cell % columns) +=
				count->count;
			if (count->cell % columns < matrix->n_clocks) {
				matrix->functions[f].samples += count->count;
				matrix->samples += count->count;
			} else {
				matrix->functions[f].canary_samples += count->count;
				matrix->canary_samples += count->count;
			}
		}
	}
}

enum status matrix_build(struct matrix *matrix, struct profile *profile, const struct table *table,
			 struct error *error)
{
	const size_t n_subjects = table->subjects.n;
	uint32_t *subject_of = calloc(profile->stacks.n + 1, sizeof(*subject_of));
	struct subject_sum *sums = calloc(n_subjects + 1, sizeof(*sums));
	enum status status = subject_of && sums ? STATUS_OK : no_memory(error);
	size_t n_told = 0;

	memset(matrix, 0, sizeof(*matrix));
	if (status == STATUS_OK)
		status = subjects_sum(profile, table, subject_of, sums, error);
	if (status == STATUS_OK) {
		qsort(sums, n_subjects, sizeof(*sums), sum_compare);
		while (n_told < n_subjects && n_told < MATRIX_FUNCTIONS_MAX &&
		       (sums[n_told].samples || sums[n_told].canary_samples))
			n_told++;
		status = matrix_make(matrix, n_told + 1, profile->epochs.n,
				     profile->clocks.n_clocks, profile->clocks.n_canaries, error);
	}
	if (status == STATUS_OK) {
		matrix->n_subjects = n_subjects;
		matrix->of_subject = calloc(n_subjects + 1, sizeof(*matrix->of_subject));
		if (!matrix->of_subject)
			status = no_memory(error);
	}
	if (status == STATUS_OK) {
		functions_fill(matrix, table, sums, n_told);
		counts_fill(matrix, profile, subject_of);
	} else {
		matrix_release(matrix);
	}
	free(subject_of);
	free(sums);
	return status;
}

void matrix_table_release(struct matrix_table *out)
{
	free(out->first);
	free(out->counts);
	free(out->cell_weight);
	free(out->cell_count);
	memset(out, 0, sizeof(*out));
}

static size_t cells_used(const struct matrix *matrix, uint32_t from, uint32_t to)
{
	size_t n = 0;

	for (size_t f = 0; f < matrix->n; f++)
		for (uint32_t e = 0; e < matrix->n_epochs; e++)
			for (uint32_t c = from; c < to; c++)
				n += *matrix_cell(matrix, f, e, c) > 0;
	return n;
}

static void table_fill(struct matrix_table *out, const struct matrix *matrix, uint32_t from,
		       uint32_t to)
{
	const uint32_t n_clocks = to - from;
	size_t n = 0;

	for (size_t f = 0; f < matrix->n; f++) {
		out->first[f] = n;
		for (uint32_t e = 0; e < matrix->n_epochs; e++)
			for (uint32_t c = from; c < to; c++) {
				const uint32_t count = *matrix_cell(matrix, f, e, c);
				const uint32_t cell = e * n_clocks + c - from;

				if (!count)
					continue;
				out->counts[n++] = (struct estimate_count){ cell, count, count };
				out->cell_count[cell] += count;
				out->cell_weight[cell] += count;
			}
	}
	out->first[matrix->n] = n;
}

enum status matrix_table_make(struct matrix_table *out, const struct matrix *matrix, uint32_t from,
			      uint32_t to, bool randomised, struct error *error)
{
	const size_t n_cells = (size_t)matrix->n_epochs * (to - from);

	memset(out, 0, sizeof(*out));
	out->first = calloc(matrix->n + 1, sizeof(*out->first));
	out->counts = calloc(cells_used(matrix, from, to) + 1, sizeof(*out->counts));
	out->cell_weight = calloc(n_cells + 1, sizeof(*out->cell_weight));
	out->cell_count = calloc(n_cells + 1, sizeof(*out->cell_count));
	if (!out->first || !out->counts || !out->cell_weight || !out->cell_count) {
		matrix_table_release(out);
		return no_memory(error);
	}
	table_fill(out, matrix, from, to);
	out->table = (struct estimate_table){ .n_functions = matrix->n,
					      .n_epochs = matrix->n_epochs,
					      .n_clocks = to - from,
					      .first = out->first,
					      .counts = out->counts,
					      .cell_weight = out->cell_weight,
					      .cell_count = out->cell_count,
					      .randomised = randomised };
	return STATUS_OK;
}
