/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/words.h"

#include <math.h>
#include <string.h>

#include "diff/judge.h"
#include "report/digits.h"
#include "report/output.h"

#define CHANGES_TOLD 3

static const struct report_row *row_any(const struct diff_row *row)
{
	return row->rows[0] ? row->rows[0] : row->rows[1];
}

const char *diff_row_name(const struct diff_row *row)
{
	const char *name = row_any(row)->name;

	return name ? name : "[unknown]";
}

const char *diff_row_module(const struct diff_row *row)
{
	const char *module = row_any(row)->module;

	return module ? module : "";
}

static void row_words(struct output *out, const struct diff_row *row)
{
	const struct estimate_change *change = &row->change;
	const int decimals = digits_decimals(50 * (change->hi - change->lo));

	output_format(out, "%s takes %.*f %% where it took %.*f %% (%+.*f to %+.*f points)",
		      diff_row_name(row), decimals, 100 * row->share[1], decimals,
		      100 * row->share[0], decimals, 100 * change->lo, decimals, 100 * change->hi);
}

static void changed_words(struct output *out, const struct diff *diff)
{
	size_t n = 0;

	while (n < diff->n &&
	       (diff->rows[n].verdict == DIFF_MORE || diff->rows[n].verdict == DIFF_LESS))
		n++;
	output_add(out, "The workload changed: ");
	for (size_t i = 0; i < n && i < CHANGES_TOLD; i++) {
		output_add(out, i ? "; " : "");
		row_words(out, &diff->rows[i]);
	}
	if (n > CHANGES_TOLD)
		output_format(out, "; %zu more", n - CHANGES_TOLD);
	output_add(out, ". Shares are parts of a whole: when one grows, others shrink.");
}

static void load_words(struct output *out, const struct diff_load *load)
{
	char before[32], after[32];

	output_format(
		out,
		", and other programs could make that alone: they were at work beside %s, and the "
		"kernel has %s %% of B where it had %s %% of A.",
		load->beside[0] && load->beside[1] ? "both"
		: load->beside[0]                  ? "A"
						   : "B",
		digits_short(100 * load->kernel[1], after, sizeof(after)),
		digits_short(100 * load->kernel[0], before, sizeof(before)));
}

static void measurement_words(struct output *out, const struct diff *diff)
{
	const struct diff_row *row = diff->rows;
	const struct finding *cause;
	char points[32];
	int side = 0;

	if (diff->locked[0] || diff->locked[1]) {
		output_format(out,
			      "The measurement differs: the clock of %s ran in step with the "
			      "program, so its shares say nothing about a change.",
			      diff->locked[0] && diff->locked[1] ? "both"
			      : diff->locked[0]                  ? "A"
								 : "B");
		if (row->change.differs) {
			output_add(out, " ");
			row_words(out, row);
			output_add(out, ".");
		}
		return;
	}
	cause = diff_cause(diff, row, &side);
	output_format(out, "The measurement differs: ");
	row_words(out, row);
	if (row->load_bias > 0 && diff_least(&row->change) > row->bias - row->load_bias)
		load_words(out, &diff->load);
	else if (cause && row->bias <= 1)
		output_format(out,
			      ", and %s (%s) could make that alone, by up to %s points with all "
			      "that is known of both.",
			      side ? "B" : "A", cause->code,
			      digits_points(row->bias, points, sizeof(points)));
	else
		output_format(out, ", and %s%s%s could make that alone.", side ? "B" : "A",
			      cause ? ": " : "", cause ? cause->code : "");
}

static void unresolved_words(struct output *out, const struct diff *diff)
{
	char points[32];

	if (diff->n_differing) {
		output_add(out, "Not distinguishable: ");
		row_words(out, &diff->rows[0]);
		output_format(out, ", beyond chance, but this cannot be called a change: %s",
			      diff->mismatches.items[0].text);
		return;
	}
	if (findings_worst(&diff->mismatches) == FINDING_BIAS) {
		output_format(
			out,
			"Not distinguishable: no share differs beyond chance, but they are not "
			"comparable: %s",
			diff->mismatches.items[0].text);
		return;
	}
	output_format(out,
		      "Not distinguishable: no share differs beyond chance, but changes of up to "
		      "%s points could hide; record both longer to see smaller ones.",
		      digits_points(diff->bound, points, sizeof(points)));
}

static void same_words(struct output *out, const struct diff *diff)
{
	char points[32];

	if (diff->same_recording)
		output_add(out, "The same: A and B are one recording.");
	else
		output_format(
			out,
			"The same: no function's share moved by more than %s points, and none "
			"differs beyond chance.",
			digits_points(diff->bound, points, sizeof(points)));
}

enum status diff_words(struct diff *diff, struct error *error)
{
	struct output out;
	uint32_t index;
	enum status status;

	output_init(&out);
	switch (diff->state) {
	case DIFF_STATE_CHANGED: changed_words(&out, diff); break;
	case DIFF_STATE_MEASUREMENT: measurement_words(&out, diff); break;
	case DIFF_STATE_UNRESOLVED: unresolved_words(&out, diff); break;
	case DIFF_STATE_SAME: same_words(&out, diff); break;
	}
	status = output_check(&out, error);
	if (status == STATUS_OK) {
		index = strings_add(&diff->strings, out.text);
		if (index == STRINGS_NONE)
			status = error_set(error, STATUS_NO_MEMORY, "no memory for the verdict");
		else
			diff->verdict = strings_get(&diff->strings, index);
	}
	output_release(&out);
	return status;
}
