/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The document "assay.probe/1" of the contract, and what it has beside.
 */
#include <string.h>

#include "cli/probe_output.h"
#include "report/json_writer.h"

json_t *probe_json_distribution(struct json_writer *w, const struct probe_result *result,
				const struct function_sums *sums)
{
	json_t *list = json_array_of(w);

	for (unsigned int i = 0; i < AGENT_BUCKETS; i++) {
		json_t *bucket;

		if (!sums->buckets[i])
			continue;
		bucket = json_object_of(w);
		json_set(w, bucket, result->metric.by_event ? "below" : "below_ns",
			 json_real_of(w, probe_value(result, (double)((unsigned __int128)1 << i))));
		json_set(w, bucket, "calls", json_integer_of(w, sums->buckets[i]));
		json_append(w, list, bucket);
	}
	return list;
}

static void times_set(struct json_writer *w, const struct probe_cli *cli,
		      const struct probe_result *result, const struct probe_row *row,
		      json_t *object)
{
	const struct function_sums *sums = &row->sums;
	double half;
	const double inclusive = probe_inclusive(cli, row, &half);
	const bool sampled = cli->options.every > 1;

	json_set(w, object, "timed", json_integer_of(w, sums->timed));
	json_set(w, object, "inclusive", json_real_of(w, probe_value(result, inclusive)));
	json_set(w, object, "self",
		 sampled ? json_null() : json_real_of(w, probe_value(result, (double)sums->self)));
	if (sampled)
		json_set(w, object, "why",
			 json_text_of(w, "self: with --every the callees are not all timed"));
	json_set(w, object, "lo", json_real_of(w, probe_value(result, inclusive - half)));
	json_set(w, object, "hi", json_real_of(w, probe_value(result, inclusive + half)));
	json_set(w, object, "abandoned", json_integer_of(w, sums->abandoned));
	json_set(w, object, "dropped", json_integer_of(w, sums->dropped));
	json_set(w, object, "interrupted", json_integer_of(w, sums->interrupted));
	json_set(w, object, result->metric.by_event ? "interrupted_value" : "interrupted_ns",
		 json_real_of(w, probe_value(result, (double)sums->interrupted_ticks)));
	if (result->metric.by_event) {
		json_set(w, object, "unread", json_integer_of(w, sums->unread));
		json_set(w, object, "partial",
			 json_boolean_of(w, sums->unread || row->missing > 0));
		json_set(w, object, "missing_share", json_real_of(w, row->missing));
	}
	json_set(w, object, "distribution", probe_json_distribution(w, result, sums));
	json_set(w, object, "probe_dominates", json_boolean_of(w, probe_dominates(result, row)));
}

static const char *mode_name(enum probe_mode mode)
{
	switch (mode) {
	case PROBE_COUNT: return "count";
	case PROBE_STATE: return "state";
	case PROBE_TRACE: return "trace";
	case PROBE_TIME: break;
	}
	return "time";
}

/* Self time is that of threads seen in the function and in no probed callee, running or not. */
static void states_set(struct json_writer *w, const struct probe_result *result,
		       const struct probe_row *row, json_t *object)
{
	const struct bounds bounds = probe_seen(result, row);
	const double thread_ns = probe_seen_ns(result);

	json_set(w, object, "samples", json_integer_of(w, row->seen));
	json_set(w, object, "inclusive", json_null());
	json_set(w, object, "self", json_real_of(w, thread_ns * probe_seen_share(result, row)));
	json_set(w, object, "lo", json_real_of(w, thread_ns * bounds.lo));
	json_set(w, object, "hi", json_real_of(w, thread_ns * bounds.hi));
	json_set(w, object, "why",
		 json_text_of(w, "inclusive: the innermost probed function is looked at"));
}

static const char *exit_kind(uint8_t kind)
{
	switch ((enum code_site_kind)kind) {
	case CODE_SITE_RETURN: return "return";
	case CODE_SITE_TAIL_JUMP: return "tail-jump";
	case CODE_SITE_TAIL_BRANCH: return "tail-branch";
	case CODE_SITE_TAIL_INDIRECT: return "tail-indirect";
	default: return "other";
	}
}

/* Where the function is left; the numbers are those of mode trace's records. */
static json_t *exits(struct json_writer *w, const struct probe_row *row)
{
	json_t *list = json_array_of(w);

	for (uint32_t i = 0; row->exit_list && i < row->exits; i++) {
		const struct probe_exit *from = &row->exit_list[i];
		json_t *object = json_object_of(w);

		json_set(w, object, "number", json_integer_of(w, from->number));
		json_set(w, object, "offset", json_integer_of(w, (uint64_t)from->offset));
		json_set(w, object, "kind", json_text_of(w, exit_kind(from->kind)));
		json_append(w, list, object);
	}
	return list;
}

static json_t *function(struct json_writer *w, const struct probe_cli *cli,
			const struct probe_result *result, const struct probe_row *row)
{
	json_t *object = json_object_of(w);

	json_set(w, object, "name", json_text_of(w, row->name));
	if (row->symbol)
		json_set(w, object, "symbol", json_text_of(w, row->symbol));
	json_set(w, object, "module", json_text_of(w, row->module));
	if (row->aliases)
		json_set(w, object, "aliases", json_text_of(w, row->aliases));
	json_set(w, object, "address", json_integer_of(w, row->address));
	json_set(w, object, "state",
		 json_text_of(w, row->refused  ? "refused"
				 : row->capped ? "capped"
					       : "probed"));
	json_set(w, object, "reason", json_text_of(w, row->reason));
	if (row->refused_in && !row->refused)
		json_set(w, object, "refused_in", json_integer_of(w, row->refused_in));
	if (row->refused) {
		json_set(w, object, "reason_text", json_text_of(w, row->reason_text));
		return object;
	}
	if (cli->options.mode != PROBE_COUNT)
		json_set(w, object, "exits", exits(w, row));
	json_set(w, object, "sled", json_boolean_of(w, row->sled));
	if (cli->options.dry_run)
		return object;
	json_set(w, object, "late", json_boolean_of(w, row->since_ns || row->gaps));
	json_set(w, object, "since_ns", json_integer_of(w, row->since_ns));
	json_set(w, object, "gaps", json_integer_of(w, row->gaps));
	json_set(w, object, "calls", json_integer_of(w, row->sums.calls));
	json_set(w, object, "threads", json_integer_of(w, row->sums.threads));
	if (probe_mode_measures(cli->options.mode))
		times_set(w, cli, result, row, object);
	if (cli->options.mode == PROBE_STATE)
		states_set(w, result, row, object);
	return object;
}

static json_t *stops(struct json_writer *w, const struct guardian_stops *stops)
{
	json_t *object = json_object_of(w);

	json_set(w, object, "stops", json_integer_of(w, stops->stops));
	json_set(w, object, "threads", json_integer_of(w, stops->threads));
	json_set(w, object, "gather_ns", json_integer_of(w, stops->gather_ns));
	json_set(w, object, "held_ns", json_integer_of(w, stops->held_ns));
	json_set(w, object, "longest_held_ns", json_integer_of(w, stops->longest_held_ns));
	return object;
}

static json_t *footprint(struct json_writer *w, const struct probe_result *result)
{
	json_t *object = json_object_of(w);

	json_set(w, object, "functions", json_integer_of(w, result->n_probed));
	json_set(w, object, "sites", json_integer_of(w, result->sites));
	json_set(w, object, "buffer_bytes", json_integer_of(w, result->buffer_bytes));
	json_set(w, object, "slots", json_integer_of(w, result->slots));
	json_set(w, object, "slots_used", json_integer_of(w, result->slots_used));
	json_set(w, object, "code_bytes", json_integer_of(w, result->code_bytes));
	json_set(w, object, "attach", stops(w, &result->attach));
	json_set(w, object, "detach", stops(w, &result->detach));
	json_set(w, object, "not_restored", json_integer_of(w, result->not_restored));
	return object;
}

static json_t *cost(struct json_writer *w, const struct probe_result *result)
{
	json_t *object = json_object_of(w);

	json_set(w, object, "pair", json_real_of(w, probe_value(result, result->pair_ticks)));
	json_set(w, object, "inner", json_real_of(w, probe_value(result, result->inner_ticks)));
	json_set(w, object, "unit",
		 json_text_of(w, result->metric.by_event ? result->metric.name : "ns"));
	return object;
}

/* Time that threads were switched out, which is no call's: null where it could not be known. */
static json_t *off_cpu(struct json_writer *w, const struct probe_result *result)
{
	json_t *object = json_object_of(w);
	const bool known = !result->metric.by_event && !result->sums.without_page;

	json_set(w, object, "taken_out_ns",
		 known ? json_real_of(w, probe_value(result, (double)result->sums.off_ticks))
		       : json_null());
	json_set(w, object, "switches",
		 known ? json_integer_of(w, result->sums.off_looks) : json_null());
	json_set(w, object, "threads_without_event", json_integer_of(w, result->sums.without_page));
	if (result->sums.without_page)
		json_set(w, object, "why", json_text_of(w, strerror((int)result->sums.page_errno)));
	return object;
}

/* Calls times the calibrated pair, of the time that was watched. */
static json_t *overhead(struct json_writer *w, const struct probe_result *result)
{
	json_t *object = json_object_of(w);
	double calls = 0;

	for (size_t i = 0; i < result->n_rows; i++)
		calls += (double)result->rows[i].sums.calls;
	if (result->metric.by_event) /* the pair is known in events, not in time */
		json_set(w, object, "share", json_null());
	else
		json_set(w, object, "share",
			 json_real_of(w, result->duration_ns
						 ? calls * probe_value(result, result->pair_ticks) /
							   (double)result->duration_ns
						 : 0));
	json_set(w, object, "budget", json_null());
	return object;
}

/* A process that the target made, unprobed; restored: null when it had nothing of the probes. */
static json_t *child(struct json_writer *w, const struct guardian_child *from)
{
	json_t *object = json_object_of(w);

	json_set(w, object, "pid", json_integer_of(w, (uint64_t)from->pid));
	json_set(w, object, "comm", json_text_of(w, from->comm));
	json_set(w, object, "restored",
		 from->patched ? json_boolean_of(w, !from->left) : json_null());
	if (*from->reason) /* it was to be followed */
		json_set(w, object, "reason", json_text_of(w, from->reason));
	return object;
}

/* What one process did; of a single one the rows say it already. */
static json_t *process(struct json_writer *w, const struct probe_cli *cli,
		       const struct probe_result *result, const struct probe_process *from)
{
	static const char *const starts[] = { [PROBE_ATTACHED] = "attached",
					      [PROBE_LAUNCHED] = "launched",
					      [PROBE_FORKED] = "fork",
					      [PROBE_EXECED] = "exec" };
	json_t *object = json_object_of(w), *list = json_array_of(w);

	json_set(w, object, "pid", json_integer_of(w, (uint64_t)from->pid));
	json_set(w, object, "comm", json_text_of(w, from->comm));
	json_set(w, object, "start", json_text_of(w, starts[from->start]));
	if (from->parent)
		json_set(w, object, "parent", json_integer_of(w, (uint64_t)from->parent));
	json_set(w, object, "ended", json_boolean_of(w, from->ended));
	json_set(w, object, "threads", json_integer_of(w, from->threads));
	json_set(w, object, "calls", json_integer_of(w, from->calls));
	for (size_t i = 0; result->n_processes > 1 && i < from->n; i++) {
		const struct probe_share *share = &from->shares[i];
		json_t *one = json_object_of(w);

		json_set(w, one, "name", json_text_of(w, share->name));
		json_set(w, one, "module", json_text_of(w, share->module));
		json_set(w, one, "calls", json_integer_of(w, share->calls));
		if (probe_mode_measures(cli->options.mode) && cli->options.every <= 1) {
			json_set(w, one, "inclusive",
				 json_real_of(w, probe_value(result, (double)share->inclusive)));
			json_set(w, one, "self",
				 json_real_of(w, probe_value(result, (double)share->self)));
		}
		json_append(w, list, one);
	}
	json_set(w, object, "functions", list);
	list = json_array_of(w);
	for (size_t i = 0; i < from->n_children; i++)
		json_append(w, list, child(w, &from->children[i]));
	json_set(w, object, "children", list);
	return object;
}

static json_t *edges(struct json_writer *w, const struct probe_result *result)
{
	json_t *list = json_array_of(w);

	for (size_t i = 0; i < result->n_edges; i++) {
		const struct probe_edge *edge = &result->edges[i];
		json_t *object = json_object_of(w);

		json_set(w, object, "caller",
			 edge->caller ? json_text_of(w, edge->caller) : json_null());
		json_set(w, object, "caller_module",
			 edge->caller ? json_text_of(w, edge->caller_module) : json_null());
		json_set(w, object, "callee", json_text_of(w, edge->callee));
		json_set(w, object, "callee_module", json_text_of(w, edge->callee_module));
		json_set(w, object, "calls", json_integer_of(w, edge->calls));
		json_set(w, object, "inclusive",
			 json_real_of(w, probe_value(result, (double)edge->inclusive)));
		json_append(w, list, object);
	}
	return list;
}

/* The tree as a list: `parent` is an index into it, null where no probed function called. */
static json_t *tree(struct json_writer *w, const struct probe_result *result)
{
	json_t *list = json_array_of(w);

	for (size_t i = 0; i < result->n_nodes; i++) {
		const struct probe_node *node = &result->nodes[i];
		json_t *object = json_object_of(w);

		json_set(w, object, "parent",
			 node->parent == PROBE_NO_PARENT ? json_null()
							 : json_integer_of(w, node->parent));
		json_set(w, object, "pid", json_integer_of(w, (uint64_t)node->pid));
		json_set(w, object, "name", json_text_of(w, node->name));
		json_set(w, object, "module", json_text_of(w, node->module));
		json_set(w, object, "calls", json_integer_of(w, node->calls));
		json_set(w, object, "inclusive",
			 json_real_of(w, probe_value(result, (double)node->inclusive)));
		json_set(w, object, "self",
			 json_real_of(w, probe_value(result, (double)node->self)));
		json_append(w, list, object);
	}
	return list;
}

static void trace_set(struct json_writer *w, const struct probe_cli *cli,
		      const struct probe_result *result, json_t *document)
{
	json_t *object = json_object_of(w);

	json_set(w, object, "records", json_integer_of(w, result->sums.records));
	json_set(w, object, "calls_dropped", json_integer_of(w, result->sums.records_dropped));
	json_set(w, object, "file", json_text_of(w, cli->records));
	json_set(w, object, "file_is_whole", json_boolean_of(w, !result->records_errno));
	json_set(w, object, "calls_beyond_tree", json_integer_of(w, result->nodes_lost));
	json_set(w, object, "agrees", json_boolean_of(w, probe_audit(result)));
	json_set(w, document, "trace", object);
	json_set(w, document, "tree", tree(w, result));
}

enum status probe_json(const struct probe_cli *cli, struct probe_result *result,
		       struct output *output, struct error *error)
{
	struct json_writer writer = { 0 }, *w = &writer;
	json_t *document = json_object_of(w), *list = json_array_of(w), *processes;

	json_set(w, document, "schema", json_text_of(w, "assay.probe/1"));
	json_set(w, document, "counter", json_text_of(w, result->metric.name));
	json_set(w, document, "barrier", json_boolean_of(w, result->metric.ordered));
	json_set(w, document, "mode", json_text_of(w, mode_name(cli->options.mode)));
	json_set(w, document, "dry_run", json_boolean_of(w, cli->options.dry_run));
	json_set(w, document, "every", json_integer_of(w, cli->options.every));
	json_set(w, document, "cap",
		 cli->options.cap ? json_integer_of(w, cli->options.cap) : json_null());
	json_set(w, document, "duration_ns", json_integer_of(w, result->duration_ns));
	json_set(w, document, "cost", cost(w, result));
	for (size_t i = 0; i < result->n_rows; i++)
		if (!result->rows[i].region)
			json_append(w, list, function(w, cli, result, &result->rows[i]));
	json_set(w, document, "functions", list);
	json_set(w, document, "regions", probe_json_regions(w, cli, result));
	json_set(w, document, "edges", edges(w, result));
	if (cli->options.mode == PROBE_TRACE)
		trace_set(w, cli, result, document);
	processes = json_array_of(w);
	for (size_t i = 0; i < result->n_processes; i++)
		json_append(w, processes, process(w, cli, result, &result->processes[i]));
	json_set(w, document, "processes", processes);
	if (result->n_unlisted) {
		json_set(w, document, "processes_unlisted", json_integer_of(w, result->n_unlisted));
		json_set(w, document, "calls_unlisted", json_integer_of(w, result->unlisted_calls));
	}
	json_set(w, document, "threads", json_integer_of(w, result->sums.threads));
	json_set(w, document, "odd_exits", json_integer_of(w, result->sums.odd_exits));
	json_set(w, document, "without_block", json_integer_of(w, result->sums.without_block));
	json_set(w, document, "foreign", json_integer_of(w, result->sums.foreign));
	json_set(w, document, "lost_regions", json_integer_of(w, result->sums.lost_regions));
	if (probe_mode_measures(cli->options.mode))
		json_set(w, document, "off_cpu", off_cpu(w, result));
	if (cli->options.mode == PROBE_STATE) {
		json_set(w, document, "looks", json_integer_of(w, result->looks));
		json_set(w, document, "threads_seen", json_integer_of(w, result->threads_seen));
		json_set(w, document, "seen_outside", json_integer_of(w, result->seen_outside));
	}
	json_set(w, document, "overhead", overhead(w, result));
	json_set(w, document, "footprint", footprint(w, result));
	return json_finish(w, document, output, error);
}
