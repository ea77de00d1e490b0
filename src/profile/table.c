/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

/* While the table is built: which rows each stack belongs to. */
struct build {
	struct table *table;
	struct profile *profile;
	struct profile_frames frames;
	uint32_t *self;    /* by stack: its self row */
	uint32_t *members; /* rows of all stacks, one after the other, without repeats */
	size_t n_members, members_capacity;
	size_t *member_first; /* by stack, n + 1 */
	uint32_t *seen;       /* by row: stack + 1 that it was last noted for */
	size_t seen_capacity;
	uint32_t *chain; /* SUBJECT_STACK: subjects of the stack in hand */
	size_t n_chain, chain_capacity;
	uint32_t *missed; /* by miss: the same */
	size_t missed_capacity;
	struct keytable miss_index;
	uint32_t *epoch_of; /* from the profile's epochs to the table's */
	uint64_t *samples;  /* by stack, of the estimates' clocks */
};

void table_release(struct table *table)
{
	subjects_release(&table->subjects);
	keytable_release(&table->row_index);
	free(table->rows);
	free(table->self.first);
	free(table->self.counts);
	free(table->total.first);
	free(table->total.counts);
	free(table->cell_weight);
	free(table->cell_count);
	free(table->self_samples);
	free(table->total_samples);
	free(table->canary_self);
	free(table->misses);
	memset(table, 0, sizeof(*table));
}

static void build_release(struct build *build)
{
	profile_frames_release(&build->frames);
	free(build->self);
	free(build->members);
	free(build->member_first);
	free(build->seen);
	free(build->chain);
	free(build->missed);
	keytable_release(&build->miss_index);
	free(build->epoch_of);
	free(build->samples);
}

static enum status no_memory(struct error *error)
{
	return error_set(error, STATUS_NO_MEMORY, "no memory for the table of functions");
}

/* ---- cells ---- */

/* Samples of the estimates' clocks by epoch of the profile, to see which epochs are worth keeping. */
static enum status epochs_choose(struct build *build, struct error *error)
{
	const struct profile *profile = build->profile;
	const struct stacks *stacks = &profile->stacks;
	const uint32_t columns = profile_columns(profile), n = profile->epochs.n;
	uint32_t kept = n;
	bool used[EPOCHS_MAX] = { false };

	build->epoch_of = calloc(n, sizeof(*build->epoch_of));
	if (!build->epoch_of)
		return no_memory(error);
	if (!profile->clocks.by_id)
		kept = epochs_kept(n, profile->samples);
	for (size_t i = 0; i < stacks->n_counts; i++)
		if (stacks->counts[i].cell % columns < profile->clocks.n_clocks)
			used[stacks->counts[i].cell / columns * kept / n] = true;
	for (uint32_t epoch = 0, number = 0, last = UINT32_MAX; epoch < n; epoch++) {
		const uint32_t merged = epoch * kept / n;

		if (merged != last && last != UINT32_MAX)
			number += used[last];
		build->epoch_of[epoch] = number;
		last = merged;
		build->table->n_epochs = number + used[merged];
	}
	return STATUS_OK;
}

static bool count_is_primary(const struct build *build, const struct stack_count *count)
{
	return count->cell % profile_columns(build->profile) < build->profile->clocks.n_clocks;
}

static uint32_t count_cell(const struct build *build, const struct stack_count *count)
{
	const uint32_t columns = profile_columns(build->profile);

	return build->epoch_of[count->cell / columns] * build->profile->clocks.n_clocks +
	       count->cell % columns;
}

static enum status cells_fill(struct build *build, struct error *error)
{
	struct table *table = build->table;
	const struct stacks *stacks = &build->profile->stacks;
	const size_t n = (size_t)table->n_epochs * table->n_clocks + 1;

	table->cell_weight = calloc(n, sizeof(*table->cell_weight));
	table->cell_count = calloc(n, sizeof(*table->cell_count));
	if (!table->cell_weight || !table->cell_count)
		return no_memory(error);
	for (size_t i = 0; i < stacks->n_counts; i++) {
		const struct stack_count *count = &stacks->counts[i];

		if (!count_is_primary(build, count))
			continue;
		table->cell_weight[count_cell(build, count)] += count->weight;
		table->cell_count[count_cell(build, count)] += count->count;
	}
	return STATUS_OK;
}

/* ---- rows of a stack ---- */

static enum status row_at(struct build *build, uint32_t subject, uint32_t tag, uint32_t *row,
			  struct error *error)
{
	struct table *table = build->table;
	const uint64_t key = (uint64_t)tag << 32 | subject;

	*row = keytable_get(&table->row_index, key);
	if (*row != KEYTABLE_NONE)
		return STATUS_OK;
	if (!array_reserve(&table->rows, &table->rows_capacity, table->n_rows + 1) ||
	    !array_reserve(&build->seen, &build->seen_capacity, table->n_rows + 1) ||
	    !keytable_set(&table->row_index, key, (uint32_t)table->n_rows))
		return no_memory(error);
	*row = (uint32_t)table->n_rows;
	build->seen[*row] = 0;
	table->rows[table->n_rows++] = (struct table_row){ subject, tag };
	return STATUS_OK;
}

static enum status member_add(struct build *build, uint32_t stack, uint32_t row,
			      struct error *error)
{
	if (build->seen[row] == stack + 1)
		return STATUS_OK;
	build->seen[row] = stack + 1;
	if (!array_reserve(&build->members, &build->members_capacity, build->n_members + 1))
		return no_memory(error);
	build->members[build->n_members++] = row;
	return STATUS_OK;
}

static enum status miss_at(struct build *build, const struct place *place, struct table_miss **miss,
			   uint32_t *index, struct error *error)
{
	struct table *table = build->table;
	const struct subject *subject =
		&table->subjects
			 .items[table->subjects.list[place->subjects + place->n_subjects - 1]];
	uint64_t key = hash_combine((uintptr_t)subject->module, (uint64_t)place->miss);

	while ((*index = keytable_get(&build->miss_index, key)) != KEYTABLE_NONE &&
	       (table->misses[*index].module != subject->module ||
		table->misses[*index].miss != place->miss))
		key++;
	if (*index == KEYTABLE_NONE) {
		if (!array_reserve(&table->misses, &table->misses_capacity, table->n_misses + 1) ||
		    !array_reserve(&build->missed, &build->missed_capacity, table->n_misses + 1) ||
		    !keytable_set(&build->miss_index, key, (uint32_t)table->n_misses))
			return no_memory(error);
		*index = (uint32_t)table->n_misses;
		build->missed[*index] = 0;
		table->misses[table->n_misses++] =
			(struct table_miss){ .module = subject->module,
					     .module_name = subject->module_name,
					     .miss = place->miss };
	}
	*miss = &table->misses[*index];
	return STATUS_OK;
}

static enum status miss_note(struct build *build, uint32_t stack, const struct place *place,
			     bool innermost, bool first_sight, struct error *error)
{
	struct table_miss *miss = NULL;
	uint32_t index;
	enum status status;

	if (place->miss == SYMBOL_OK)
		return STATUS_OK;
	status = miss_at(build, place, &miss, &index, error);
	if (status != STATUS_OK)
		return status;
	miss->addresses += first_sight;
	if (innermost)
		miss->samples += build->samples[stack];
	if (build->missed[index] != stack + 1) {
		build->missed[index] = stack + 1;
		miss->in_stacks += build->samples[stack];
	}
	return STATUS_OK;
}

/* The rows of one place of a stack; the last subject of the innermost place is the self row. */
static enum status place_rows(struct build *build, uint32_t stack, uint32_t place_index,
			      bool innermost, struct error *error)
{
	struct table *table = build->table;
	struct place *place = &build->profile->places.items[place_index];
	const uint32_t tag = build->profile->stacks.items[stack].tag;
	const bool first_sight = !place->n_subjects;
	enum status status;
	uint32_t row = 0;

	status = subjects_of_place(&table->subjects, &build->profile->places, place, error);
	for (uint32_t i = 0; i < place->n_subjects && status == STATUS_OK; i++) {
		status = row_at(build, table->subjects.list[place->subjects + i], tag, &row, error);
		if (status == STATUS_OK && (table->has_total || i + 1 == place->n_subjects))
			status = member_add(build, stack, row, error);
	}
	if (innermost)
		build->self[stack] = row;
	return status == STATUS_OK ? miss_note(build, stack, place, innermost, first_sight, error)
				   : status;
}

static enum status truncated_row(struct build *build, uint32_t stack, struct error *error)
{
	uint32_t subject, row;
	enum status status = subjects_truncated(&build->table->subjects, &subject, error);

	if (status == STATUS_OK)
		status = row_at(build, subject, build->profile->stacks.items[stack].tag, &row,
				error);
	return status == STATUS_OK ? member_add(build, stack, row, error) : status;
}

static enum status chain_add(struct build *build, uint32_t subject, struct error *error)
{
	if (!array_reserve(&build->chain, &build->chain_capacity, build->n_chain + 1))
		return no_memory(error);
	build->chain[build->n_chain++] = subject;
	return STATUS_OK;
}

static enum status place_chain(struct build *build, uint32_t stack, uint32_t place_index,
			       bool innermost, struct error *error)
{
	struct table *table = build->table;
	struct place *place = &build->profile->places.items[place_index];
	const bool first_sight = !place->n_subjects;
	enum status status =
		subjects_of_place(&table->subjects, &build->profile->places, place, error);

	for (uint32_t i = 0; i < place->n_subjects && status == STATUS_OK; i++)
		status = chain_add(build, table->subjects.list[place->subjects + i], error);
	return status == STATUS_OK ? miss_note(build, stack, place, innermost, first_sight, error)
				   : status;
}

/* The one row of a stack that is told apart as a whole. */
static enum status whole_stack_row(struct build *build, uint32_t stack, struct error *error)
{
	struct table *table = build->table;
	const struct stack *item = &build->profile->stacks.items[stack];
	enum status status = STATUS_OK;
	uint32_t subject;

	build->n_chain = 0;
	for (size_t i = 0; i < build->frames.n && status == STATUS_OK; i++)
		status = place_chain(build, stack, build->frames.places[i], !i, error);
	if (status == STATUS_OK && item->cut) {
		status = subjects_truncated(&table->subjects, &subject, error);
		if (status == STATUS_OK)
			status = chain_add(build, subject, error);
	}
	if (status == STATUS_OK)
		status = subjects_of_stack(&table->subjects, build->chain, build->n_chain, &subject,
					   error);
	if (status == STATUS_OK)
		status = row_at(build, subject, item->tag, &build->self[stack], error);
	return status == STATUS_OK ? member_add(build, stack, build->self[stack], error) : status;
}

static enum status stack_rows(struct build *build, uint32_t stack, struct error *error)
{
	struct table *table = build->table;
	const struct stack *item = &build->profile->stacks.items[stack];
	enum status status = STATUS_OK;

	if (!table->subjects.by) {
		status = row_at(build, KEYTABLE_NONE, item->tag, &build->self[stack], error);
		return status == STATUS_OK ? member_add(build, stack, build->self[stack], error)
					   : status;
	}
	status = profile_frames(build->profile, item, &build->frames, error);
	if (table->subjects.by & SUBJECT_STACK) {
		if (item->cut)
			table->cut_samples += build->samples[stack];
		return status == STATUS_OK ? whole_stack_row(build, stack, error) : status;
	}
	for (size_t i = 0; i < build->frames.n && status == STATUS_OK; i++) {
		if (i && !table->has_total)
			break;
		status = place_rows(build, stack, build->frames.places[i], !i, error);
	}
	if (status == STATUS_OK && item->cut && table->has_total &&
	    (table->subjects.by & SUBJECT_FUNCTION))
		status = truncated_row(build, stack, error);
	if (item->cut)
		table->cut_samples += build->samples[stack];
	return status;
}

static enum status rows_find(struct build *build, struct error *error)
{
	const struct stacks *stacks = &build->profile->stacks;
	enum status status = STATUS_OK;

	build->self = calloc(stacks->n + 1, sizeof(*build->self));
	build->member_first = calloc(stacks->n + 1, sizeof(*build->member_first));
	build->samples = calloc(stacks->n + 1, sizeof(*build->samples));
	if (!build->self || !build->member_first || !build->samples)
		return no_memory(error);
	for (uint32_t i = 0; i < stacks->n && status == STATUS_OK; i++) {
		for (uint32_t at = stacks->items[i].counts; at != STACKS_END;
		     at = stacks->counts[at].next)
			if (count_is_primary(build, &stacks->counts[at]))
				build->samples[i] += stacks->counts[at].count;
		build->member_first[i] = build->n_members;
		status = stack_rows(build, i, error);
	}
	build->member_first[stacks->n] = build->n_members;
	return status;
}

/* ---- counts of rows ---- */

/* Stacks by row: row r has stacks[first[r] .. first[r + 1]). */
struct inverse {
	size_t *first;
	uint32_t *stacks;
};

static bool inverse_make(struct inverse *inverse, size_t n_rows, size_t n_stacks,
			 const uint32_t *members, const size_t *member_first)
{
	const size_t n = member_first ? member_first[n_stacks] : n_stacks;

	inverse->first = calloc(n_rows + 2, sizeof(*inverse->first));
	inverse->stacks = malloc((n + 1) * sizeof(*inverse->stacks));
	if (!inverse->first || !inverse->stacks)
		return false;
	for (size_t i = 0; i < n; i++)
		inverse->first[members[i] + 2]++;
	for (size_t r = 2; r < n_rows + 2; r++)
		inverse->first[r] += inverse->first[r - 1];
	for (uint32_t s = 0; s < n_stacks; s++) {
		const size_t from = member_first ? member_first[s] : s;
		const size_t to = member_first ? member_first[s + 1] : s + 1;

		for (size_t i = from; i < to; i++)
			inverse->stacks[inverse->first[members[i] + 1]++] = s;
	}
	return true;
}

static void inverse_release(struct inverse *inverse)
{
	free(inverse->first);
	free(inverse->stacks);
}

/* One row's cells, dense. */
struct dense {
	struct estimate_count *cells;
	uint32_t low, high; /* touched ones lie in [low, high] */
};

static void stack_accumulate(struct build *build, uint32_t stack, struct dense *dense,
			     uint64_t *canary)
{
	const struct stacks *stacks = &build->profile->stacks;

	for (uint32_t at = stacks->items[stack].counts; at != STACKS_END;
	     at = stacks->counts[at].next) {
		const struct stack_count *count = &stacks->counts[at];
		uint32_t cell;

		if (!count_is_primary(build, count)) {
			if (canary)
				*canary += count->count;
			continue;
		}
		cell = count_cell(build, count);
		dense->cells[cell].count += count->count;
		dense->cells[cell].weight += count->weight;
		dense->low = cell < dense->low ? cell : dense->low;
		dense->high = cell > dense->high ? cell : dense->high;
	}
}

static bool dense_emit(struct dense *dense, struct table_counts *counts, uint64_t *samples)
{
	for (uint32_t cell = dense->low; cell <= dense->high && dense->low != UINT32_MAX; cell++) {
		struct estimate_count *count = &dense->cells[cell];

		if (!count->count)
			continue;
		if (!array_reserve(&counts->counts, &counts->capacity, counts->n + 1))
			return false;
		*samples += count->count;
		count->cell = cell;
		counts->counts[counts->n++] = *count;
		*count = (struct estimate_count){ 0 };
	}
	dense->low = UINT32_MAX;
	dense->high = 0;
	return true;
}

/* `canary` and `samples` by row; canary may be NULL. */
static enum status counts_fill(struct build *build, struct table_counts *counts,
			       const struct inverse *inverse, uint64_t *samples, uint64_t *canary,
			       struct error *error)
{
	const struct table *table = build->table;
	const size_t n_cells = (size_t)table->n_epochs * table->n_clocks + 1;
	struct dense dense = { calloc(n_cells, sizeof(*dense.cells)), UINT32_MAX, 0 };
	bool good = dense.cells != NULL;

	counts->first = calloc(table->n_rows + 1, sizeof(*counts->first));
	good = good && counts->first;
	for (size_t r = 0; r < table->n_rows && good; r++) {
		for (size_t i = inverse->first[r]; i < inverse->first[r + 1]; i++)
			stack_accumulate(build, inverse->stacks[i], &dense,
					 canary ? &canary[r] : NULL);
		good = dense_emit(&dense, counts, &samples[r]);
		counts->first[r + 1] = counts->n;
	}
	/* The estimates want a pointer even to no counts. */
	good = good && array_reserve(&counts->counts, &counts->capacity, 1);
	free(dense.cells);
	return good ? STATUS_OK : no_memory(error);
}

static enum status counts_make(struct build *build, struct error *error)
{
	struct table *table = build->table;
	const size_t n_stacks = build->profile->stacks.n;
	struct inverse self = { 0 }, total = { 0 };
	enum status status = STATUS_OK;

	table->self_samples = calloc(table->n_rows + 1, sizeof(*table->self_samples));
	table->total_samples = calloc(table->n_rows + 1, sizeof(*table->total_samples));
	table->canary_self = calloc(table->n_rows + 1, sizeof(*table->canary_self));
	if (!table->self_samples || !table->total_samples || !table->canary_self ||
	    !inverse_make(&self, table->n_rows, n_stacks, build->self, NULL))
		status = no_memory(error);
	if (status == STATUS_OK)
		status = counts_fill(build, &table->self, &self, table->self_samples,
				     table->canary_self, error);
	if (status == STATUS_OK && table->has_total) {
		if (!inverse_make(&total, table->n_rows, n_stacks, build->members,
				  build->member_first))
			status = no_memory(error);
		else
			status = counts_fill(build, &table->total, &total, table->total_samples,
					     NULL, error);
	}
	inverse_release(&self);
	inverse_release(&total);
	return status;
}

enum status table_build(struct table *table, struct profile *profile, unsigned int by, bool totals,
			struct error *error)
{
	struct build build = { .table = table, .profile = profile };
	enum status status;

	memset(table, 0, sizeof(*table));
	subjects_init(&table->subjects, by);
	for (size_t i = 0; i < profile->places.n; i++)
		profile->places.items[i].n_subjects = 0; /* named for another table */
	table->n_clocks = profile->clocks.n_clocks;
	table->canary_samples = profile->canary_samples;
	table->has_total = totals && profile->has_chains && by && !(by & SUBJECT_STACK);
	status = epochs_choose(&build, error);
	if (status == STATUS_OK)
		status = cells_fill(&build, error);
	if (status == STATUS_OK)
		status = rows_find(&build, error);
	if (status == STATUS_OK)
		status = counts_make(&build, error);
	build_release(&build);
	if (status != STATUS_OK)
		table_release(table);
	return status;
}

static struct estimate_table estimate_table_of(const struct table *table,
					       const struct table_counts *counts, bool randomised)
{
	return (struct estimate_table){ .n_functions = table->n_rows,
					.n_epochs = table->n_epochs,
					.n_clocks = table->n_clocks,
					.first = counts->first,
					.counts = counts->counts,
					.cell_weight = table->cell_weight,
					.cell_count = table->cell_count,
					.randomised = randomised };
}

struct estimate_table table_estimate_self(const struct table *table, bool randomised)
{
	return estimate_table_of(table, &table->self, randomised);
}

struct estimate_table table_estimate_total(const struct table *table, bool randomised)
{
	return estimate_table_of(table, &table->total, randomised);
}

const struct subject *table_subject(const struct table *table, size_t row)
{
	const uint32_t subject = table->rows[row].subject;

	return subject == KEYTABLE_NONE ? NULL : &table->subjects.items[subject];
}
