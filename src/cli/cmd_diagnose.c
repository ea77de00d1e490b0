/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * assay diagnose: can this measurement be trusted, and why not?
 */
#include <stdio.h>

#include "cli/analysis.h"
#include "cli/commands.h"
#include "cli/diagnose_options.h"
#include "cli/exit_code.h"
#include "cli/page.h"
#include "report/diagnosis.h"

/* Samples whose times are folded at most: beyond this a test only gets slower. */
#define SAMPLES_FOLDED 262144

static enum status recording_analyse(struct analysis *analysis, struct diagnose_cli *cli,
				     struct error *error)
{
	const struct analysis_options options = {
		.session = reading_session(&cli->reading, cli->path),
		.report = { .by = REPORT_BY_FUNCTION | REPORT_BY_MODULE },
		.subjects = SUBJECT_FUNCTION,
		.totals = true,
		.diagnose = true,
		.answers = true,
		.samples_folded = SAMPLES_FOLDED,
	};

	return analysis_make(analysis, sys_real(), &options, error);
}

static enum status diagnosis_write(const struct analysis *analysis, const struct diagnose_cli *cli,
				   struct error *error)
{
	const struct diagnosis_view view = { .bundle = analysis->report.bundle,
					     .command = analysis->report.command,
					     .n_command = analysis->report.n_command,
					     .diagnosis = &analysis->diagnosis,
					     .findings = &analysis->report.findings };
	const struct text_options text = { .colour = page_wants_colour(cli->reading.colour),
					   .unicode = page_is_unicode(),
					   .verbose = cli->reading.verbose,
					   .width = page_width(sys_real()) };
	struct output output;
	enum status status;

	output_init(&output);
	if (cli->reading.json) {
		status = diagnosis_json(&view, &output, error);
	} else {
		diagnosis_text(&view, &text, &output);
		if (cli->plot)
			diagnosis_plot(&view, &text, &output);
		status = output_check(&output, error);
	}
	if (status == STATUS_OK)
		status = page_write(sys_real(), output.text, output.size,
				    cli->reading.pager && !cli->reading.json, error);
	output_release(&output);
	return status;
}

int cmd_diagnose(int argc, char **argv)
{
	struct analysis analysis = { 0 };
	struct diagnose_cli cli;
	struct error error = { 0 };
	bool gate = true;
	enum status status = diagnose_cli_parse(&cli, argc, argv, &error);

	if (status == STATUS_OK && cli.reading.help) {
		fputs(diagnose_cli_help, stdout);
		diagnose_cli_release(&cli);
		return EXIT_DONE;
	}
	if (status == STATUS_OK)
		status = recording_analyse(&analysis, &cli, &error);
	if (status == STATUS_OK)
		status = diagnosis_write(&analysis, &cli, &error);
	if (status != STATUS_OK)
		fprintf(stderr, "assay diagnose: %s\n", error.text);
	else if (cli.strict)
		gate = findings_worst(&analysis.report.findings) != FINDING_BIAS;
	analysis_release(&analysis);
	diagnose_cli_release(&cli);
	return gate ? exit_code_of(status) : EXIT_GATE;
}
