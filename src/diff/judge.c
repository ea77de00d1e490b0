/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diff/load.h"

static const struct report_share *share_of(const struct report_row *row, bool by_total)
{
	return by_total ? &row->total : &row->self;
}

static struct estimate_change_side side_of(const struct report_row *row, bool by_total)
{
	const struct report_share *share;

	if (!row)
		return (struct estimate_change_side){ .changes = NAN };
	share = share_of(row, by_total);
	/* Below ten epochs nothing is known of the workload, and what is known of the recording is taken
	 * for it, with the few degrees of freedom that so few epochs give. */
	return (struct estimate_change_side){
		.share = share->recording.share,
		.samples = share->samples,
		.effective_samples = share->effective_samples_workload > 0
					     ? share->effective_samples_workload
					     : share->effective_samples,
		.changes = share->serial ? share->changes : NAN,
	};
}

static struct estimate_change_recording recording_of(const struct report *report)
{
	return (struct estimate_change_recording){
		.samples = report->totals.samples,
		.n_epochs = report->n_epochs,
		.design_effect = report->design_effect_workload,
		.correlation = report->correlation,
	};
}

static enum status changes_make(struct diff *diff, bool by_total, struct error *error)
{
	const struct estimate_change_recording recordings[2] = {
		recording_of(diff->sides[0].report), recording_of(diff->sides[1].report)
	};
	struct estimate_change_side *sides[2] = { calloc(diff->n + 1, sizeof(*sides[0])),
						  calloc(diff->n + 1, sizeof(*sides[1])) };
	struct estimate_change *changes = calloc(diff->n + 1, sizeof(*changes));
	enum status status;

	if (sides[0] && sides[1] && changes) {
		for (size_t i = 0; i < diff->n; i++)
			for (int side = 0; side < 2; side++)
				sides[side][i] = side_of(diff->rows[i].rows[side], by_total);
		status = estimate_changes(changes, sides[0], sides[1], diff->n, recordings, NULL,
					  &diff->n_tested, error);
		for (size_t i = 0; i < diff->n && status == STATUS_OK; i++) {
			diff->rows[i].change = changes[i];
			diff->rows[i].share[0] = sides[0][i].share;
			diff->rows[i].share[1] = sides[1][i].share;
		}
	} else {
		status = error_set(error, STATUS_NO_MEMORY, "no memory to compare %zu functions",
				   diff->n);
	}
	free(sides[0]);
	free(sides[1]);
	free(changes);
	return status;
}

static double row_bias(const struct diff_row *row, bool by_total)
{
	double sum = 0;

	for (int side = 0; side < 2; side++) {
		const struct report_row *of = row->rows[side];
		const double bias = of ? share_of(of, by_total)->bias_hi : 0;

		if (of && of->state == ESTIMATE_BIASED && !(bias > 0))
			return INFINITY;
		sum += bias;
	}
	return sum;
}

double diff_least(const struct estimate_change *change)
{
	return change->lo > 0 ? change->lo : change->hi < 0 ? -change->hi : 0;
}

static double most(const struct estimate_change *change)
{
	return fmax(fabs(change->lo), fabs(change->hi));
}

static bool is_incomparable(const struct diff *diff)
{
	return findings_worst(&diff->mismatches) == FINDING_BIAS;
}

/* Of a difference beyond chance: a clock that is known to be locked explains any, an error that findings
 * allow explains one of its size; what only could be a lock, or another machine, explains nothing. */
static enum diff_verdict difference_judge(const struct diff *diff, const struct diff_row *row)
{
	if (diff->locked[0] || diff->locked[1])
		return DIFF_MEASUREMENT;
	if (is_incomparable(diff))
		return DIFF_UNRESOLVED;
	if (diff_least(&row->change) <= row->bias)
		return DIFF_MEASUREMENT;
	return row->change.difference > 0 ? DIFF_MORE : DIFF_LESS;
}

static void rows_judge(struct diff *diff, bool by_total)
{
	for (size_t i = 0; i < diff->n; i++) {
		struct diff_row *row = &diff->rows[i];

		row->load_bias = load_bias(diff, row, by_total);
		row->bias = row_bias(row, by_total) + row->load_bias;
		diff->bound = fmax(diff->bound, most(&row->change));
		if (row->change.differs) {
			diff->n_differing++;
			row->verdict = difference_judge(diff, row);
		} else {
			row->verdict =
				most(&row->change) <= diff->within ? DIFF_SAME : DIFF_UNRESOLVED;
		}
	}
}

static void rows_equal(struct diff *diff)
{
	for (size_t i = 0; i < diff->n; i++) {
		struct diff_row *row = &diff->rows[i];

		row->change.lo = row->change.hi = row->change.difference = 0;
		row->change.differs = false;
		row->verdict = DIFF_SAME;
	}
	diff->n_differing = 0;
	diff->bound = 0;
}

static bool any_row(const struct diff *diff, enum diff_verdict verdict)
{
	for (size_t i = 0; i < diff->n; i++)
		if (diff->rows[i].verdict == verdict)
			return true;
	return false;
}

static enum diff_state state_of(const struct diff *diff)
{
	if (any_row(diff, DIFF_MORE) || any_row(diff, DIFF_LESS))
		return DIFF_STATE_CHANGED;
	if (any_row(diff, DIFF_MEASUREMENT) ||
	    ((diff->locked[0] || diff->locked[1]) && !diff->same_recording))
		return DIFF_STATE_MEASUREMENT;
	if (diff->n_differing || any_row(diff, DIFF_UNRESOLVED) ||
	    (is_incomparable(diff) && !diff->same_recording))
		return DIFF_STATE_UNRESOLVED;
	return DIFF_STATE_SAME;
}

static int row_class(const struct diff_row *row)
{
	switch (row->verdict) {
	case DIFF_MORE:
	case DIFF_LESS: return 0;
	case DIFF_MEASUREMENT: return 1;
	default: return row->change.differs ? 2 : 3;
	}
}

static int row_compare(const void *left, const void *right)
{
	const struct diff_row *a = left, *b = right;
	const int class_a = row_class(a), class_b = row_class(b);
	const double of_a =
		class_a < 3 ? fabs(a->change.difference) : fmax(a->share[0], a->share[1]);
	const double of_b =
		class_b < 3 ? fabs(b->change.difference) : fmax(b->share[0], b->share[1]);
	const struct report_row *name_a = a->rows[a->rows[0] ? 0 : 1],
				*name_b = b->rows[b->rows[0] ? 0 : 1];

	if (class_a != class_b)
		return class_a - class_b;
	if (of_a > of_b || of_a < of_b)
		return of_a > of_b ? -1 : 1;
	return strcmp(name_a->name ? name_a->name : "", name_b->name ? name_b->name : "");
}

enum status diff_judge(struct diff *diff, const struct diff_options *options, struct error *error)
{
	const enum status status = changes_make(diff, options->by_total, error);

	if (status != STATUS_OK)
		return status;
	load_find(diff);
	if (diff->same_recording)
		rows_equal(diff);
	else
		rows_judge(diff, options->by_total);
	qsort(diff->rows, diff->n, sizeof(*diff->rows), row_compare);
	diff->state = state_of(diff);
	return STATUS_OK;
}

static bool touches(const struct finding *finding, const struct report_row *row, double *error_hi)
{
	*error_hi = finding->error_hi;
	if (finding->elsewhere)
		return false;
	for (size_t i = 0; row->name && i < finding->n_functions; i++)
		if (!strcmp(finding->functions[i].name, row->name)) {
			*error_hi = finding->functions[i].error_hi;
			return true;
		}
	return finding->every_function;
}

const struct finding *diff_cause(const struct diff *diff, const struct diff_row *row, int *side)
{
	const struct finding *cause = NULL;
	double largest = -1;

	for (int s = 0; s < 2; s++) {
		const struct findings *findings = &diff->sides[s].report->findings;

		for (size_t i = 0; row->rows[s] && i < findings->n; i++) {
			const struct finding *finding = &findings->items[i];
			double error_hi;

			if (!touches(finding, row->rows[s], &error_hi))
				continue;
			if (isnan(error_hi))
				error_hi = finding->severity == FINDING_BIAS ? 1 : 0;
			if (error_hi > largest) {
				largest = error_hi;
				cause = finding;
				*side = s;
			}
		}
	}
	return cause;
}
