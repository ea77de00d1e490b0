/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * assay report: bundle or perf.data -> ranked table with uncertainty.
 */
#include <stdio.h>

#include "cli/analysis.h"
#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/page.h"
#include "cli/report_options.h"
#include "report/json.h"
#include "report/text.h"

/* Samples whose times are folded by the diagnosis that belongs to every report. */
#define SAMPLES_FOLDED 32768

static unsigned int tags_of(unsigned int by)
{
	return (by & REPORT_BY_COMM ? TAG_COMM : 0) | (by & REPORT_BY_PID ? TAG_PID : 0) |
	       (by & REPORT_BY_TID ? TAG_TID : 0) | (by & REPORT_BY_CPU ? TAG_CPU : 0);
}

static unsigned int subjects_by(unsigned int by)
{
	return (by & REPORT_BY_FUNCTION ? SUBJECT_FUNCTION : 0) |
	       (by & REPORT_BY_MODULE ? SUBJECT_MODULE : 0) |
	       (by & REPORT_BY_LINE ? SUBJECT_LINE : 0) |
	       (by & REPORT_BY_STACK ? SUBJECT_STACK : 0);
}

static enum status recording_analyse(struct analysis *analysis, struct report_cli *cli,
				     struct error *error)
{
	struct analysis_options options = {
		.session = reading_session(&cli->reading, cli->path),
		.report = { .by = cli->by,
			    .rank_by_total = cli->rank_by_total,
			    .top_k = cli->top_k },
		.subjects = subjects_by(cli->by),
		.totals = cli->totals,
		/* The table alone needs no findings. */
		.diagnose = cli->reading.json || !cli->quiet,
		.samples_folded = SAMPLES_FOLDED,
	};

	options.session.inlines = cli->inlines || (cli->by & REPORT_BY_LINE);
	options.session.demangle = cli->demangle;
	options.session.tags = tags_of(cli->by);
	return analysis_make(analysis, sys_real(), &options, error);
}

static enum status report_write(const struct analysis *analysis, const struct report_cli *cli,
				struct error *error)
{
	const struct json_options json = { .percent_limit = cli->percent_limit };
	const struct text_options text = { .colour = page_wants_colour(cli->reading.colour),
					   .unicode = page_is_unicode(),
					   .verbose = cli->reading.verbose,
					   .samples = cli->samples,
					   .quiet = cli->quiet,
					   .max_rows = cli->max_rows,
					   .percent_limit = cli->percent_limit,
					   .width = page_width(sys_real()) };
	struct output output;
	enum status status;

	output_init(&output);
	if (cli->reading.json) {
		status = report_json(&analysis->report, &json, &output, error);
	} else {
		report_text_render(&analysis->report, &text, &output);
		status = output_check(&output, error);
	}
	if (status == STATUS_OK)
		status = page_write(sys_real(), output.text, output.size,
				    cli->reading.pager && !cli->reading.json, error);
	output_release(&output);
	return status;
}

int cmd_report(int argc, char **argv)
{
	struct analysis analysis = { 0 };
	struct report_cli cli;
	struct error error = { 0 };
	enum status status;

	status = report_cli_parse(&cli, argc, argv, &error);
	if (status == STATUS_OK && cli.reading.help) {
		fputs(report_cli_help, stdout);
		report_cli_release(&cli);
		return EXIT_DONE;
	}
	if (status == STATUS_OK)
		status = recording_analyse(&analysis, &cli, &error);
	if (status == STATUS_OK)
		status = report_write(&analysis, &cli, &error);
	if (status != STATUS_OK)
		fprintf(stderr, "assay report: %s\n", error.text);
	analysis_release(&analysis);
	report_cli_release(&cli);
	return exit_code_of(status);
}
