/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 *	    A%     B%   change   95% interval           verdict      module   function
 *	  70.1   29.8   -40.3    -44.6 to -36.0         less         t01      seventy
 *
 * The intervals hold for all functions at once. No number shows more digits than its interval justifies.
 */
#include "diff/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "diff/words.h"
#include "report/colour.h"
#include "report/digits.h"
#include "report/escape.h"

#define LABEL_WIDTH   10
#define DEFAULT_WIDTH 100
#define NUMBER_TEXT   48
#define MODULE_WIDTH  20
#define COMMAND_WORDS 12

static size_t width_of(const struct text_options *options)
{
	return options->width ? options->width : DEFAULT_WIDTH;
}

static void line(struct output *output, const struct text_options *options, const char *label,
		 const char *colour, const char *prose)
{
	colour_on(output, options->colour, colour);
	output_format(output, "  %-*s", LABEL_WIDTH, label);
	colour_off(output, options->colour);
	text_wrap(output, prose, 2 + LABEL_WIDTH, 2 + LABEL_WIDTH, width_of(options));
	output_add(output, "\n");
}

static void side_line(const struct diff *diff, int side, const struct text_options *options,
		      struct output *output)
{
	const struct report *report = diff->sides[side].report;
	struct output prose;
	char cpu[32];

	output_init(&prose);
	output_format(&prose, "%s: %llu samples of %s", report->bundle,
		      (unsigned long long)report->totals.samples, report->contract.event);
	if (report->totals.cpu_ns > 0)
		output_format(&prose, ", %s of CPU time",
			      digits_duration(report->totals.cpu_ns, cpu, sizeof(cpu)));
	output_format(&prose, ", %s clock", report->contract.kind);
	if (report->n_command)
		output_add(&prose, ":");
	for (size_t i = 0; i < report->n_command && i < COMMAND_WORDS; i++)
		output_format(&prose, " %s", report->command[i]);
	line(output, options, side ? "B" : "A", COLOUR_DIM, prose.text ? prose.text : "");
	output_release(&prose);
}

static const char *severity_colour(enum finding_severity severity)
{
	return severity == FINDING_BIAS      ? COLOUR_RED
	       : severity == FINDING_WARNING ? COLOUR_YELLOW
					     : COLOUR_DIM;
}

static void mismatch_lines(const struct diff *diff, const struct text_options *options,
			   struct output *output)
{
	for (size_t i = 0; i < diff->mismatches.n; i++) {
		const struct finding *finding = &diff->mismatches.items[i];
		const char *word = finding->severity == FINDING_BIAS
					   ? "incomparable"
					   : finding_severity_name(finding->severity);

		output_add(output, "  ");
		colour_on(output, options->colour, severity_colour(finding->severity));
		output_add(output, word);
		colour_off(output, options->colour);
		output_format(output, " %s: ", finding->code);
		text_wrap(output, finding->text, strlen(word) + strlen(finding->code) + 5, 4,
			  width_of(options));
		output_add(output, "\n");
		if (!finding->next || !*finding->next)
			continue;
		output_add(output, "    -> ");
		text_wrap(output, finding->next, 7, 7, width_of(options));
		output_add(output, "\n");
	}
	if (diff->mismatches.n)
		output_add(output, "\n");
}

static void share_cell(struct output *output, const struct diff_row *row, int side, int decimals)
{
	if (row->rows[side])
		output_format(output, "%7.*f", decimals, 100 * row->share[side]);
	else
		output_format(output, "%7s", "-");
}

static const char *verdict_colour(enum diff_verdict verdict)
{
	return verdict == DIFF_MORE          ? COLOUR_RED
	       : verdict == DIFF_MEASUREMENT ? COLOUR_YELLOW
	       : verdict == DIFF_LESS        ? COLOUR_BOLD
					     : COLOUR_DIM;
}

static void row_line(const struct diff_row *row, const struct text_options *options,
		     struct output *output)
{
	const struct estimate_change *change = &row->change;
	const int decimals = digits_decimals(50 * (change->hi - change->lo));
	char interval[NUMBER_TEXT];
	size_t columns;

	share_cell(output, row, 0, decimals);
	share_cell(output, row, 1, decimals);
	snprintf(interval, sizeof(interval), "%+.*f to %+.*f", decimals, 100 * change->lo, decimals,
		 100 * change->hi);
	output_format(output, "  %+7.*f   %-18s ", decimals, 100 * change->difference, interval);
	colour_on(output, options->colour, verdict_colour(row->verdict));
	output_format(output, "%-11s", diff_verdict_name(row->verdict));
	colour_off(output, options->colour);
	output_add(output, "  ");
	columns = escape_for_terminal(output, diff_row_module(row));
	output_repeat(output, " ", columns < MODULE_WIDTH ? MODULE_WIDTH - columns + 1 : 1);
	escape_for_terminal(output, diff_row_name(row));
	output_add(output, "\n");
}

static bool row_shown(const struct diff_row *row, const struct text_options *options)
{
	return row->change.differs ||
	       100 * fmax(row->share[0], row->share[1]) >= options->percent_limit;
}

static void table(const struct diff *diff, const struct text_options *options,
		  struct output *output)
{
	size_t shown = 0, left_out = 0;

	colour_on(output, options->colour, COLOUR_DIM);
	output_format(output, "%7s%7s  %7s   %-18s %-11s  %-*s %s", "A%", "B%", "change",
		      "95% of all at once", "verdict", MODULE_WIDTH, "module", "function");
	colour_off(output, options->colour);
	output_add(output, "\n");
	for (size_t i = 0; i < diff->n; i++) {
		if (!row_shown(&diff->rows[i], options) ||
		    (options->max_rows && shown == options->max_rows)) {
			left_out++;
			continue;
		}
		row_line(&diff->rows[i], options, output);
		shown++;
	}
	if (left_out)
		output_format(output, "  %zu more (all: --rows 0 --percent-limit 0)\n", left_out);
}

void diff_text(const struct diff *diff, const struct text_options *options, struct output *output)
{
	if (!options->quiet) {
		line(output, options, "verdict",
		     diff->state == DIFF_STATE_MEASUREMENT ? COLOUR_RED : COLOUR_BOLD,
		     diff->verdict);
		side_line(diff, 0, options, output);
		side_line(diff, 1, options, output);
		output_add(output, "\n");
		mismatch_lines(diff, options, output);
	}
	table(diff, options, output);
}
