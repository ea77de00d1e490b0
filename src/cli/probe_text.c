/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of `assay probe`.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/probe_output.h"
#include "report/digits.h"
#include "report/escape.h"

#define Z_95            1.96
#define REFUSED_SHOWN   20u
#define SHARES_SHOWN    10u
#define CHILDREN_SHOWN  20u
#define PROCESSES_SHOWN 64u

double probe_value(const struct probe_result *result, double ticks)
{
	if (result->metric.by_event)
		return ticks;
	return result->ticks_per_ns > 0 ? ticks / result->ticks_per_ns : 0;
}

bool probe_dominates(const struct probe_result *result, const struct probe_row *row)
{
	const double n = (double)row->sums.timed;
	const double pair = row->region ? result->passage_pair_ticks : result->pair_ticks;

	return n > 0 && pair > (double)row->sums.inclusive / n / 2;
}

double probe_seen_share(const struct probe_result *result, const struct probe_row *row)
{
	return result->threads_seen ? (double)row->seen / (double)result->threads_seen : 0;
}

struct bounds probe_seen(const struct probe_result *result, const struct probe_row *row)
{
	if (!result->threads_seen)
		return (struct bounds){ 0, 1 };
	return bounds_wilson(probe_seen_share(result, row), (double)result->threads_seen, Z_95);
}

double probe_seen_ns(const struct probe_result *result)
{
	return result->looks ? (double)result->duration_ns * (double)result->threads_seen /
				       (double)result->looks
			     : 0;
}

/* The total of N calls from a random n of them: N times their mean; its variance N^2 s^2 / n (1 - n/N). */
double probe_inclusive(const struct probe_cli *cli, const struct probe_row *row, double *half_width)
{
	const struct function_sums *sums = &row->sums;
	const double n = (double)sums->timed, all = (double)sums->calls;
	const double total = (double)sums->inclusive;
	double variance;

	*half_width = 0;
	if (cli->options.every <= 1 || n < 1)
		return total;
	variance = n > 1 ? (sums->squares - total * total / n) / (n - 1) : 0;
	if (variance > 0)
		*half_width = Z_95 * all * sqrt(variance / n * (1 - n / all));
	return total / n * all;
}

static int compare_by_time(const void *a, const void *b)
{
	const struct probe_row *x = a, *y = b;

	if (x->refused != y->refused)
		return x->refused - y->refused;
	if (x->seen != y->seen)
		return x->seen < y->seen ? 1 : -1;
	if (x->sums.inclusive != y->sums.inclusive)
		return x->sums.inclusive < y->sums.inclusive ? 1 : -1;
	if (x->sums.calls != y->sums.calls)
		return x->sums.calls < y->sums.calls ? 1 : -1;
	return strcmp(x->name, y->name);
}

const char *probe_amount(const struct probe_result *result, double ns, char *text, size_t size)
{
	if (result->metric.by_event)
		snprintf(text, size, ns == rint(ns) ? "%.0f" : "%.1f", ns);
	else if (ns >= 1e9)
		snprintf(text, size, "%.3f s ", ns / 1e9);
	else if (ns >= 1e6)
		snprintf(text, size, "%.3f ms", ns / 1e6);
	else if (ns >= 1e3)
		snprintf(text, size, "%.3f us", ns / 1e3);
	else
		snprintf(text, size, "%.1f ns", ns);
	return text;
}

static void notes_add(const struct probe_cli *cli, const struct probe_result *result,
		      const struct probe_row *row, struct output *output)
{
	const struct function_sums *sums = &row->sums;

	if (row->aliases) {
		output_add(output, "  = ");
		escape_for_terminal(output, row->aliases);
	}
	if (row->capped)
		output_format(output, "  [first %llu calls%s of each thread]",
			      (unsigned long long)cli->options.cap,
			      cli->options.cap_epoch_ns ? " per epoch" : "");
	if (row->refused_in)
		output_format(output, "  [not in %u of the processes: %s]", row->refused_in,
			      row->reason);
	if (row->since_ns)
		output_format(output, "  [late: from %.3f s on]", (double)row->since_ns / 1e9);
	if (row->gaps)
		output_format(output, "  [late again: opened anew %u times]", row->gaps);
	if (sums->abandoned)
		output_format(output, "  [%llu abandoned]", (unsigned long long)sums->abandoned);
	if (sums->dropped)
		output_format(output, "  [%llu not timed]", (unsigned long long)sums->dropped);
	if (sums->interrupted)
		output_format(output, "  [%llu across stacks]",
			      (unsigned long long)sums->interrupted);
	if (sums->unread || row->missing > 0)
		output_format(output, "  [partial: %llu calls not counted, %.1f %% of the time]",
			      (unsigned long long)sums->unread, row->missing * 100);
	if (probe_dominates(result, row))
		output_add(output, "  [probe-dominates]");
}

static void row_count(const struct probe_row *row, struct output *output)
{
	output_format(output, "%14llu  ", (unsigned long long)row->sums.calls);
}

static void row_state(const struct probe_result *result, const struct probe_row *row,
		      struct output *output)
{
	const struct bounds bounds = probe_seen(result, row);
	char range[40];

	snprintf(range, sizeof(range), "%.1f-%.1f %%", bounds.lo * 100, bounds.hi * 100);
	output_format(output, "%14llu %13llu %7.1f %% %15s  ", (unsigned long long)row->sums.calls,
		      (unsigned long long)row->seen, probe_seen_share(result, row) * 100, range);
}

static void row_time(const struct probe_cli *cli, const struct probe_result *result,
		     const struct probe_row *row, struct output *output)
{
	char total[32], self[32], mean[32], within[40] = "";
	double half;
	const double inclusive = probe_value(result, probe_inclusive(cli, row, &half));
	const double timed = (double)row->sums.timed;
	const double each =
		timed > 0 ? probe_value(result, (double)row->sums.inclusive) / timed : 0;

	if (cli->options.every > 1)
		snprintf(within, sizeof(within), "%7.1f %%",
			 inclusive > 0 ? probe_value(result, half) / inclusive * 100 : 0);
	output_format(output, "%14llu %13s %13s %13s  ", (unsigned long long)row->sums.calls,
		      probe_amount(result, inclusive, total, sizeof(total)),
		      cli->options.every > 1
			      ? within
			      : probe_amount(result, probe_value(result, (double)row->sums.self),
					     self, sizeof(self)),
		      probe_amount(result, each, mean, sizeof(mean)));
}

static void refused_add(const struct probe_result *result, struct output *output)
{
	unsigned int shown = 0;

	if (!result->n_refused)
		return;
	output_format(output, "\nnot probed (%u):\n", result->n_refused);
	for (size_t i = 0; i < result->n_rows; i++) {
		const struct probe_row *row = &result->rows[i];

		if (!row->refused)
			continue;
		if (shown++ >= REFUSED_SHOWN) {
			output_format(output, "  ... and %u more (--json lists all)\n",
				      result->n_refused - REFUSED_SHOWN);
			return;
		}
		output_add(output, "  ");
		escape_for_terminal(output, row->name);
		output_add(output, "  ");
		escape_for_terminal(output, row->module);
		output_format(output, ": %s (%s)\n", row->reason_text, row->reason);
	}
}

static const char *subject(const struct probe_result *result, char *text, size_t size)
{
	if (result->n_processes == 1)
		snprintf(text, size, "process %d", result->processes->pid);
	else
		snprintf(text, size, "%" PRIu64 " processes",
			 result->n_processes + result->n_unlisted);
	return text;
}

static int compare_shares(const void *a, const void *b)
{
	const struct probe_share *x = a, *y = b;

	if (x->calls != y->calls)
		return x->calls < y->calls ? 1 : -1;
	return strcmp(x->name, y->name);
}

/* What one did of several. */
static void process_add(struct probe_process *process, struct output *output)
{
	output_format(output, "\nprocess %d", process->pid);
	if (process->start >= PROBE_FORKED) {
		output_add(output, " (");
		escape_for_terminal(output, process->comm);
		output_format(output, ", %s of %d)",
			      process->start == PROBE_EXECED ? "exec, child" : "fork",
			      process->parent);
	}
	output_format(output, ": %llu calls of %zu functions, %llu threads%s\n",
		      (unsigned long long)process->calls, process->n,
		      (unsigned long long)process->threads,
		      process->ended ? ", until it ended" : "");
	if (process->n)
		qsort(process->shares, process->n, sizeof(*process->shares), compare_shares);
	for (size_t k = 0; k < process->n && k < SHARES_SHOWN; k++) {
		output_format(output, "%14llu  ", (unsigned long long)process->shares[k].calls);
		escape_for_terminal(output, process->shares[k].name);
		output_add(output, "  ");
		escape_for_terminal(output, process->shares[k].module);
		output_add(output, "\n");
	}
	if (process->n > SHARES_SHOWN)
		output_format(output, "  ... and %zu more (--json lists all)\n",
			      process->n - SHARES_SHOWN);
}

static void processes_add(struct probe_result *result, struct output *output)
{
	size_t shown = result->n_processes;
	uint64_t more = result->unlisted_calls;

	if (shown > PROCESSES_SHOWN)
		shown = PROCESSES_SHOWN;
	for (size_t i = 0; result->n_processes > 1 && i < shown; i++)
		process_add(&result->processes[i], output);
	for (size_t i = shown; i < result->n_processes; i++)
		more += result->processes[i].calls;
	if (result->n_processes > shown || result->n_unlisted)
		output_format(output, "\n... and %" PRIu64 " more processes: %" PRIu64 " calls\n",
			      result->n_processes - shown + result->n_unlisted, more);
}

/* Time that threads were switched out is no call's; or why it is. */
static void off_cpu_add(const struct probe_cli *cli, const struct probe_result *result,
			struct output *output)
{
	char text[32];

	if (!probe_mode_measures(cli->options.mode))
		return;
	if (result->sums.without_page)
		output_format(output, "%llu threads could not open an event (%s): %s\n",
			      (unsigned long long)result->sums.without_page,
			      strerror((int)result->sums.page_errno),
			      result->metric.by_event ? "their calls are counted only"
						      : "time off the CPU is part of their calls");
	if (result->sums.off_looks && !result->metric.by_event)
		output_format(output, "time off the CPU taken out: %s, %llu times\n",
			      probe_amount(result,
					   probe_value(result, (double)result->sums.off_ticks),
					   text, sizeof(text)),
			      (unsigned long long)result->sums.off_looks);
}

/* Processes that were made meanwhile, or before, and not probed. */
static void children_add(const struct probe_result *result, struct output *output)
{
	uint64_t more = 0, shown = 0;

	for (size_t i = 0; i < result->n_processes; i++) {
		const struct probe_process *process = &result->processes[i];

		more += process->n_more;
		for (size_t k = 0; k < process->n_children; k++) {
			const struct guardian_child *child = &process->children[k];

			if (shown++ >= CHILDREN_SHOWN) {
				more++;
				continue;
			}
			output_format(output, "%schild %d of %d (", shown == 1 ? "\n" : "",
				      child->pid, process->pid);
			escape_for_terminal(output, child->comm);
			output_format(output, "): %s%s\n",
				      *child->reason ? child->reason : "not followed",
				      !child->patched ? ""
				      : child->left   ? ", its code could not be restored"
						      : ", its code restored");
		}
	}
	if (more)
		output_format(output, "  ... and %llu more children\n", (unsigned long long)more);
}

static void head_add(const struct probe_cli *cli, const struct probe_result *result,
		     struct output *output)
{
	char text[64], pair[32], who[64];

	if (cli->options.dry_run) {
		output_format(output, "%s: %u functions would be probed at %llu sites\n\n",
			      subject(result, who, sizeof(who)), result->n_probed,
			      (unsigned long long)result->sites);
		return;
	}
	output_format(output, "%s: %u functions probed for %s, %llu threads%s\n",
		      subject(result, who, sizeof(who)), result->n_probed,
		      digits_duration((double)result->duration_ns, text, sizeof(text)),
		      (unsigned long long)result->sums.threads,
		      result->ended ? ", until it ended" : "");
	if (probe_mode_measures(cli->options.mode))
		output_format(output,
			      "%s; own cost taken out: %s per call and exit, calibrated on this "
			      "machine\n",
			      result->metric.name,
			      probe_amount(result, probe_value(result, result->pair_ticks), pair,
					   sizeof(pair)));
	if (result->sums.without_block)
		output_format(output,
			      "%llu calls by threads beyond the first %u are counted but not timed "
			      "(--buffer)\n",
			      (unsigned long long)result->sums.without_block, result->n_blocks);
	off_cpu_add(cli, result, output);
	if (result->not_restored)
		output_format(output,
			      "%llu places in the target's code had been changed by somebody else, "
			      "or unmapped, and were left as they are\n",
			      (unsigned long long)result->not_restored);
	output_add(output, "\n");
}

/* Or point: regions have a table of their own. */
static bool any_function(const struct probe_result *result)
{
	for (size_t i = 0; i < result->n_rows; i++)
		if (!result->rows[i].region && !result->rows[i].refused)
			return true;
	return false;
}

void probe_text(const struct probe_cli *cli, struct probe_result *result, struct output *output)
{
	const bool timed = probe_mode_measures(cli->options.mode) && !cli->options.dry_run;

	if (result->n_rows)
		qsort(result->rows, result->n_rows, sizeof(*result->rows), compare_by_time);
	head_add(cli, result, output);
	if (cli->options.mode == PROBE_STATE && !cli->options.dry_run)
		output_format(
			output,
			"threads were looked at %llu times at random moments: %llu states, "
			"%llu of them in no probed function\n\n%14s %13s %9s %15s  function\n",
			(unsigned long long)result->looks, (unsigned long long)result->threads_seen,
			(unsigned long long)result->seen_outside, "calls", "seen", "share", "95 %");
	else if (timed && any_function(result))
		output_format(output, "%14s %13s %13s %13s  function\n", "calls", "total",
			      cli->options.every > 1 ? "+-" : "self", "mean");
	else if (!cli->options.dry_run && !timed && any_function(result))
		output_format(output, "%14s  function\n", "calls");
	for (size_t i = 0; i < result->n_rows; i++) {
		const struct probe_row *row = &result->rows[i];

		if (row->refused || row->region)
			continue;
		if (timed)
			row_time(cli, result, row, output);
		else if (cli->options.mode == PROBE_STATE && !cli->options.dry_run)
			row_state(result, row, output);
		else if (!cli->options.dry_run)
			row_count(row, output);
		else
			output_add(output, "  ");
		escape_for_terminal(output, row->name);
		output_add(output, "  ");
		escape_for_terminal(output, row->module);
		notes_add(cli, result, row, output);
		output_add(output, "\n");
	}
	probe_regions(cli, result, output);
	if (!cli->options.dry_run)
		processes_add(result, output);
	children_add(result, output);
	if (timed)
		probe_distribution(result, output);
	if (cli->options.mode == PROBE_TRACE && !cli->options.dry_run)
		probe_tree(result, output);
	refused_add(result, output);
}
