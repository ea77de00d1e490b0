/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What `assay probe` shows: a table for people, or the document "assay.probe/1".
 */
#ifndef ASSAY_CLI_PROBE_OUTPUT_H
#define ASSAY_CLI_PROBE_OUTPUT_H

#include "cli/probe_options.h"
#include "estimate/interval.h"
#include "report/json_writer.h"
#include "report/output.h"

/* Rows by total time (by calls in count mode), refused functions below. */
void probe_text(const struct probe_cli *cli, struct probe_result *result, struct output *output);
MUST_CHECK enum status probe_json(const struct probe_cli *cli, struct probe_result *result,
				  struct output *output, struct error *error);

/* Nanoseconds from ticks; by an event, its count as it is. */
double probe_value(const struct probe_result *result, double ticks);

/* Mode state: the function's share of what was seen of all threads, its 95 % interval, and the thread time that
 * the whole stands for: a thread that was there all the time counts once. */
double probe_seen_share(const struct probe_result *result, const struct probe_row *row);
struct bounds probe_seen(const struct probe_result *result, const struct probe_row *row);
double probe_seen_ns(const struct probe_result *result);

/* Mode trace: nothing was dropped, and the records give each row's sums. */
bool probe_audit(const struct probe_result *result);

/* A line per function: how its calls are spread over durations. */
void probe_distribution(const struct probe_result *result, struct output *output);

/* Regions of the program: the table, and the list for JSON. */
void probe_regions(const struct probe_cli *cli, const struct probe_result *result,
		   struct output *output);
json_t *probe_json_regions(struct json_writer *w, const struct probe_cli *cli,
			   const struct probe_result *result);
json_t *probe_json_distribution(struct json_writer *w, const struct probe_result *result,
				const struct function_sums *sums);

/* The tree of calls, as text. */
void probe_tree(const struct probe_result *result, struct output *output);

/* A value as probe_value has it, in `text`, which is returned. */
const char *probe_amount(const struct probe_result *result, double value, char *text, size_t size);

/* The pair costs more than half of what the mean call took. */
bool probe_dominates(const struct probe_result *result, const struct probe_row *row);

/* Inclusive ticks over all calls: measured, or with --every estimated from those timed; *half_width: half of
 * the 95 % interval of that estimate, 0 when nothing is estimated. */
double probe_inclusive(const struct probe_cli *cli, const struct probe_row *row,
		       double *half_width);

#endif
