/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A diagnosis for the terminal: answers, findings, clocks. See diagnosis.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "diagnose/conduct.h"
#include "diagnose/finding_code.h"
#include "report/colour.h"
#include "report/diagnosis.h"
#include "report/digits.h"
#include "report/escape.h"

#define DEFAULT_WIDTH  100
#define LABEL_WIDTH    22
#define FUNCTIONS_TOLD 6

static size_t width_of(const struct text_options *options)
{
	return options->width ? options->width : DEFAULT_WIDTH;
}

static void answer_line(struct output *output, const struct text_options *options, int number,
			const char *label, const char *answer)
{
	output_format(output, "%d ", number);
	colour_on(output, options->colour, COLOUR_DIM);
	output_format(output, "%-*s", LABEL_WIDTH, label);
	colour_off(output, options->colour);
	text_wrap(output, answer ? answer : "", LABEL_WIDTH + 2, LABEL_WIDTH + 2,
		  width_of(options));
	output_add(output, "\n");
}

static void counts_of(const struct findings *findings, size_t counts[3])
{
	for (size_t i = 0; i < findings->n; i++)
		counts[findings->items[i].severity]++;
}

/* One sentence: may these shares be trusted? */
static void verdict_line(const struct diagnosis_view *view, const struct text_options *options,
			 struct output *output)
{
	size_t counts[3] = { 0 };
	struct output prose;

	counts_of(view->findings, counts);
	output_init(&prose);
	if (!view->diagnosis->matrix.samples)
		output_add(&prose,
			   "There are no samples: nothing can be trusted and nothing distrusted.");
	else if (counts[FINDING_BIAS])
		output_format(&prose,
			      "Not to be trusted as it stands: %zu finding%s of bias, which no "
			      "further sample "
			      "mends.",
			      counts[FINDING_BIAS], counts[FINDING_BIAS] == 1 ? "" : "s");
	else if (counts[FINDING_WARNING])
		output_format(&prose,
			      "No sign of bias in these shares%s; %zu warning%s to read first.",
			      findings_find(view->findings, CODE_ALIAS_UNCHECKED)
				      ? ", but a clock in step with the program would show none"
				      : "",
			      counts[FINDING_WARNING], counts[FINDING_WARNING] == 1 ? "" : "s");
	else
		output_add(&prose, "Nothing speaks against these shares.");
	output_add(output, "\n");
	colour_on(output, options->colour, counts[FINDING_BIAS] ? COLOUR_RED : COLOUR_BOLD);
	text_wrap(output, prose.text ? prose.text : "", 0, 0, width_of(options));
	colour_off(output, options->colour);
	output_add(output, "\n");
	output_release(&prose);
}

static const char *severity_colour(enum finding_severity severity)
{
	return severity == FINDING_BIAS      ? COLOUR_RED
	       : severity == FINDING_WARNING ? COLOUR_YELLOW
					     : COLOUR_DIM;
}

/* Half a point and more is told in points, less is no error that anybody sees. */
static void error_words(struct output *prose, double error_hi, bool elsewhere)
{
	if (isnan(error_hi))
		return;
	output_format(prose, " (%s by up to %.2g points)", elsewhere ? "there off" : "off",
		      100 * error_hi);
}

static void functions_line(struct output *output, const struct finding *finding,
			   const struct text_options *options)
{
	struct output prose;

	if (!finding->n_functions && !finding->every_function)
		return;
	output_init(&prose);
	if (finding->every_function) {
		output_add(&prose, "every function");
		error_words(&prose, finding->error_hi, finding->elsewhere);
	}
	for (size_t i = 0; i < finding->n_functions && i < FUNCTIONS_TOLD; i++) {
		output_add(&prose, i || finding->every_function ? ", " : "");
		output_add(&prose, finding->functions[i].name);
		error_words(&prose, finding->functions[i].error_hi, finding->elsewhere);
	}
	if (finding->n_functions + finding->functions_left_out > FUNCTIONS_TOLD)
		output_format(&prose, " and %zu more",
			      finding->n_functions + finding->functions_left_out - FUNCTIONS_TOLD);
	output_add(output, "    touches ");
	text_wrap(output, prose.text ? prose.text : "", 12, 12, width_of(options));
	output_add(output, "\n");
	output_release(&prose);
}

static void evidence_lines(struct output *output, const struct finding *finding)
{
	for (size_t i = 0; i < finding->n_evidence; i++) {
		const struct finding_evidence *evidence = &finding->evidence[i];

		output_format(output, "      %s: ", evidence->key);
		if (evidence->text)
			escape_for_terminal(output, evidence->text);
		else if (isnan(evidence->number))
			output_add(output, "unknown");
		else
			output_format(output, "%.6g", evidence->number);
		output_add(output, "\n");
	}
}

static void finding_lines(struct output *output, const struct finding *finding,
			  const struct text_options *options)
{
	const char *severity = finding_severity_name(finding->severity);
	const size_t used = strlen(severity) + strlen(finding->code) + 3;

	colour_on(output, options->colour, severity_colour(finding->severity));
	output_add(output, severity);
	colour_off(output, options->colour);
	output_add(output, " ");
	escape_for_terminal(output, finding->code);
	output_add(output, ": ");
	text_wrap(output, finding->text, used, 4, width_of(options));
	output_add(output, "\n");
	functions_line(output, finding, options);
	if (finding->next && *finding->next) {
		output_add(output, "    -> ");
		text_wrap(output, finding->next, 7, 7, width_of(options));
		output_add(output, "\n");
	}
	if (options->verbose)
		evidence_lines(output, finding);
}

static void title_line(const struct diagnosis_view *view, const struct text_options *options,
		       struct output *output)
{
	struct output prose;

	output_init(&prose);
	output_format(&prose, "%s", view->bundle ? view->bundle : "");
	for (size_t i = 0; i < view->n_command && i < 12; i++)
		output_format(&prose, "%s%s", i ? " " : ": ", view->command[i]);
	text_wrap(output, prose.text ? prose.text : "", 0, 0, width_of(options));
	output_add(output, "\n");
	output_release(&prose);
}

void diagnosis_text(const struct diagnosis_view *view, const struct text_options *options,
		    struct output *output)
{
	const struct diagnosis_answers *answers = &view->diagnosis->answers;

	/* the five lines come first, so that nothing need be searched for */
	answer_line(output, options, 1, "intervals drawn from", answers->intervals_drawn);
	answer_line(output, options, 2, "intervals realised", answers->intervals_realised);
	answer_line(output, options, 3, "retuned, lost", answers->retuned_or_throttled);
	answer_line(output, options, 4, "phase", answers->phase);
	answer_line(output, options, 5, "other clocks", answers->independent_schedules);
	verdict_line(view, options, output);
	title_line(view, options, output);
	if (view->findings->n)
		output_add(output, "\n");
	for (size_t i = 0; i < view->findings->n; i++)
		finding_lines(output, &view->findings->items[i], options);
	if (view->findings->left_out)
		output_format(output, "(%zu findings more than are kept)\n",
			      view->findings->left_out);
}
