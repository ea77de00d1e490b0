/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/json.h"
#include "profile/subjects.h"

#include <math.h>

#include "report/json_writer.h"

static json_t *verdict(struct json_writer *w, const struct report *report)
{
	json_t *object = json_object_of(w);

	json_set(w, object, "state", json_text_of(w, report_state_name(report->state)));
	json_set(w, object, "text", json_text_of(w, report->verdict));
	json_set(w, object, "top", json_integer_of(w, report->top_k));
	json_set(w, object, "set_settled", json_boolean_of(w, report->set_settled));
	json_set(w, object, "order_settled", json_boolean_of(w, report->order_settled));
	return object;
}

static json_t *totals(struct json_writer *w, const struct report *report)
{
	const struct report_totals *totals = &report->totals;
	json_t *object = json_object_of(w), *overhead = json_object_of(w);

	json_set(w, object, "samples", json_integer_of(w, totals->samples));
	json_set(w, object, "canary_samples", json_integer_of(w, totals->canary_samples));
	json_set(w, object, "filtered", json_integer_of(w, totals->filtered));
	json_set(w, object, "lost", json_integer_of(w, totals->lost));
	json_set(w, object, "lost_share", json_real_of(w, totals->lost_share));
	json_set(w, object, "throttled_ns", json_integer_of(w, totals->throttled_ns));
	json_set(w, object, "duration_ns", json_integer_of(w, totals->duration_ns));
	json_set(w, object, "cpu_ns",
		 totals->cpu_ns >= 0 && totals->cpu_ns < 0x1p63
			 ? json_integer_of(w, (uint64_t)totals->cpu_ns)
			 : json_real_of(w, NAN));
	json_set(w, object, "epochs", json_integer_of(w, report->contract.epochs));
	json_set(w, object, "clocks", json_integer_of(w, report->contract.clocks));
	json_set(w, overhead, "share", json_real_of(w, report->contract.achieved));
	json_set(w, overhead, "budget", json_real_of(w, report->contract.budget));
	json_set(w, object, "overhead", overhead);
	return object;
}

static json_t *seed(struct json_writer *w, const struct report_contract *contract)
{
	return contract->has_seed ? json_digits_of(w, contract->seed) : json_real_of(w, NAN);
}

static json_t *clock_groups(struct json_writer *w, const struct report_contract *contract)
{
	json_t *list = json_array_of(w);

	for (uint32_t g = 0; g < contract->n_groups; g++) {
		const struct report_clock *group = &contract->groups[g];
		json_t *object = json_object_of(w);

		json_set(w, object, "kind", json_text_of(w, group->kind));
		json_set(w, object, "clocks", json_integer_of(w, group->n));
		json_set(w, object, "canary", json_boolean_of(w, group->canary));
		json_set(w, object, "mean_period", json_real_of(w, group->mean_period));
		json_set(w, object, "low", json_real_of(w, group->low));
		json_set(w, object, "high", json_real_of(w, group->high));
		json_set(w, object, "rate_hz", json_real_of(w, group->hz > 0 ? group->hz : NAN));
		json_append(w, list, object);
	}
	return list;
}

static json_t *schedule(struct json_writer *w, const struct report *report)
{
	const struct report_contract *contract = &report->contract;
	json_t *object = json_object_of(w);

	json_set(w, object, "kind", json_text_of(w, contract->kind));
	json_set(w, object, "redraw", json_text_of(w, contract->redraw));
	json_set(w, object, "event", json_text_of(w, contract->event));
	json_set(w, object, "unit", json_text_of(w, contract->unit));
	json_set(w, object, "mean_period", json_real_of(w, contract->mean_period));
	json_set(w, object, "rate_hz", json_real_of(w, contract->rate_hz));
	json_set(w, object, "rate_first_hz", json_real_of(w, contract->rate_first_hz));
	json_set(w, object, "rate_last_hz", json_real_of(w, contract->rate_last_hz));
	json_set(w, object, "clocks", clock_groups(w, contract));
	json_set(w, object, "rate_why", json_text_of(w, contract->rate_why));
	json_set(w, object, "seed", seed(w, contract));
	json_set(w, object, "canary", json_boolean_of(w, contract->canary));
	json_set(w, object, "randomised", json_boolean_of(w, contract->randomised));
	json_set(w, object, "scope", json_text_of(w, contract->scope));
	return object;
}

/* null without --until */
static json_t *until(struct json_writer *w, const struct report *report)
{
	const struct report_contract *contract = &report->contract;
	json_t *object;

	if (!contract->until)
		return json_real_of(w, NAN);
	object = json_object_of(w);
	json_set(w, object, "question", json_text_of(w, contract->until));
	json_set(w, object, "ended_by_data", json_boolean_of(w, contract->settled != NULL));
	json_set(w, object, "reason", json_text_of(w, contract->ended));
	json_set(w, object, "text", json_text_of(w, contract->settled));
	json_set(w, object, "looks", json_integer_of(w, contract->looks));
	return object;
}

static json_t *schedules(struct json_writer *w, const struct report_stability *stability)
{
	json_t *array = json_array_of(w);

	for (size_t i = 0; i < stability->n_schedules; i++) {
		const struct report_schedule *schedule = &stability->schedules[i];
		json_t *object = json_object_of(w);

		json_set(w, object, "kind", json_text_of(w, schedule->kind));
		json_set(w, object, "set", json_real_of(w, schedule->set));
		json_set(w, object, "samples", json_integer_of(w, schedule->samples));
		json_set(w, object, "canary", json_boolean_of(w, schedule->canary));
		json_append(w, array, object);
	}
	return array;
}

static json_t *stability(struct json_writer *w, const struct report *report)
{
	const struct report_stability *stability = &report->stability;
	json_t *object = json_object_of(w);

	json_set(w, object, "k", json_integer_of(w, stability->k));
	json_set(w, object, "top1", json_real_of(w, stability->top1));
	json_set(w, object, "set", json_real_of(w, stability->set));
	json_set(w, object, "order", json_real_of(w, stability->order));
	json_set(w, object, "expected_set", json_real_of(w, stability->expected_set));
	json_set(w, object, "by_schedule", schedules(w, stability));
	if (stability->why)
		json_set(w, object, "why", json_text_of(w, stability->why));
	return object;
}

static void interval(struct json_writer *w, json_t *object,
		     const struct estimate_interval *interval, const char *lo, const char *hi,
		     const char *why)
{
	json_set(w, object, lo, json_real_of(w, interval->supported ? interval->lo : NAN));
	json_set(w, object, hi, json_real_of(w, interval->supported ? interval->hi : NAN));
	if (!interval->supported)
		json_set(w, object, why,
			 json_text_of(w, interval->why ? interval->why : "not supported"));
}

static json_t *share(struct json_writer *w, const struct report_share *share)
{
	json_t *object = json_object_of(w);

	json_set(w, object, "share", json_real_of(w, share->recording.share));
	interval(w, object, &share->recording, "lo", "hi", "why");
	interval(w, object, &share->workload, "workload_lo", "workload_hi", "workload_why");
	json_set(w, object, "bias_hi", json_real_of(w, share->bias_hi));
	return object;
}

static json_t *variance(struct json_writer *w, const struct report_share *share)
{
	json_t *object = json_object_of(w);

	json_set(w, object, "measurement", json_real_of(w, share->variance_measurement));
	json_set(w, object, "workload", json_real_of(w, share->variance_workload));
	json_set(w, object, "workload_hi", json_real_of(w, share->variance_workload_hi));
	return object;
}

static json_t *stack(struct json_writer *w, const struct report_row *row)
{
	json_t *array = json_array_of(w);

	for (size_t i = 0; i < row->n_stack; i++) {
		const struct subject *frame = &row->subjects->items[row->stack[i]];

		json_append(w, array, json_text_of(w, frame->name));
	}
	return array;
}

static void row_keys(struct json_writer *w, json_t *object, const struct report *report,
		     const struct report_row *row)
{
	json_set(w, object, "name", json_text_of(w, row->name));
	if (row->symbol)
		json_set(w, object, "symbol", json_text_of(w, row->symbol));
	json_set(w, object, "module", json_text_of(w, row->module));
	if (report->by & REPORT_BY_STACK)
		json_set(w, object, "stack", stack(w, row));
	if (row->inlined)
		json_set(w, object, "inlined", json_boolean_of(w, true));
	if (report->by & REPORT_BY_LINE) {
		json_set(w, object, "file", json_text_of(w, row->file));
		json_set(w, object, "line", json_integer_of(w, row->line));
	}
	if (report->by & REPORT_BY_COMM)
		json_set(w, object, "comm", json_text_of(w, row->comm));
	if (report->by & REPORT_BY_PID)
		json_set(w, object, "pid", json_integer_of(w, row->pid));
	if (report->by & REPORT_BY_TID)
		json_set(w, object, "tid", json_integer_of(w, row->tid));
	if (report->by & REPORT_BY_CPU)
		json_set(w, object, "cpu", json_integer_of(w, row->cpu));
}

static json_t *function(struct json_writer *w, const struct report *report,
			const struct report_row *row)
{
	const struct report_share *ranked = report->ranked_by_total ? &row->total : &row->self;
	json_t *object = json_object_of(w);

	row_keys(w, object, report, row);
	json_set(w, object, "self", share(w, &row->self));
	json_set(w, object, "total",
		 report->has_total ? share(w, &row->total) : json_real_of(w, NAN));
	json_set(w, object, "variance", variance(w, ranked));
	json_set(w, object, "rank_lo",
		 row->rank_lo && !report->no_ranks ? json_integer_of(w, row->rank_lo)
						   : json_real_of(w, NAN));
	json_set(w, object, "rank_hi",
		 row->rank_lo && !report->no_ranks ? json_integer_of(w, row->rank_hi)
						   : json_real_of(w, NAN));
	json_set(w, object, "group",
		 row->group ? json_integer_of(w, row->group) : json_real_of(w, NAN));
	if (!row->rank_lo || report->no_ranks)
		json_set(w, object, "why",
			 json_text_of(w, report->no_ranks ? report->no_ranks
							  : "no sample of its own"));
	json_set(w, object, "state", json_text_of(w, report_state_name(row->state)));
	json_set(w, object, "provenance", json_text_of(w, report_provenance_name(row->provenance)));
	json_set(w, object, "samples", json_integer_of(w, ranked->samples));
	json_set(w, object, "effective_samples", json_real_of(w, ranked->effective_samples));
	return object;
}

static json_t *functions(struct json_writer *w, const struct report *report,
			 const struct json_options *options)
{
	json_t *array = json_array_of(w);

	for (size_t i = 0; i < report->n_rows; i++) {
		const struct report_row *row = &report->rows[i];
		const double most = fmax(row->self.recording.share, row->total.recording.share);

		if (100 * most >= options->percent_limit)
			json_append(w, array, function(w, report, row));
	}
	return array;
}

static json_t *pair(struct json_writer *w, const struct report_pair *pair)
{
	json_t *object;

	if (!pair->a || !pair->b)
		return json_real_of(w, NAN);
	object = json_object_of(w);
	json_set(w, object, "a", json_text_of(w, pair->a->name));
	json_set(w, object, "b", json_text_of(w, pair->b->name));
	return object;
}

/* The next open question alone; null when nothing is open or it cannot be said. */
static json_t *next(struct json_writer *w, const struct report_next *next)
{
	json_t *object;

	if (!next->k)
		return json_real_of(w, NAN);
	object = json_object_of(w);
	json_set(w, object, "top", json_integer_of(w, next->k));
	json_set(w, object, "seconds", json_real_of(w, next->seconds));
	json_set(w, object, "max_seconds", json_real_of(w, next->max_seconds));
	json_set(w, object, "comparison", pair(w, &next->pair));
	return object;
}

static json_t *settle(struct json_writer *w, const struct report *report)
{
	json_t *object = json_object_of(w);

	json_set(w, object, "seconds", json_real_of(w, report->settle.seconds));
	json_set(w, object, "max_seconds", json_real_of(w, report->settle.max_seconds));
	json_set(w, object, "blocked_by_bias", json_boolean_of(w, report->settle.blocked_by_bias));
	json_set(w, object, "comparison", pair(w, &report->settle.pair));
	json_set(w, object, "next", next(w, &report->next));
	if (report->settle.why || !isfinite(report->settle.seconds))
		json_set(w, object, "why",
			 json_text_of(w, report->settle.why ? report->settle.why
							    : "shares are too alike"));
	return object;
}

static json_t *unseen(struct json_writer *w, const struct report *report)
{
	json_t *object = json_object_of(w);

	json_set(w, object, "share", json_real_of(w, report->unseen.share));
	json_set(w, object, "hi", json_real_of(w, report->unseen.hi));
	json_set(w, object, "functions_at_least",
		 json_real_of(w, report->unseen.functions_at_least));
	if (report->unseen.why)
		json_set(w, object, "why", json_text_of(w, report->unseen.why));
	return object;
}

static json_t *command(struct json_writer *w, const struct report *report)
{
	json_t *array = json_array_of(w);

	for (size_t i = 0; i < report->n_command; i++)
		json_append(w, array, json_text_of(w, report->command[i]));
	return array;
}

static json_t *events(struct json_writer *w, const struct report *report)
{
	json_t *array = json_array_of(w);

	for (size_t i = 0; i < report->n_events; i++) {
		json_t *object = json_object_of(w);

		json_set(w, object, "name", json_text_of(w, report->events[i].name));
		json_set(w, object, "samples", json_integer_of(w, report->events[i].samples));
		json_set(w, object, "shown", json_boolean_of(w, report->events[i].shown));
		json_append(w, array, object);
	}
	return array;
}

static json_t *document(struct json_writer *w, const struct report *report,
			const struct json_options *options)
{
	json_t *root = json_object_of(w);

	json_set(w, root, "schema", json_text_of(w, REPORT_JSON_SCHEMA));
	json_set(w, root, "bundle", json_text_of(w, report->bundle));
	json_set(w, root, "command", command(w, report));
	json_set(w, root, "verdict", verdict(w, report));
	json_set(w, root, "totals", totals(w, report));
	json_set(w, root, "schedule", schedule(w, report));
	json_set(w, root, "until", until(w, report));
	json_set(w, root, "events", events(w, report));
	json_set(w, root, "stability", stability(w, report));
	json_set(w, root, "findings", json_findings(w, &report->findings));
	json_set(w, root, "functions", functions(w, report, options));
	json_set(w, root, "settle", settle(w, report));
	json_set(w, root, "unseen", unseen(w, report));
	return root;
}

enum status report_json(const struct report *report, const struct json_options *options,
			struct output *output, struct error *error)
{
	struct json_writer writer = { false };

	return json_finish(&writer, document(&writer, report, options), output, error);
}
