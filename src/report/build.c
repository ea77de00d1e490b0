/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/conduct.h"
#include "estimate/rank.h"
#include "estimate/stability.h"
#include "estimate/unseen.h"
#include "profile/weighting.h"
#include "report/contract.h"
#include "report/file_findings.h"
#include "report/measure.h"
#include "report/schedules.h"
#include "report/settle.h"
#include "report/verdict.h"

#define DEFAULT_TOP_K 5

struct build {
	struct report *report;
	struct profile *profile;
	const struct table *table;
	const struct report_options *options;
	struct measure self, total;
	struct measure *ranked; /* one of the two */
	struct estimate_ranks ranks;
	bool *biased;            /* by number of `ranked` */
	const char **names;      /* by number of `ranked` */
	struct report_row *rows; /* by row of the table, before ordering */
};

static void build_release(struct build *build)
{
	measure_release(&build->self);
	measure_release(&build->total);
	estimate_ranks_release(&build->ranks);
	free(build->biased);
	free(build->names);
	free(build->rows);
}

static enum status no_memory(struct error *error)
{
	return error_set(error, STATUS_NO_MEMORY, "no memory for the report");
}

static void row_names(const struct build *build, size_t index, struct report_row *row)
{
	const struct table *table = build->table;
	const struct subject *subject = table_subject(table, index);
	const struct tag *tag = table->rows[index].tag < build->profile->tags.n
					? &build->profile->tags.items[table->rows[index].tag]
					: NULL;
	const unsigned int by = build->options->by;

	if (subject) {
		row->name = by & REPORT_BY_FUNCTION ? subject->name : NULL;
		row->symbol = by & REPORT_BY_FUNCTION ? subject->symbol : NULL;
		row->module =
			by & (REPORT_BY_FUNCTION | REPORT_BY_MODULE) ? subject->module_name : NULL;
		row->module_path = subject->module ? module_path(subject->module) : NULL;
		row->file =
			by & REPORT_BY_LINE ? (subject->file ? subject->file : "[unknown]") : NULL;
		row->line = subject->line;
		row->inlined = subject->inlined;
		row->named = subject->named;
		row->subjects = &table->subjects;
		row->stack = subject->stack;
		row->n_stack = subject->n_stack;
	}
	if (tag) {
		if (by & REPORT_BY_COMM)
			row->comm = strings_get(&build->profile->timeline.strings, tag->comm);
		row->pid = tag->pid;
		row->tid = tag->tid;
		row->cpu = tag->cpu;
	}
}

static enum status rows_make(struct build *build, struct error *error)
{
	build->rows = calloc(build->table->n_rows + 1, sizeof(*build->rows));
	if (!build->rows)
		return no_memory(error);
	for (size_t i = 0; i < build->table->n_rows; i++) {
		struct report_row *row = &build->rows[i];

		row_names(build, i, row);
		row->self = measure_share(&build->self, i);
		row->total = build->table->has_total ? measure_share(&build->total, i) : row->self;
		row->state = ESTIMATE_UNRESOLVED;
		row->provenance = REPORT_SAMPLED;
	}
	return STATUS_OK;
}

/* One text per row for ordering rows that nothing else orders. */
static const char *row_key(struct report *report, const struct report_row *row)
{
	return report_text(report, "%s\x01%s\x01%s\x01%s\x01%08x\x01%08x\x01%08x\x01%08x\x01%d",
			   row->name ? row->name : "", row->module ? row->module : "",
			   row->comm ? row->comm : "", row->file ? row->file : "", row->line,
			   row->pid, row->tid, row->cpu, row->inlined);
}

static enum status ranks_make(struct build *build, struct error *error)
{
	struct estimate_rank_options options = { .family = ESTIMATE_FAMILY_RECORDING,
						 .top_k = build->report->top_k };

	build->names = calloc(build->ranked->n + 1, sizeof(*build->names));
	build->biased = calloc(build->ranked->n + 1, sizeof(*build->biased));
	if (!build->names || !build->biased)
		return no_memory(error);
	for (size_t i = 0; i < build->ranked->n; i++)
		build->names[i] = row_key(build->report, &build->rows[build->ranked->row_of[i]]);
	options.names = build->names;
	return estimate_ranks(&build->ranks, &build->ranked->estimates, &build->ranked->shares,
			      &options, error);
}

/* ---- findings reach rows ---- */

static void bias_apply(struct build *build)
{
	const struct findings *findings = &build->report->findings;

	for (size_t r = 0; r < build->table->n_rows; r++) {
		struct report_row *row = &build->rows[r];
		const size_t number = build->ranked->number_of[r];
		double error_hi, most = 0;
		bool biased = false;

		for (size_t i = 0; i < findings->n; i++) {
			const struct finding *finding = &findings->items[i];

			if (!report_touches(finding, row, &error_hi))
				continue;
			most = fmax(most, error_hi); /* NAN is passed over */
			biased |= finding->severity == FINDING_BIAS;
		}
		row->self.bias_hi = row->total.bias_hi = most;
		if (number == SIZE_MAX) {
			row->state = biased ? ESTIMATE_BIASED : ESTIMATE_UNRESOLVED;
			continue;
		}
		build->biased[number] = biased;
		row->state = estimate_state_row(&build->ranks, number, biased);
	}
}

/* ---- order ---- */

static int rest_compare(const void *left, const void *right, void *argument)
{
	const struct build *build = argument;
	const size_t a = *(const size_t *)left, b = *(const size_t *)right;
	const double share_a = build->rows[a].total.recording.share;
	const double share_b = build->rows[b].total.recording.share;

	if (share_a != share_b)
		return share_a > share_b ? -1 : 1;
	return (a > b) - (a < b);
}

/* Ranked rows as the ranks order them, then those without a sample in that measure, by the other. */
static enum status rows_order(struct build *build, struct error *error)
{
	struct report *report = build->report;
	size_t *rest = calloc(build->table->n_rows + 1, sizeof(*rest)), n_rest = 0;

	report->rows = calloc(build->table->n_rows + 1, sizeof(*report->rows));
	if (!report->rows || !rest) {
		free(rest);
		return no_memory(error);
	}
	for (size_t at = 0; at < build->ranked->n; at++) {
		const size_t number = build->ranks.order[at];
		const struct estimate_rank *rank = &build->ranks.rows[number];
		struct report_row *row = &build->rows[build->ranked->row_of[number]];

		row->rank_lo = rank->rank_lo;
		row->rank_hi = rank->rank_hi;
		row->group = rank->group;
		row->examined = rank->examined;
		report->rows[report->n_rows++] = *row;
	}
	for (size_t row = 0; row < build->table->n_rows; row++)
		if (build->ranked->number_of[row] == SIZE_MAX)
			rest[n_rest++] = row;
	qsort_r(rest, n_rest, sizeof(*rest), rest_compare, build);
	for (size_t i = 0; i < n_rest; i++)
		report->rows[report->n_rows++] = build->rows[rest[i]];
	for (size_t i = 0; i < report->n_rows; i++)
		report->rows[i].place = i;
	free(rest);
	return STATUS_OK;
}

/* ---- the whole ---- */

static enum status events_make(struct build *build, struct error *error)
{
	struct report *report = build->report;
	const struct profile *profile = build->profile;

	report->events = calloc(profile->n_events + 1, sizeof(*report->events));
	if (!report->events)
		return no_memory(error);
	report->n_events = profile->n_events;
	for (size_t i = 0; i < profile->n_events; i++)
		report->events[i] =
			(struct report_event){ profile->events[i].name, profile->events[i].samples,
					       i == profile->event };
	return STATUS_OK;
}

static enum status unseen_make(struct build *build, struct error *error)
{
	struct estimate_unseen unseen;
	struct report *report = build->report;
	enum status status;

	report->unseen = (struct report_unseen){ NAN, NAN, NAN, "no samples" };
	if (!build->self.n)
		return STATUS_OK;
	status = estimate_unseen(&unseen, &build->self.estimates, build->self.shares.serial, 0.95,
				 error);
	if (status != STATUS_OK)
		return status;
	report->unseen.why = unseen.why;
	if (!unseen.why)
		report->unseen = (struct report_unseen){ unseen.share, unseen.hi,
							 unseen.functions_at_least, NULL };
	return STATUS_OK;
}

/* How well pieces of the recording agree with the printed order of the first rows. */
static enum status stability_make(struct build *build, struct error *error)
{
	struct report_stability *result = &build->report->stability;
	const struct estimate_claim claim = {
		.top = build->ranks.order,
		.k = build->ranks.top_k < ESTIMATE_STABILITY_TOP_MAX ? build->ranks.top_k
								     : ESTIMATE_STABILITY_TOP_MAX,
	};
	struct estimate_stability stability;
	enum status status;

	*result = (struct report_stability){ .k = claim.k,
					     .top1 = NAN,
					     .set = NAN,
					     .order = NAN,
					     .expected_set = NAN,
					     .why = "too few samples" };
	if (!claim.k || build->ranked->shares.too_few)
		return STATUS_OK;
	status = estimate_stability(&stability, &build->ranked->estimates, &build->ranked->shares,
				    &claim, error);
	if (status != STATUS_OK || !stability.observed.pieces)
		return status;
	result->top1 = stability.observed.top1;
	result->set = stability.observed.set;
	result->order = stability.observed.order;
	result->expected_set = stability.expected_set;
	result->why = NULL;
	return schedules_agree(result, build->profile, build->table, build->ranked, &claim, error);
}

static enum status measures_make(struct build *build, struct error *error)
{
	const bool randomised = build->profile->clocks.randomised;
	const enum estimate_weighting weighting = profile_weighting(build->profile);
	struct report *report = build->report;
	enum status status;

	status = measure_make(&build->self, build->table, &build->table->self, randomised,
			      weighting, error);
	/* Self and total are two views of the same samples: one weighting for both. */
	if (status == STATUS_OK && build->table->has_total)
		status = measure_make(&build->total, build->table, &build->table->total, randomised,
				      build->self.shares.period_weights ? ESTIMATE_WEIGHT_PERIOD
									: ESTIMATE_WEIGHT_ONE,
				      error);
	if (status != STATUS_OK)
		return status;
	report->ranked_by_total = build->options->rank_by_total && build->table->has_total;
	build->ranked = report->ranked_by_total ? &build->total : &build->self;
	report->too_few = build->ranked->shares.too_few;
	report->assumes = build->ranked->shares.assumes;
	report->workload_unsupported = build->ranked->shares.workload_unsupported;
	report->design_effect = build->ranked->shares.design_effect;
	report->design_effect_workload = build->ranked->shares.design_effect_workload;
	report->correlation = build->ranked->shares.correlation;
	report->n_epochs = build->ranked->shares.n_epochs;
	report->period_weights = build->ranked->shares.period_weights;
	return STATUS_OK;
}

static enum status findings_make(struct build *build, struct error *error)
{
	struct report *report = build->report;

	if (build->options->findings)
		findings_move(&report->findings, build->options->findings);
	else if (build->profile->bundle->has_manifest)
		conduct_find(&report->findings, &build->profile->bundle->manifest);
	file_findings(report, build->profile, build->table);
	findings_sort(&report->findings);
	return findings_check(&report->findings, error);
}

static enum status report_fill(struct build *build, struct error *error)
{
	struct report *report = build->report;
	enum status status;

	contract_fill(report, build->profile, build->table);
	status = measures_make(build, error);
	if (status == STATUS_OK)
		status = events_make(build, error);
	if (status == STATUS_OK)
		status = rows_make(build, error);
	if (status == STATUS_OK)
		status = ranks_make(build, error);
	if (status == STATUS_OK)
		status = findings_make(build, error);
	if (status != STATUS_OK)
		return status;
	bias_apply(build);
	report->no_ranks = build->ranks.why;
	status = rows_order(build, error);
	if (status == STATUS_OK) {
		report->set_settled = build->ranks.set_settled;
		report->order_settled = build->ranks.order_settled;
		report->state = estimate_state_whole(&build->ranks, build->biased);
		status = settle_make(report, build->profile, build->table, build->ranked,
				     &build->ranks, error);
	}
	if (status == STATUS_OK)
		status = unseen_make(build, error);
	if (status == STATUS_OK)
		status = stability_make(build, error);
	if (status != STATUS_OK)
		return status;
	verdict_write(report);
	return STATUS_OK;
}

enum status report_build(struct report *report, struct profile *profile, const struct table *table,
			 const struct report_options *options, struct error *error)
{
	struct build build = {
		.report = report, .profile = profile, .table = table, .options = options
	};
	enum status status;

	report_init(report);
	report->by = options->by;
	report->filtered = options->filtered;
	report->top_k = options->top_k ? options->top_k : DEFAULT_TOP_K;
	report->has_total = table->has_total;
	report->cut_samples = table->cut_samples;
	status = report_fill(&build, error);
	build_release(&build);
	if (status != STATUS_OK)
		report_release(report);
	return status;
}
