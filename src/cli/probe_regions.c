/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Regions of the program (--region A..B): passages from one place to another, as table and as JSON.
 */
#include "cli/probe_output.h"
#include "report/escape.h"

static bool is_timed(const struct probe_cli *cli)
{
	return probe_mode_measures(cli->options.mode) && !cli->options.dry_run;
}

static bool any_region(const struct probe_result *result)
{
	for (size_t i = 0; i < result->n_rows; i++)
		if (result->rows[i].region && !result->rows[i].refused)
			return true;
	return false;
}

static void note(struct output *output, uint64_t n, const char *what)
{
	if (n)
		output_format(output, "  [%s: %llu]", what, (unsigned long long)n);
}

/* Its own cost and that of probed functions inside are not in it; there is no self time. */
static void times_add(const struct probe_result *result, const struct function_sums *sums,
		      struct output *output)
{
	const double total = (double)sums->inclusive;
	const double mean = sums->timed ? total / (double)sums->timed : 0;
	char total_text[32], mean_text[32];

	output_format(
		output, "%13s %13s %13s  ",
		probe_amount(result, probe_value(result, total), total_text, sizeof(total_text)),
		"", probe_amount(result, probe_value(result, mean), mean_text, sizeof(mean_text)));
}

static void row_add(const struct probe_cli *cli, const struct probe_result *result,
		    const struct probe_row *row, struct output *output)
{
	const struct function_sums *sums = &row->sums;

	if (cli->options.dry_run)
		output_add(output, "  ");
	else
		output_format(output, "%14llu ", (unsigned long long)sums->calls);
	if (is_timed(cli))
		times_add(result, sums, output);
	escape_for_terminal(output, row->name);
	output_add(output, "  ");
	escape_for_terminal(output, row->module);
	if (row->refused_in)
		output_format(output, "  [not in %u of the processes: %s]", row->refused_in,
			      row->reason);
	note(output, row->passages.restarted, "begun anew");
	note(output, row->passages.alone, "ends without a beginning");
	note(output, row->passages.unended, "never ended");
	note(output, sums->dropped, "not timed");
	note(output, sums->interrupted, "across stacks");
	note(output, row->passages.without_block, "of threads without a buffer");
	if (sums->unread || row->missing > 0)
		output_format(output, "  [partial: %llu passages not counted, %.1f %% of the time]",
			      (unsigned long long)sums->unread, row->missing * 100);
	if (is_timed(cli) && probe_dominates(result, row))
		output_add(output, "  [probe-dominates]");
	output_add(output, "\n");
}

void probe_regions(const struct probe_cli *cli, const struct probe_result *result,
		   struct output *output)
{
	if (!any_region(result))
		return;
	if (cli->options.dry_run)
		output_add(output, "\nregions:\n");
	else if (is_timed(cli))
		output_format(output, "\n%14s %13s %13s %13s  region\n", "passages", "total", "",
			      "mean");
	else
		output_format(output, "\n%14s region\n", "passages");
	for (size_t i = 0; i < result->n_rows; i++)
		if (result->rows[i].region && !result->rows[i].refused)
			row_add(cli, result, &result->rows[i], output);
}

static void counts_set(struct json_writer *w, const struct probe_cli *cli,
		       const struct probe_result *result, const struct probe_row *row,
		       json_t *object)
{
	const struct function_sums *sums = &row->sums;

	json_set(w, object, "passages", json_integer_of(w, sums->calls));
	json_set(w, object, "begun", json_integer_of(w, row->passages.begun));
	json_set(w, object, "restarted", json_integer_of(w, row->passages.restarted));
	json_set(w, object, "ends_alone", json_integer_of(w, row->passages.alone));
	json_set(w, object, "unended", json_integer_of(w, row->passages.unended));
	json_set(w, object, "without_block", json_integer_of(w, row->passages.without_block));
	json_set(w, object, "dropped", json_integer_of(w, sums->dropped));
	json_set(w, object, "threads", json_integer_of(w, sums->threads));
	if (!is_timed(cli))
		return;
	json_set(w, object, "timed", json_integer_of(w, sums->timed));
	json_set(w, object, "inclusive",
		 json_real_of(w, probe_value(result, (double)sums->inclusive)));
	json_set(w, object, "interrupted", json_integer_of(w, sums->interrupted));
	if (result->metric.by_event) {
		json_set(w, object, "unread", json_integer_of(w, sums->unread));
		json_set(w, object, "missing_share", json_real_of(w, row->missing));
	}
	json_set(w, object, "distribution", probe_json_distribution(w, result, sums));
	json_set(w, object, "probe_dominates", json_boolean_of(w, probe_dominates(result, row)));
}

json_t *probe_json_regions(struct json_writer *w, const struct probe_cli *cli,
			   const struct probe_result *result)
{
	json_t *list = json_array_of(w);

	for (size_t i = 0; i < result->n_rows; i++) {
		const struct probe_row *row = &result->rows[i];
		json_t *object;

		if (!row->region)
			continue;
		object = json_object_of(w);
		json_set(w, object, "name", json_text_of(w, row->name));
		json_set(w, object, "module", json_text_of(w, row->module));
		json_set(w, object, "state", json_text_of(w, row->refused ? "refused" : "probed"));
		json_set(w, object, "reason", json_text_of(w, row->reason));
		if (row->refused)
			json_set(w, object, "reason_text", json_text_of(w, row->reason_text));
		else if (!cli->options.dry_run)
			counts_set(w, cli, result, row, object);
		json_append(w, list, object);
	}
	return list;
}
