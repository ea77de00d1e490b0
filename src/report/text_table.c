/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The table of rows.
 *
 *	  rank   self%  95% interval                           total%  interval   by       module     function
 *	     1   41.2   40.1-42.3      ====================[|-]  97.1   96.4-97.7  sampled  libfoo.so  parse
 *	/  2-4    8.0    7.2-8.9       ===[]                       ...
 *	|  2-4    7.9     7.1-8.8
 *	\  2-4    7.3     6.5-8.2
 *
 * Rows of one group (mutually unresolved) are bracketed. A line says where the examined rows end.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/bar.h"
#include "report/colour.h"
#include "report/digits.h"
#include "report/escape.h"
#include "report/text.h"

#define NAME_COLUMN_MAX \
	28 /* module and comm columns grow no wider; longer names push the line out */
#define NUMBER_TEXT 48

struct layout {
	const struct report *report;
	const struct text_options *options;
	size_t n_rows;      /* shown */
	double scale;       /* of the bars */
	int decimals;       /* the most of any shown row, in the ranked measure */
	int other_decimals; /* in the other one */
	size_t module_width, comm_width;
};

static const struct report_share *ranked(const struct report *report, const struct report_row *row)
{
	return report->ranked_by_total ? &row->total : &row->self;
}

/* Half of the interval in points, or what stands for it. */
static double half_width(const struct report *report, const struct report_share *share)
{
	if (share->recording.supported)
		return 50 * (share->recording.hi - share->recording.lo);
	return digits_fallback_half_width(share->recording.share, (double)report->totals.samples);
}

static bool row_shown(const struct layout *layout, const struct report_row *row)
{
	const double most = fmax(row->self.recording.share, row->total.recording.share);

	return 100 * most >= layout->options->percent_limit;
}

static size_t column_width(const char *name)
{
	struct output escaped;
	size_t columns;

	output_init(&escaped);
	columns = escape_for_terminal(&escaped, name ? name : "");
	output_release(&escaped);
	return columns < NAME_COLUMN_MAX ? columns : NAME_COLUMN_MAX;
}

static void layout_measure(struct layout *layout)
{
	const struct report *report = layout->report;
	size_t shown = 0;

	layout->module_width = strlen("module");
	layout->comm_width = strlen("comm");
	for (size_t i = 0; i < report->n_rows; i++) {
		const struct report_row *row = &report->rows[i];
		const struct report_share *share = ranked(report, row);
		const int decimals = digits_decimals(half_width(report, share));
		const size_t module = column_width(row->module), comm = column_width(row->comm);
		const struct report_share *second =
			report->ranked_by_total ? &row->self : &row->total;
		const int other = digits_decimals(half_width(report, second));
		double reach;

		if (!row_shown(layout, row))
			continue;
		if (layout->options->max_rows && shown == layout->options->max_rows)
			break;
		shown++;
		layout->n_rows = i + 1;
		reach = share->recording.supported ? share->recording.hi : share->recording.share;
		layout->scale = fmax(layout->scale, reach);
		layout->decimals = decimals > layout->decimals ? decimals : layout->decimals;
		layout->other_decimals =
			other > layout->other_decimals ? other : layout->other_decimals;
		layout->module_width =
			module > layout->module_width ? module : layout->module_width;
		layout->comm_width = comm > layout->comm_width ? comm : layout->comm_width;
	}
}

/* A name in a column of `width`, one blank after it. */
static void name_cell(struct output *output, const char *name, size_t width)
{
	const size_t columns = escape_for_terminal(output, name ? name : "");

	output_repeat(output, " ", columns < width ? width - columns + 1 : 1);
}

/* "41.2 " with room for `most` decimals, so that points stand below each other. */
static void number_cell(struct output *output, double percent, int decimals, int most)
{
	const int room = most ? most + 1 : 0, used = decimals ? decimals + 1 : 0;

	output_format(output, "%*.*f%*s", 3 + used, decimals, percent, room - used, "");
}

static void interval_cell(struct output *output, const struct estimate_interval *interval,
			  int decimals, int most)
{
	char text[NUMBER_TEXT] = "-";
	const int width = 2 * (3 + (most ? most + 1 : 0)) + 1;

	if (interval->supported)
		snprintf(text, sizeof(text), "%.*f-%.*f", decimals, 100 * interval->lo, decimals,
			 100 * interval->hi);
	output_format(output, "%-*s", width, text);
}

static void rank_cell(struct output *output, const struct report *report,
		      const struct report_row *row)
{
	char text[NUMBER_TEXT] = "-";

	if (!report->no_ranks && row->rank_lo && row->examined) {
		if (row->rank_lo == row->rank_hi)
			snprintf(text, sizeof(text), "%zu", row->rank_lo);
		else
			snprintf(text, sizeof(text), "%zu-%zu", row->rank_lo, row->rank_hi);
	}
	output_format(output, "%7s", text);
}

/* Is the next shown row in this direction one of the same group? */
static bool group_goes_on(const struct layout *layout, size_t i, bool down)
{
	const struct report_row *rows = layout->report->rows;
	const size_t group = rows[i].group;

	if (!group)
		return false;
	while (down ? ++i < layout->n_rows : i-- > 0)
		if (row_shown(layout, &rows[i]))
			return rows[i].group == group;
	return false;
}

static void bracket_cell(struct output *output, const struct layout *layout, size_t i)
{
	static const char *const glyphs[][2] = { { "/", "\u250c" },
						 { "|", "\u2502" },
						 { "\\", "\u2514" } };
	const struct report *report = layout->report;
	const bool above = group_goes_on(layout, i, false);
	const bool below = group_goes_on(layout, i, true);
	const char *glyph = " ";

	if ((above || below) && !report->no_ranks)
		glyph = glyphs[!above ? 0 : below ? 1 : 2][layout->options->unicode];
	output_add(output, glyph);
}

static void head_row(const struct layout *layout, struct output *output)
{
	const struct report *report = layout->report;
	const unsigned int by = report->by;
	const int room = layout->decimals ? layout->decimals + 1 : 0;
	const int interval = 2 * (3 + room) + 1;
	struct output head;

	output_init(&head);
	output_format(&head, "     rank  %*s  %-*s  %-*s  ", 3 + room,
		      report->ranked_by_total ? "total%" : "self%", interval,
		      report->too_few ? "" : "95% interval", BAR_WIDTH, "");
	if (layout->options->verbose)
		output_format(&head, "%-*s  ", interval, "workload");
	if (report->has_total) {
		const int other_room = layout->other_decimals ? layout->other_decimals + 1 : 0;

		output_format(&head, "%*s  %-*s  ", 3 + other_room,
			      report->ranked_by_total ? "self%" : "total%",
			      2 * (3 + other_room) + 1, report->too_few ? "" : "interval");
	}
	if (layout->options->samples)
		output_format(&head, "%9s  %9s  ", "samples", "effective");
	output_add(&head, "by       ");
	if (by & REPORT_BY_COMM)
		output_format(&head, "%-*s ", (int)layout->comm_width, "comm");
	if (by & REPORT_BY_PID)
		output_format(&head, "%7s ", "pid");
	if (by & REPORT_BY_TID)
		output_format(&head, "%7s ", "tid");
	if (by & REPORT_BY_CPU)
		output_format(&head, "%4s ", "cpu");
	if (by & (REPORT_BY_FUNCTION | REPORT_BY_MODULE))
		output_format(&head, "%-*s ", (int)layout->module_width, "module");
	if (by & REPORT_BY_FUNCTION)
		output_add(&head, by & REPORT_BY_STACK ? "stack, innermost first" : "function");
	if (by & REPORT_BY_LINE)
		output_add(&head, by & REPORT_BY_FUNCTION ? "  line" : "line");
	colour_on(output, layout->options->colour, COLOUR_DIM);
	output_add(output, head.text ? head.text : "");
	colour_off(output, layout->options->colour);
	output_add(output, "\n");
	output_release(&head);
}

static void key_cells(const struct layout *layout, const struct report_row *row,
		      struct output *output)
{
	const unsigned int by = layout->report->by;

	if (by & REPORT_BY_COMM)
		name_cell(output, row->comm, layout->comm_width);
	if (by & REPORT_BY_PID)
		output_format(output, "%7d ", (int)row->pid);
	if (by & REPORT_BY_TID)
		output_format(output, "%7d ", (int)row->tid);
	if (by & REPORT_BY_CPU)
		output_format(output, "%4d ", (int)row->cpu);
	if (by & (REPORT_BY_FUNCTION | REPORT_BY_MODULE))
		name_cell(output, row->module, layout->module_width);
	if (by & REPORT_BY_FUNCTION) {
		escape_for_terminal(output, row->name ? row->name : "");
		if (row->inlined)
			output_add(output, " (inlined)");
	}
	if (by & REPORT_BY_LINE) {
		output_add(output, by & REPORT_BY_FUNCTION ? "  " : "");
		escape_for_terminal(output, row->file ? row->file : "");
		if (row->line)
			output_format(output, ":%u", row->line);
	}
}

static void row_render(const struct layout *layout, size_t i, struct output *output)
{
	const struct report *report = layout->report;
	const struct report_row *row = &report->rows[i];
	const struct report_share *share = ranked(report, row);
	const struct report_share *other = report->ranked_by_total ? &row->self : &row->total;
	const struct estimate_interval *interval = &share->recording;
	const int decimals = digits_decimals(half_width(report, share));
	const bool biased = row->state == ESTIMATE_BIASED;

	bracket_cell(output, layout, i);
	output_add(output, " ");
	rank_cell(output, report, row);
	colour_on(output, layout->options->colour && biased, COLOUR_RED);
	output_add(output, biased ? "!" : " ");
	colour_off(output, layout->options->colour && biased);
	output_add(output, " ");
	number_cell(output, 100 * interval->share, decimals, layout->decimals);
	output_add(output, "  ");
	interval_cell(output, interval, decimals, layout->decimals);
	output_add(output, "  ");
	bar_draw(output, interval->supported ? interval->lo : 1, interval->share,
		 interval->supported ? interval->hi : 0, layout->scale, layout->options->unicode);
	output_add(output, "  ");
	if (layout->options->verbose) {
		interval_cell(output, &share->workload,
			      digits_decimals(50 * (share->workload.hi - share->workload.lo)),
			      layout->decimals);
		output_add(output, "  ");
	}
	if (report->has_total) {
		const int other_decimals = digits_decimals(half_width(report, other));

		number_cell(output, 100 * other->recording.share, other_decimals,
			    layout->other_decimals);
		output_add(output, "  ");
		interval_cell(output, &other->recording, other_decimals, layout->other_decimals);
		output_add(output, "  ");
	}
	if (layout->options->samples)
		output_format(output, "%9llu  %9.0f  ", (unsigned long long)share->samples,
			      share->effective_samples);
	output_format(output, "%-7.7s  ", report_provenance_name(row->provenance));
	key_cells(layout, row, output);
	output_add(output, "\n");
}

/* What is not printed, so that nobody takes the table for all. */
static void rest_render(const struct layout *layout, struct output *output)
{
	const struct report *report = layout->report;
	double self = 0, total = 0;
	size_t rest = 0;
	char text[32];

	for (size_t i = 0; i < report->n_rows; i++) {
		const struct report_row *row = &report->rows[i];

		if (i < layout->n_rows && row_shown(layout, row))
			continue;
		rest++;
		self += row->self.recording.share;
		total = fmax(total, row->total.recording.share);
	}
	if (!rest)
		return;
	output_format(output, "  %zu more row%s with together %s %% of the samples", rest,
		      rest == 1 ? "" : "s", digits_short(100 * self, text, sizeof(text)));
	output_add(output, " (all: --rows 0 --percent-limit 0)\n");
}

static bool biased_shown(const struct layout *layout)
{
	for (size_t i = 0; i < layout->n_rows; i++)
		if (row_shown(layout, &layout->report->rows[i]) &&
		    layout->report->rows[i].state == ESTIMATE_BIASED)
			return true;
	return false;
}

void text_table(const struct report *report, const struct text_options *options,
		struct output *output)
{
	struct layout layout = { .report = report, .options = options };
	bool examined = true;

	if (!report->totals.samples) {
		output_add(output, "  (no samples, no table)\n");
		return;
	}
	layout_measure(&layout);
	head_row(&layout, output);
	for (size_t i = 0; i < layout.n_rows; i++) {
		if (!row_shown(&layout, &report->rows[i]))
			continue;
		if (examined && !report->rows[i].examined && !report->no_ranks) {
			examined = false;
			if (i)
				output_add(output, "  ---- order below here not examined ----\n");
		}
		row_render(&layout, i, output);
	}
	if (biased_shown(&layout))
		output_add(output, "  ! biased, see the findings above\n");
	rest_render(&layout, output);
}
