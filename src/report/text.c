/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/colour.h"
#include "report/contract_text.h"
#include "report/digits.h"
#include "report/escape.h"

#define LABEL_WIDTH   10
#define DEFAULT_WIDTH 100
#define COMMAND_WORDS 12 /* longer command lines end in "..." */

void text_wrap(struct output *output, const char *prose, size_t used, size_t indent, size_t width)
{
	bool line_start = true;

	while (*prose) {
		const size_t length = strcspn(prose, " ");
		struct output word;
		size_t columns;

		output_init(&word);
		output_add_n(&word, prose, length);
		prose += length;
		while (*prose == ' ')
			prose++;
		if (length) {
			struct output safe;

			output_init(&safe);
			columns = escape_for_terminal(&safe, word.text);
			if (!line_start && used + 1 + columns > width) {
				output_add(output, "\n");
				output_repeat(output, " ", indent);
				used = indent;
				line_start = true;
			}
			if (!line_start) {
				output_add(output, " ");
				used++;
			}
			output_add_n(output, safe.text, safe.size);
			used += columns;
			line_start = false;
			output_release(&safe);
		}
		output_release(&word);
	}
}

static size_t width_of(const struct text_options *options)
{
	return options->width ? options->width : DEFAULT_WIDTH;
}

static void line(struct output *output, const struct text_options *options, const char *label,
		 const struct output *prose)
{
	colour_on(output, options->colour, COLOUR_DIM);
	output_format(output, "  %-*s", LABEL_WIDTH, label);
	colour_off(output, options->colour);
	text_wrap(output, prose->text ? prose->text : "", 2 + LABEL_WIDTH, 2 + LABEL_WIDTH,
		  width_of(options));
	output_add(output, "\n");
}

static void measured_line(const struct report *report, struct output *out)
{
	const struct report_totals *totals = &report->totals;
	char time[32], share[32];

	output_format(out, "%llu samples of %s in %s", (unsigned long long)totals->samples,
		      report->contract.event,
		      digits_duration((double)totals->duration_ns, time, sizeof(time)));
	if (totals->cpu_ns > 0)
		output_format(out, ", %s of CPU time",
			      digits_duration(totals->cpu_ns, time, sizeof(time)));
	if (report->filtered)
		output_format(out,
			      "; the filter left out %llu others, shares are of the selected ones",
			      (unsigned long long)totals->filtered);
	if (totals->canary_samples)
		output_format(out, "; %llu of a canary",
			      (unsigned long long)totals->canary_samples);
	if (totals->lost)
		output_format(out, "; %llu LOST (%s %%)", (unsigned long long)totals->lost,
			      digits_short(100 * totals->lost_share, share, sizeof(share)));
	else
		output_add(out, "; none lost");
	if (report->contract.epochs > 1)
		output_format(out, "; %u epochs", report->contract.epochs);
}

static void clocks_line(const struct report *report, struct output *out)
{
	if (report->contract.exact) {
		output_add(out, "none: every occurrence of the event is a sample");
		return;
	}
	contract_clocks_text(report, out);
}

static void cost_line(const struct report *report, struct output *out)
{
	const struct report_contract *contract = &report->contract;
	char achieved[32], budget[32];

	output_format(out, "%s %% of the program's CPU time",
		      digits_short(100 * contract->achieved, achieved, sizeof(achieved)));
	if (contract->budget > 0)
		output_format(out, " (budget %s %%)",
			      digits_short(100 * contract->budget, budget, sizeof(budget)));
}

static void scope_line(const struct report *report, struct output *out)
{
	const struct report_contract *contract = &report->contract;

	output_add(out, contract->scope ? contract->scope : "as perf recorded it");
	if (contract->scope_why)
		output_format(out, " (%s)", contract->scope_why);
	output_add(out, contract->kernel ? "; user and kernel code" : "; user code only");
	if (contract->stacks)
		output_format(out, "; stacks %s", contract->stacks);
	else
		output_add(out, "; no stacks");
}

/* A stop that the data chose is told, with what it means for the numbers (docs/estimates.md, section 6). */
static void ended_line(const struct report *report, struct output *out)
{
	const struct report_contract *contract = &report->contract;

	if (!contract->until)
		return;
	if (!contract->settled) {
		output_format(out,
			      "by something else than --until %s, which was still open: no number "
			      "here depends on the %llu looks that were taken",
			      contract->until, (unsigned long long)contract->looks);
		return;
	}
	output_format(out,
		      "by the data: --until %s, after %llu look%s: %s. A claim made this way is "
		      "wrong in at most 5 %% of recordings, however often one looks; the intervals "
		      "below hold as if the length had been fixed beforehand",
		      contract->until, (unsigned long long)contract->looks,
		      contract->looks == 1 ? "" : "s", contract->settled);
}

static void command_line(const struct report *report, struct output *out)
{
	for (size_t i = 0; i < report->n_command && i < COMMAND_WORDS; i++)
		output_format(out, "%s%s", i ? " " : "", report->command[i]);
	if (report->n_command > COMMAND_WORDS)
		output_add(out, " ...");
}

static void events_line(const struct report *report, struct output *out)
{
	bool any = false;

	for (size_t i = 0; i < report->n_events; i++) {
		if (report->events[i].shown || !report->events[i].samples)
			continue;
		output_format(out, "%s%s (%llu samples)", any ? ", " : "", report->events[i].name,
			      (unsigned long long)report->events[i].samples);
		any = true;
	}
	if (any)
		output_add(out, "; choose with -e");
}

typedef void (*line_writer)(const struct report *report, struct output *out);

static void head_line(const struct report *report, const struct text_options *options,
		      struct output *output, const char *label, line_writer writer)
{
	struct output prose;

	output_init(&prose);
	writer(report, &prose);
	if (prose.size)
		line(output, options, label, &prose);
	output_release(&prose);
}

static void verdict_line(const struct report *report, struct output *out)
{
	output_add(out, report->verdict);
}

static void assumes_line(const struct report *report, struct output *out)
{
	if (report->assumes && !report->too_few)
		output_format(out, "95 %% intervals; they assume: %s", report->assumes);
}

static const char *state_colour(enum estimate_state state)
{
	return state == ESTIMATE_BIASED ? COLOUR_RED : COLOUR_BOLD;
}

void text_head(const struct report *report, const struct text_options *options,
	       struct output *output)
{
	colour_on(output, options->colour, COLOUR_BOLD);
	escape_for_terminal(output, report->bundle);
	colour_off(output, options->colour);
	if (report->contract.recorder)
		output_format(output, " (%s)", report->contract.recorder);
	output_add(output, "\n");
	colour_on(output, options->colour, state_colour(report->state));
	output_format(output, "  %-*s", LABEL_WIDTH, "verdict");
	colour_off(output, options->colour);
	{
		struct output prose;

		output_init(&prose);
		verdict_line(report, &prose);
		text_wrap(output, prose.text ? prose.text : "", 2 + LABEL_WIDTH, 2 + LABEL_WIDTH,
			  width_of(options));
		output_add(output, "\n");
		output_release(&prose);
	}
	head_line(report, options, output, "command", command_line);
	head_line(report, options, output, "measured", measured_line);
	head_line(report, options, output, "ended", ended_line);
	head_line(report, options, output, "clocks", clocks_line);
	if (isfinite(report->contract.rate_hz))
		head_line(report, options, output, "rate", contract_rate_text);
	if (isfinite(report->contract.achieved))
		head_line(report, options, output, "cost", cost_line);
	head_line(report, options, output, "scope", scope_line);
	head_line(report, options, output, "assumed", assumes_line);
	head_line(report, options, output, "also", events_line);
}

static const char *severity_colour(enum finding_severity severity)
{
	return severity == FINDING_BIAS      ? COLOUR_RED
	       : severity == FINDING_WARNING ? COLOUR_YELLOW
					     : COLOUR_DIM;
}

static void finding_render(const struct finding *finding, const struct text_options *options,
			   struct output *output)
{
	size_t used = strlen(finding_severity_name(finding->severity)) + strlen(finding->code) + 5;

	output_add(output, "  ");
	colour_on(output, options->colour, severity_colour(finding->severity));
	output_add(output, finding_severity_name(finding->severity));
	colour_off(output, options->colour);
	output_add(output, " ");
	escape_for_terminal(output, finding->code);
	output_add(output, ": ");
	text_wrap(output, finding->text, used, 4, width_of(options));
	output_add(output, "\n");
	if (finding->next && *finding->next) {
		output_add(output, "    -> ");
		text_wrap(output, finding->next, 7, 7, width_of(options));
		output_add(output, "\n");
	}
}

/* What is only worth knowing is told with -v, else counted. */
void text_findings(const struct report *report, const struct text_options *options,
		   struct output *output)
{
	const struct findings *findings = &report->findings;
	size_t held_back = 0;

	if (!findings->n)
		return;
	output_add(output, "\n");
	for (size_t i = 0; i < findings->n; i++) {
		if (findings->items[i].severity == FINDING_INFO && !options->verbose) {
			held_back++;
			continue;
		}
		finding_render(&findings->items[i], options, output);
	}
	if (held_back)
		output_format(output, "  (%zu finding%s worth knowing only: -v)\n", held_back,
			      held_back == 1 ? "" : "s");
	if (findings->left_out)
		output_format(output, "  (%zu findings more than are kept)\n", findings->left_out);
}

void report_text_render(const struct report *report, const struct text_options *options,
			struct output *output)
{
	if (!options->quiet) {
		text_head(report, options, output);
		text_findings(report, options, output);
		output_add(output, "\n");
	}
	text_table(report, options, output);
}
