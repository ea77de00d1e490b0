/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "until/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void until_table_release(struct until_table *self)
{
	free(self->first);
	free(self->row_of);
	free(self->order);
	memset(self, 0, sizeof(*self));
}

static int samples_compare(const void *left, const void *right, void *argument)
{
	const struct until_table *self = argument;
	const size_t a = *(const size_t *)left, b = *(const size_t *)right;
	const uint64_t of_a = self->table->self_samples[self->row_of[a]];
	const uint64_t of_b = self->table->self_samples[self->row_of[b]];

	if (of_a != of_b)
		return of_a > of_b ? -1 : 1;
	return (a > b) - (a < b);
}

static void rows_take(struct until_table *self, const struct table *table)
{
	size_t n = 0;

	for (size_t row = 0; row < table->n_rows; row++) {
		if (table->self.first[row] == table->self.first[row + 1])
			continue;
		self->row_of[n] = row;
		self->order[n] = n;
		self->first[++n] = table->self.first[row + 1];
	}
	self->estimates.n_functions = n;
	qsort_r(self->order, n, sizeof(*self->order), samples_compare, self);
}

static double duration_s(const struct profile *profile)
{
	const struct manifest *manifest = &profile->bundle->manifest;

	if (!profile->bundle->has_manifest || !manifest->n_epochs)
		return (double)(profile->last_ns - profile->first_ns) / 1e9;
	return (double)(manifest->epochs[manifest->n_epochs - 1].end_ns -
			manifest->epochs[0].start_ns) /
	       1e9;
}

enum status until_table_make(struct until_table *self, const struct profile *profile,
			     const struct table *table, struct error *error)
{
	const double recorded =
		profile->bundle->has_manifest ? profile->epochs.recorded : table->n_epochs;

	*self = (struct until_table){ .table = table, .epochs_per_row = 1 };
	self->first = calloc(table->n_rows + 1, sizeof(*self->first));
	self->row_of = calloc(table->n_rows + 1, sizeof(*self->row_of));
	self->order = calloc(table->n_rows + 1, sizeof(*self->order));
	if (!self->first || !self->row_of || !self->order) {
		until_table_release(self);
		return error_set(error, STATUS_NO_MEMORY, "no memory for %zu functions",
				 table->n_rows);
	}
	self->estimates = table_estimate_self(table, profile->clocks.randomised);
	rows_take(self, table);
	self->estimates.first = self->first;
	if (table->n_epochs) {
		self->epoch_s = duration_s(profile) / table->n_epochs;
		self->epochs_per_row = recorded / table->n_epochs;
	}
	return STATUS_OK;
}

void until_table_name(const struct until_table *self, size_t function, char *text, size_t room)
{
	const struct subject *subject = table_subject(self->table, self->row_of[function]);

	if (subject->name && subject->name[0] == '[' && subject->module_name)
		snprintf(text, room, "%s in %s", subject->name, subject->module_name);
	else
		snprintf(text, room, "%s", subject->name ? subject->name : "[unknown]");
}

double until_table_share(const struct until_table *self, size_t function)
{
	uint64_t all = 0;

	for (size_t i = 0; i < self->estimates.n_functions; i++)
		all += self->table->self_samples[self->row_of[i]];
	return all ? (double)self->table->self_samples[self->row_of[function]] / (double)all : 0;
}

size_t until_table_kernel(const struct until_table *self, const struct profile *profile)
{
	const size_t n = self->estimates.n_functions;
	size_t place = 0;

	for (; place < n && profile->places.kernel; place++) {
		const struct subject *subject =
			table_subject(self->table, self->row_of[self->order[place]]);

		if (subject->module == profile->places.kernel && !subject->named)
			return place;
	}
	return n;
}

static bool finding_touches_function(const struct until_table *self, const struct finding *finding,
				     size_t function)
{
	const struct subject *subject = table_subject(self->table, self->row_of[function]);

	for (size_t i = 0; i < finding->n_functions && subject->name; i++)
		if (!strcmp(finding->functions[i].name, subject->name) &&
		    (!*finding->functions[i].module ||
		     (subject->module_name &&
		      !strcmp(finding->functions[i].module, subject->module_name))))
			return true;
	return false;
}

const struct finding *until_table_bias(const struct until_table *self,
				       const struct findings *findings, size_t top_k)
{
	const size_t n = self->estimates.n_functions;
	const size_t k = top_k && top_k < n ? top_k : n;

	for (size_t i = 0; i < findings->n; i++) {
		const struct finding *finding = &findings->items[i];

		if (finding->severity != FINDING_BIAS || finding->elsewhere)
			continue;
		if (finding->every_function)
			return finding;
		for (size_t f = 0; f < k; f++)
			if (finding_touches_function(self, finding, self->order[f]))
				return finding;
	}
	return NULL;
}
