/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/json.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/escape.h"

/* Digits of a share or a second: more would be noise, and fewer keep two reports' bytes equal. */
#define PRECISION 9

/* jansson frees what is given to a failed *_new call, so that nothing leaks, and a NULL object makes the
 * next set fail: one check at the end is enough. */
struct writer {
	bool failed;
};

static json_t *keep(struct writer *writer, json_t *value)
{
	if (!value)
		writer->failed = true;
	return value;
}

static void set(struct writer *writer, json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, value))
		writer->failed = true;
}

static void append(struct writer *writer, json_t *array, json_t *value)
{
	if (json_array_append_new(array, value))
		writer->failed = true;
}

static json_t *object_new(struct writer *writer)
{
	return keep(writer, json_object());
}

static json_t *array_new(struct writer *writer)
{
	return keep(writer, json_array());
}

/* null for NULL; bytes that are no UTF-8 become \xHH. */
static json_t *text(struct writer *writer, const char *value)
{
	struct output clean;
	json_t *string;

	if (!value)
		return keep(writer, json_null());
	output_init(&clean);
	escape_invalid_utf8(&clean, value);
	if (clean.no_memory)
		writer->failed = true;
	string = keep(writer, json_string(clean.text ? clean.text : ""));
	output_release(&clean);
	return string;
}

/* null for what is no number. */
static json_t *real(struct writer *writer, double value)
{
	return keep(writer, isfinite(value) ? json_real(value) : json_null());
}

static json_t *integer(struct writer *writer, uint64_t value)
{
	return keep(writer, json_integer((json_int_t)value));
}

static json_t *boolean(struct writer *writer, bool value)
{
	return keep(writer, json_boolean(value));
}

static json_t *verdict(struct writer *w, const struct report *report)
{
	json_t *object = object_new(w);

	set(w, object, "state", text(w, report_state_name(report->state)));
	set(w, object, "text", text(w, report->verdict));
	set(w, object, "top", integer(w, report->top_k));
	set(w, object, "set_settled", boolean(w, report->set_settled));
	set(w, object, "order_settled", boolean(w, report->order_settled));
	return object;
}

static json_t *totals(struct writer *w, const struct report *report)
{
	const struct report_totals *totals = &report->totals;
	json_t *object = object_new(w), *overhead = object_new(w);

	set(w, object, "samples", integer(w, totals->samples));
	set(w, object, "canary_samples", integer(w, totals->canary_samples));
	set(w, object, "filtered", integer(w, totals->filtered));
	set(w, object, "lost", integer(w, totals->lost));
	set(w, object, "lost_share", real(w, totals->lost_share));
	set(w, object, "throttled_ns", integer(w, totals->throttled_ns));
	set(w, object, "duration_ns", integer(w, totals->duration_ns));
	set(w, object, "cpu_ns",
	    isfinite(totals->cpu_ns) ? integer(w, (uint64_t)totals->cpu_ns) : real(w, NAN));
	set(w, object, "epochs", integer(w, report->contract.epochs));
	set(w, object, "clocks", integer(w, report->contract.clocks));
	set(w, overhead, "share", real(w, report->contract.achieved));
	set(w, overhead, "budget", real(w, report->contract.budget));
	set(w, object, "overhead", overhead);
	return object;
}

/* A seed is 64 bits wide, JSON numbers are safe up to 53: a text. */
static json_t *seed(struct writer *w, const struct report_contract *contract)
{
	struct output digits;
	json_t *value;

	if (!contract->has_seed)
		return real(w, NAN);
	output_init(&digits);
	output_format(&digits, "%llu", (unsigned long long)contract->seed);
	value = text(w, digits.text);
	output_release(&digits);
	return value;
}

static json_t *schedule(struct writer *w, const struct report *report)
{
	const struct report_contract *contract = &report->contract;
	json_t *object = object_new(w);

	set(w, object, "kind", text(w, contract->kind));
	set(w, object, "redraw", text(w, contract->redraw));
	set(w, object, "event", text(w, contract->event));
	set(w, object, "unit", text(w, contract->unit));
	set(w, object, "mean_period", real(w, contract->mean_period));
	set(w, object, "rate_hz", real(w, contract->rate_hz));
	set(w, object, "rate_why", text(w, contract->rate_why));
	set(w, object, "seed", seed(w, contract));
	set(w, object, "canary", boolean(w, contract->canary));
	set(w, object, "randomised", boolean(w, contract->randomised));
	set(w, object, "scope", text(w, contract->scope));
	return object;
}

static json_t *stability(struct writer *w, const struct report *report)
{
	const struct report_stability *stability = &report->stability;
	json_t *object = object_new(w);

	set(w, object, "k", integer(w, stability->k));
	set(w, object, "top1", real(w, stability->top1));
	set(w, object, "set", real(w, stability->set));
	set(w, object, "order", real(w, stability->order));
	set(w, object, "expected_set", real(w, stability->expected_set));
	set(w, object, "by_schedule", array_new(w));
	if (stability->why)
		set(w, object, "why", text(w, stability->why));
	return object;
}

static json_t *finding_functions(struct writer *w, const struct finding *finding)
{
	json_t *array = array_new(w);

	for (size_t i = 0; i < finding->n_functions; i++) {
		json_t *function = object_new(w);

		set(w, function, "name", text(w, finding->functions[i].name));
		set(w, function, "module", text(w, finding->functions[i].module));
		set(w, function, "bias_hi", real(w, finding->functions[i].error_hi));
		append(w, array, function);
	}
	return array;
}

static json_t *finding_evidence(struct writer *w, const struct finding *finding)
{
	json_t *object = object_new(w);

	for (size_t i = 0; i < finding->n_evidence; i++) {
		const struct finding_evidence *evidence = &finding->evidence[i];

		set(w, object, evidence->key,
		    evidence->text ? text(w, evidence->text) : real(w, evidence->number));
	}
	return object;
}

static json_t *findings(struct writer *w, const struct report *report)
{
	json_t *array = array_new(w);

	for (size_t i = 0; i < report->findings.n; i++) {
		const struct finding *finding = &report->findings.items[i];
		json_t *object = object_new(w);

		set(w, object, "code", text(w, finding->code));
		set(w, object, "severity", text(w, finding_severity_name(finding->severity)));
		set(w, object, "text", text(w, finding->text));
		set(w, object, "functions", finding_functions(w, finding));
		set(w, object, "every_function", boolean(w, finding->every_function));
		set(w, object, "bias_hi", real(w, finding->error_hi));
		set(w, object, "evidence", finding_evidence(w, finding));
		set(w, object, "next", text(w, finding->next));
		append(w, array, object);
	}
	return array;
}

static void interval(struct writer *w, json_t *object, const struct estimate_interval *interval,
		     const char *lo, const char *hi, const char *why)
{
	set(w, object, lo, real(w, interval->supported ? interval->lo : NAN));
	set(w, object, hi, real(w, interval->supported ? interval->hi : NAN));
	if (!interval->supported)
		set(w, object, why, text(w, interval->why ? interval->why : "not supported"));
}

static json_t *share(struct writer *w, const struct report_share *share)
{
	json_t *object = object_new(w);

	set(w, object, "share", real(w, share->recording.share));
	interval(w, object, &share->recording, "lo", "hi", "why");
	interval(w, object, &share->workload, "workload_lo", "workload_hi", "workload_why");
	set(w, object, "bias_hi", real(w, share->bias_hi));
	return object;
}

static json_t *variance(struct writer *w, const struct report_share *share)
{
	json_t *object = object_new(w);

	set(w, object, "measurement", real(w, share->variance_measurement));
	set(w, object, "workload", real(w, share->variance_workload));
	set(w, object, "workload_hi", real(w, share->variance_workload_hi));
	return object;
}

static void row_keys(struct writer *w, json_t *object, const struct report *report,
		     const struct report_row *row)
{
	set(w, object, "name", text(w, row->name));
	if (row->symbol)
		set(w, object, "symbol", text(w, row->symbol));
	set(w, object, "module", text(w, row->module));
	if (row->inlined)
		set(w, object, "inlined", boolean(w, true));
	if (report->by & REPORT_BY_LINE) {
		set(w, object, "file", text(w, row->file));
		set(w, object, "line", integer(w, row->line));
	}
	if (report->by & REPORT_BY_COMM)
		set(w, object, "comm", text(w, row->comm));
	if (report->by & REPORT_BY_PID)
		set(w, object, "pid", integer(w, row->pid));
	if (report->by & REPORT_BY_TID)
		set(w, object, "tid", integer(w, row->tid));
	if (report->by & REPORT_BY_CPU)
		set(w, object, "cpu", integer(w, row->cpu));
}

static json_t *function(struct writer *w, const struct report *report, const struct report_row *row)
{
	const struct report_share *ranked = report->ranked_by_total ? &row->total : &row->self;
	json_t *object = object_new(w);

	row_keys(w, object, report, row);
	set(w, object, "self", share(w, &row->self));
	set(w, object, "total", report->has_total ? share(w, &row->total) : real(w, NAN));
	set(w, object, "variance", variance(w, ranked));
	set(w, object, "rank_lo",
	    row->rank_lo && !report->no_ranks ? integer(w, row->rank_lo) : real(w, NAN));
	set(w, object, "rank_hi",
	    row->rank_lo && !report->no_ranks ? integer(w, row->rank_hi) : real(w, NAN));
	set(w, object, "group", row->group ? integer(w, row->group) : real(w, NAN));
	if (!row->rank_lo || report->no_ranks)
		set(w, object, "why",
		    text(w, report->no_ranks ? report->no_ranks : "no sample of its own"));
	set(w, object, "state", text(w, report_state_name(row->state)));
	set(w, object, "provenance", text(w, report_provenance_name(row->provenance)));
	set(w, object, "samples", integer(w, ranked->samples));
	set(w, object, "effective_samples", real(w, ranked->effective_samples));
	return object;
}

static json_t *functions(struct writer *w, const struct report *report,
			 const struct json_options *options)
{
	json_t *array = array_new(w);

	for (size_t i = 0; i < report->n_rows; i++) {
		const struct report_row *row = &report->rows[i];
		const double most = fmax(row->self.recording.share, row->total.recording.share);

		if (100 * most >= options->percent_limit)
			append(w, array, function(w, report, row));
	}
	return array;
}

static json_t *settle(struct writer *w, const struct report *report)
{
	json_t *object = object_new(w);

	set(w, object, "seconds", real(w, report->settle.seconds));
	set(w, object, "max_seconds", real(w, report->settle.max_seconds));
	set(w, object, "blocked_by_bias", boolean(w, report->settle.blocked_by_bias));
	if (report->settle.why || !isfinite(report->settle.seconds))
		set(w, object, "why",
		    text(w, report->settle.why ? report->settle.why : "shares are too alike"));
	return object;
}

static json_t *unseen(struct writer *w, const struct report *report)
{
	json_t *object = object_new(w);

	set(w, object, "share", real(w, report->unseen.share));
	set(w, object, "hi", real(w, report->unseen.hi));
	set(w, object, "functions_at_least", real(w, report->unseen.functions_at_least));
	if (report->unseen.why)
		set(w, object, "why", text(w, report->unseen.why));
	return object;
}

static json_t *command(struct writer *w, const struct report *report)
{
	json_t *array = array_new(w);

	for (size_t i = 0; i < report->n_command; i++)
		append(w, array, text(w, report->command[i]));
	return array;
}

static json_t *events(struct writer *w, const struct report *report)
{
	json_t *array = array_new(w);

	for (size_t i = 0; i < report->n_events; i++) {
		json_t *object = object_new(w);

		set(w, object, "name", text(w, report->events[i].name));
		set(w, object, "samples", integer(w, report->events[i].samples));
		set(w, object, "shown", boolean(w, report->events[i].shown));
		append(w, array, object);
	}
	return array;
}

static json_t *document(struct writer *w, const struct report *report,
			const struct json_options *options)
{
	json_t *root = object_new(w);

	set(w, root, "schema", text(w, REPORT_JSON_SCHEMA));
	set(w, root, "bundle", text(w, report->bundle));
	set(w, root, "command", command(w, report));
	set(w, root, "verdict", verdict(w, report));
	set(w, root, "totals", totals(w, report));
	set(w, root, "schedule", schedule(w, report));
	set(w, root, "events", events(w, report));
	set(w, root, "stability", stability(w, report));
	set(w, root, "findings", findings(w, report));
	set(w, root, "functions", functions(w, report, options));
	set(w, root, "settle", settle(w, report));
	set(w, root, "unseen", unseen(w, report));
	return root;
}

enum status report_json(const struct report *report, const struct json_options *options,
			struct output *output, struct error *error)
{
	struct writer writer = { false };
	json_t *root = document(&writer, report, options);
	char *text_of_root =
		writer.failed ? NULL
			      : json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(PRECISION));

	json_decref(root);
	if (!text_of_root)
		return error_set(error, STATUS_NO_MEMORY, "no memory for the report's JSON");
	output_add(output, text_of_root);
	output_add(output, "\n");
	free(text_of_root);
	return output_check(output, error);
}
