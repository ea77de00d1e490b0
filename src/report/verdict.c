/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "diagnose/finding_code.h"
#include "report/digits.h"
#include "report/output.h"

/* Beyond this the weaker the promise the better: "not in reasonable time". */
#define PATIENCE_S (30 * 86400.0)
#define NAMES_TOLD 4
#define REST_SHARE 0.005

static const struct report_share *ranked_share(const struct report *report,
					       const struct report_row *row)
{
	return report->ranked_by_total ? &row->total : &row->self;
}

static void row_name(struct output *out, const struct report *report, const struct report_row *row)
{
	if (row->name && row->name[0] == '[' && row->module && *row->module)
		output_format(out, "%s in %s", row->name, row->module);
	else if (row->name)
		output_add(out, row->name);
	else if (row->comm)
		output_add(out, row->comm);
	else if (row->module)
		output_add(out, row->module);
	else if (row->file)
		output_add(out, row->file);
	else if (report->by & REPORT_BY_TID)
		output_format(out, "thread %u", row->tid);
	else if (report->by & REPORT_BY_PID)
		output_format(out, "process %u", row->pid);
	else
		output_format(out, "CPU %u", row->cpu);
}

static void interval_words(struct output *out, const struct estimate_interval *interval)
{
	const double half = 50 * (interval->hi - interval->lo);
	const int decimals = digits_decimals(half);

	output_format(out, "%.*f-%.*f %%", decimals, 100 * interval->lo, decimals,
		      100 * interval->hi);
}

static double share_of(const struct report *report, size_t row)
{
	return ranked_share(report, &report->rows[row])->recording.share;
}

/* The `told` largest of `n` rows, in the order of the table, which says nothing. */
static void largest(const struct report *report, size_t from, size_t n, size_t told, size_t *rows)
{
	size_t chosen = 0;

	for (size_t i = from; i < from + n; i++) {
		size_t larger = 0;

		for (size_t j = from; j < from + n && larger < told; j++)
			larger += share_of(report, j) > share_of(report, i) ||
				  (share_of(report, j) == share_of(report, i) && j < i);
		if (larger < told && chosen < told)
			rows[chosen++] = i;
	}
}

/* "a", "a and b", "a, b and c", "a, b, c and 4 others": of many, those that may matter most. */
static void names_list(struct output *out, const struct report *report, size_t from, size_t n)
{
	const size_t told = n > NAMES_TOLD + 1 ? NAMES_TOLD : n;
	size_t rows[NAMES_TOLD + 1];

	largest(report, from, n, told, rows);
	for (size_t i = 0; i < told; i++) {
		if (i)
			output_add(out, i + 1 == told && told == n ? " and " : ", ");
		row_name(out, report, &report->rows[rows[i]]);
	}
	if (told < n)
		output_format(out, " and %zu others", n - told);
}

static void no_samples(struct output *out, const struct report *report)
{
	char cpu[32];

	output_add(out, "0 samples: nothing can be said about where the time went. ");
	if (findings_find(&report->findings, CODE_UNFINISHED)) {
		output_add(out, "The recording ended before its first epoch did.");
		return;
	}
	if (report->filtered) {
		output_format(out, "The filter left out all %llu.",
			      (unsigned long long)report->totals.filtered);
		return;
	}
	for (size_t i = 0; i < report->n_events; i++)
		if (!report->events[i].shown && report->events[i].samples) {
			output_format(out, "Event %s has %llu: choose it with -e.",
				      report->events[i].name,
				      (unsigned long long)report->events[i].samples);
			return;
		}
	if (report->totals.cpu_ns > 0)
		output_format(
			out,
			"The program used %s of CPU time; run it longer, several times in one "
			"recording, or at a higher rate (-F).",
			digits_duration(report->totals.cpu_ns, cpu, sizeof(cpu)));
	else
		output_add(out, "The program hardly ran on a CPU while it was recorded.");
}

static void too_few(struct output *out, const struct report *report)
{
	output_format(
		out,
		"Only %llu samples, too few for any interval (%s): the shares below are rough. "
		"Record longer, or the program several times in one recording.",
		(unsigned long long)report->totals.samples, report->too_few);
}

/* Only what touches the rows that the verdict is about; the rest stands among the findings. */
static void bias_words(struct output *out, const struct report *report)
{
	const struct finding *worst = report_bias(report);
	double error_hi = 0;
	char points[32];

	if (!worst)
		return;
	for (size_t i = 0; i < report->findings.n; i++)
		if (report->findings.items[i].severity == FINDING_BIAS)
			error_hi = fmax(error_hi, report->findings.items[i].error_hi);
	output_format(out, "Biased (%s", worst->code);
	if (error_hi > 0)
		output_format(out, ", by up to %s points",
			      digits_points(error_hi, points, sizeof(points)));
	output_add(out, "): more samples will not mend this. ");
	if (worst->next && *worst->next)
		output_format(out, "%s ", worst->next);
	output_add(out, report->too_few ? "" : "As sampled: ");
}

/* Nothing in the samples of a clock that was not drawn can show that it ran in step with the program. */
static void unchecked_words(struct output *out, const struct report *report)
{
	if (!report->contract.randomised && !report->contract.exact && !report_bias(report))
		output_add(out, "Unchecked: no clock was randomised, and one in step with the "
				"program makes "
				"any share wrong. As sampled: ");
}

static void first_words(struct output *out, const struct report *report)
{
	const struct estimate_interval *share = &ranked_share(report, &report->rows[0])->recording;

	row_name(out, report, &report->rows[0]);
	output_add(out, " takes ");
	if (share->supported)
		interval_words(out, share);
	else
		output_format(out, "about %.0f %%", 100 * share->share);
	output_add(out, report->ranked_by_total ? " with all that it calls" : "");
}

/* Rows so small that their order is nobody's concern. */
static bool is_rest(const struct report *report, size_t row)
{
	return ranked_share(report, &report->rows[row])->recording.share < REST_SHARE;
}

/* The highest upper bound of the rows from `from` on. */
static double rest_hi(const struct report *report, size_t from)
{
	double hi = 0;

	for (size_t i = from; i < report->n_rows; i++) {
		const struct estimate_interval *share =
			&ranked_share(report, &report->rows[i])->recording;

		hi = fmax(hi, share->supported ? share->hi : share->share);
	}
	return hi;
}

/* Of a top K whose order is open: is it known at least which they are? */
static void set_words(struct output *out, const struct report *report)
{
	const size_t k = report->top_k < report->n_rows ? report->top_k : report->n_rows;

	if (k < 2 || report->n_rows <= k)
		return;
	if (report->set_settled)
		output_format(out, "The set of the first %zu is settled, its order is not. ", k);
	else
		output_format(out, "The set of the first %zu is open. ", k);
}

static void open_words(struct output *out, const struct report *report, size_t settled)
{
	const size_t n = report_contending(report, settled);

	if (settled && is_rest(report, settled)) {
		const double hi = rest_hi(report, settled);

		output_format(out, "All others are below %g %% each", 100 * REST_SHARE);
		if (hi > REST_SHARE)
			output_format(out, " as sampled, at most %.1f %%", ceil(1000 * hi) / 10);
		output_add(out, "; their order is open. ");
		return;
	}
	if (!settled)
		output_add(out, "Which is first is open: ");
	names_list(out, report, settled, n);
	output_format(out, n > 1 ? " cannot be put in order" : " has no certain rank");
	output_add(out, report->settle.blocked_by_bias ? ". " : " yet. ");
	set_words(out, report);
}

static void order_words(struct output *out, const struct report *report)
{
	const size_t k = report->top_k < report->n_rows ? report->top_k : report->n_rows;
	const size_t settled = report_settled(report);

	if (settled || report->no_ranks)
		first_words(out, report);
	if (report->no_ranks) {
		output_format(out, "; the order could not be tested (%s). ", report->no_ranks);
		return;
	}
	if (settled >= k && k > 1)
		output_format(out, "; the first %zu and their order are settled. ", k);
	else if (settled > 1)
		output_format(out, "; the first %zu are settled. ", settled);
	else if (settled)
		output_add(out, report->n_rows > 1 ? " and is first. " : ". ");
	if (settled < k)
		open_words(out, report, settled);
}

static void settle_words(struct output *out, const struct report *report)
{
	const struct report_next *next = &report->next;
	char more[32], most[32];

	if (report->settle.blocked_by_bias || !next->k || is_rest(report, report_settled(report)))
		return;
	if (next->seconds > PATIENCE_S) {
		output_add(out, "They are too alike to be told apart in reasonable time. ");
		return;
	}
	output_format(out, "About %s more of recording at this rate would settle the first %zu",
		      digits_about(next->seconds * 1e9, more, sizeof(more)), next->k);
	if (next->max_seconds > next->seconds && next->max_seconds < PATIENCE_S)
		output_format(out, " (at most %s)",
			      digits_about(next->max_seconds * 1e9, most, sizeof(most)));
	output_add(out, ", if shares are as they look");
	if (next->pair.a && next->pair.b && next->k > 1) {
		output_add(out, "; ");
		row_name(out, report, next->pair.a);
		output_add(out, " against ");
		row_name(out, report, next->pair.b);
		output_add(out, " takes longest");
	}
	output_add(out, ". ");
}

static void workload_words(struct output *out, const struct report *report)
{
	size_t row = 0;
	const struct report_share *share;

	/* the first, or where that is open, what looks largest */
	if (!report_settled(report) && !report->no_ranks)
		largest(report, 0, report->n_rows, 1, &row);
	share = ranked_share(report, &report->rows[row]);
	if (share->workload.supported) {
		output_add(out, "For other runs of this workload expect ");
		row_name(out, report, &report->rows[row]);
		output_add(out, " at ");
		interval_words(out, &share->workload);
		output_add(out, ".");
	} else if (share->serial && !isnan(share->changes)) {
		output_format(out,
			      "This holds for this recording only: the program changed about %.0f "
			      "times while watched",
			      fmax(1, share->changes));
		if (!isnan(share->epochs_needed) && report->contract.epochs &&
		    report->contract.from_manifest)
			output_format(out,
				      "; record about %.2g times as long for a claim about "
				      "the workload",
				      fmax(1.1, share->epochs_needed / report->contract.epochs));
		output_add(out, ".");
	} else {
		output_format(out, "This holds for this recording only (%s).",
			      share->workload.why ? share->workload.why : "not tested");
	}
}

void verdict_write(struct report *report)
{
	struct output out;

	output_init(&out);
	if (!report->totals.samples) {
		no_samples(&out, report);
	} else if (report->too_few) {
		bias_words(&out, report);
		too_few(&out, report);
	} else {
		bias_words(&out, report);
		unchecked_words(&out, report);
		order_words(&out, report);
		settle_words(&out, report);
		workload_words(&out, report);
	}
	report->verdict = out.text ? report_text(report, "%s", out.text) : "";
	output_release(&out);
}
