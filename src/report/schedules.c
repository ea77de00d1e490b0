/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/schedules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CANARY_SAMPLES_MIN 50

/* The table of some of its clocks. */
struct part {
	struct estimate_table table;
	size_t *first;
	struct estimate_count *counts;
	double *cell_weight;
	uint32_t *cell_count;
};

static void part_release(struct part *part)
{
	free(part->first);
	free(part->counts);
	free(part->cell_weight);
	free(part->cell_count);
}

/* `to` by clock: its number in the part, UINT32_MAX: not in it. */
static void part_fill(struct part *part, const struct estimate_table *from, const uint32_t *to,
		      size_t n_clocks)
{
	size_t n = 0;

	for (size_t cell = 0; cell < from->n_epochs * from->n_clocks; cell++) {
		const uint32_t clock = to[cell % from->n_clocks];
		const size_t at = cell / from->n_clocks * n_clocks + clock;

		if (clock == UINT32_MAX)
			continue;
		part->cell_weight[at] = from->cell_weight[cell];
		part->cell_count[at] = from->cell_count[cell];
	}
	for (size_t s = 0; s < from->n_functions; s++) {
		part->first[s] = n;
		for (size_t i = from->first[s]; i < from->first[s + 1]; i++) {
			const struct estimate_count *count = &from->counts[i];
			const uint32_t clock = to[count->cell % from->n_clocks];

			if (clock == UINT32_MAX)
				continue;
			part->counts[n] = *count;
			part->counts[n++].cell =
				(uint32_t)(count->cell / from->n_clocks * n_clocks) + clock;
		}
	}
	part->first[from->n_functions] = n;
}

static enum status part_make(struct part *part, const struct estimate_table *from,
			     const uint32_t *to, size_t n_clocks, struct error *error)
{
	const size_t n_cells = from->n_epochs * n_clocks;

	*part = (struct part){
		.first = calloc(from->n_functions + 1, sizeof(*part->first)),
		.counts = calloc(from->first[from->n_functions] + 1, sizeof(*part->counts)),
		.cell_weight = calloc(n_cells + 1, sizeof(*part->cell_weight)),
		.cell_count = calloc(n_cells + 1, sizeof(*part->cell_count)),
	};
	if (!part->first || !part->counts || !part->cell_weight || !part->cell_count) {
		part_release(part);
		return error_set(error, STATUS_NO_MEMORY, "no memory for %zu cells", n_cells);
	}
	part_fill(part, from, to, n_clocks);
	part->table = *from;
	part->table.n_clocks = n_clocks;
	part->table.first = part->first;
	part->table.counts = part->counts;
	part->table.cell_weight = part->cell_weight;
	part->table.cell_count = part->cell_count;
	return STATUS_OK;
}

static const struct manifest_clock *clock_of(const struct profile *profile, uint32_t column)
{
	return &profile->bundle->manifest.clocks[profile->clocks.clock_of[column]];
}

static struct report_schedule *schedule_add(struct report_stability *stability, const char *kind)
{
	struct report_schedule *schedule;

	if (stability->n_schedules == REPORT_SCHEDULES_MAX)
		return NULL;
	schedule = &stability->schedules[stability->n_schedules++];
	*schedule = (struct report_schedule){ .kind = kind };
	return schedule;
}

/* The randomised clocks of one kind. */
static enum status kind_agree(struct report_stability *stability, const struct profile *profile,
			      const struct measure *ranked, const struct estimate_claim *claim,
			      enum schedule_kind kind, struct error *error)
{
	uint32_t to[MANIFEST_MAX_CLOCKS];
	struct estimate_agreement agreement;
	struct report_schedule *schedule;
	struct part part;
	size_t n = 0;
	enum status status;

	for (uint32_t c = 0; c < profile->clocks.n_clocks; c++)
		to[c] = clock_of(profile, c)->kind == kind ? (uint32_t)n++ : UINT32_MAX;
	if (!n)
		return STATUS_OK;
	status = part_make(&part, &ranked->estimates, to, n, error);
	if (status != STATUS_OK)
		return status;
	status = estimate_agree(&agreement, &part.table, claim, 0, error);
	schedule = status == STATUS_OK && agreement.pieces
			   ? schedule_add(stability, schedule_kind_name(kind))
			   : NULL;
	if (schedule) {
		schedule->set = agreement.set;
		schedule->samples = (uint64_t)(agreement.samples * (double)agreement.pieces + 0.5);
	}
	part_release(&part);
	return status;
}

/* Are the claim's functions above all others in what the canaries saw? Ties confirm nothing. */
static bool canary_confirms(const struct table *table, const struct measure *ranked,
			    const struct estimate_claim *claim)
{
	uint64_t least = UINT64_MAX, most = 0;

	for (size_t i = 0; i < claim->k; i++) {
		const uint64_t count = table->canary_self[ranked->row_of[claim->top[i]]];

		least = count < least ? count : least;
	}
	for (size_t row = 0; row < table->n_rows; row++) {
		bool in_top = false;

		for (size_t i = 0; i < claim->k; i++)
			in_top |= ranked->row_of[claim->top[i]] == row;
		if (!in_top && table->canary_self[row] > most)
			most = table->canary_self[row];
	}
	return least > most;
}

static void canaries_agree(struct report_stability *stability, const struct profile *profile,
			   const struct table *table, const struct measure *ranked,
			   const struct estimate_claim *claim)
{
	const struct clocks *clocks = &profile->clocks;
	const char *kind = schedule_kind_name(clock_of(profile, clocks->n_clocks)->kind);
	struct report_schedule *schedule;

	for (uint32_t c = 1; c < clocks->n_canaries; c++)
		if (strcmp(kind,
			   schedule_kind_name(clock_of(profile, clocks->n_clocks + c)->kind)) != 0)
			kind = "fixed and prime";
	schedule = schedule_add(stability, kind);
	if (!schedule)
		return;
	schedule->set = canary_confirms(table, ranked, claim);
	schedule->samples = table->canary_samples;
	schedule->canary = true;
}

enum status schedules_agree(struct report_stability *stability, const struct profile *profile,
			    const struct table *table, const struct measure *ranked,
			    const struct estimate_claim *claim, struct error *error)
{
	const struct clocks *clocks = &profile->clocks;
	const bool canaries = clocks->n_canaries && table->canary_samples >= CANARY_SAMPLES_MIN;
	enum status status = STATUS_OK;
	bool mixed = false;

	if (!profile->bundle->has_manifest || !clocks->by_id || !clocks->randomised)
		return STATUS_OK;
	for (uint32_t c = 1; c < clocks->n_clocks; c++)
		mixed |= clock_of(profile, c)->kind != clock_of(profile, 0)->kind;
	if (!mixed && !canaries)
		return STATUS_OK;
	for (int kind = SCHEDULE_FIXED; kind < SCHEDULE_MIXED && status == STATUS_OK; kind++)
		status = kind_agree(stability, profile, ranked, claim, (enum schedule_kind)kind,
				    error);
	/* The canaries' samples are counted by whose code it was, not by stacks. */
	if (status == STATUS_OK && canaries && ranked->estimates.counts == table->self.counts)
		canaries_agree(stability, profile, table, ranked, claim);
	return status;
}
