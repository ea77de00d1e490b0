/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * assay diff: two existing recordings; what changed, the workload or the measurement?
 */
#include <stdio.h>

#include "cli/analysis.h"
#include "cli/commands.h"
#include "cli/diff_options.h"
#include "cli/exit_code.h"
#include "cli/page.h"
#include "diff/diff.h"
#include "diff/json.h"
#include "diff/text.h"

/* Samples whose times are folded: for a lock of the other side's clock, more than a report does. */
#define SAMPLES_FOLDED 65536

static enum status side_make(struct analysis *side, struct diff_cli *cli, const char *path,
			     struct error *error)
{
	const struct analysis_options options = {
		.session = reading_session(&cli->reading, path),
		.report = { .by = REPORT_BY_FUNCTION | REPORT_BY_MODULE,
			    .rank_by_total = cli->by_total },
		.subjects = SUBJECT_FUNCTION,
		.totals = cli->by_total,
		.diagnose = true,
		.samples_folded = SAMPLES_FOLDED,
	};
	const enum status status = analysis_make(side, sys_real(), &options, error);

	if (status == STATUS_OK && cli->by_total && !side->report.has_total)
		return error_set(error, STATUS_USAGE,
				 "--children: %s has no call chains (record with -g)", path);
	return status;
}

static enum status diff_write(const struct diff *diff, const struct diff_cli *cli,
			      struct error *error)
{
	const struct text_options text = { .colour = page_wants_colour(cli->reading.colour),
					   .unicode = page_is_unicode(),
					   .verbose = cli->reading.verbose,
					   .quiet = cli->quiet,
					   .max_rows = cli->max_rows,
					   .percent_limit = cli->percent_limit,
					   .width = page_width(sys_real()) };
	struct output output;
	enum status status;

	output_init(&output);
	if (cli->reading.json) {
		status = diff_json(diff, &output, error);
	} else {
		diff_text(diff, &text, &output);
		status = output_check(&output, error);
	}
	if (status == STATUS_OK)
		status = page_write(sys_real(), output.text, output.size,
				    cli->reading.pager && !cli->reading.json, error);
	output_release(&output);
	return status;
}

static enum status sides_compare(const struct analysis sides[2], const struct diff_cli *cli,
				 struct error *error)
{
	const struct diff_options options = { .within = cli->within, .by_total = cli->by_total };
	struct diff_side compared[2];
	struct diff diff;
	enum status status;

	for (int i = 0; i < 2; i++)
		compared[i] = (struct diff_side){ &sides[i].report, &sides[i].session.bundle,
						  &sides[i].diagnosis };
	status = diff_make(&diff, compared, &options, error);
	if (status != STATUS_OK)
		return status;
	status = diff_write(&diff, cli, error);
	diff_release(&diff);
	return status;
}

int cmd_diff(int argc, char **argv)
{
	struct analysis sides[2] = { 0 };
	struct diff_cli cli;
	struct error error = { 0 };
	enum status status = diff_cli_parse(&cli, argc, argv, &error);

	if (status == STATUS_OK && cli.reading.help) {
		fputs(diff_cli_help, stdout);
		diff_cli_release(&cli);
		return EXIT_DONE;
	}
	for (int i = 0; i < 2 && status == STATUS_OK; i++)
		status = side_make(&sides[i], &cli, cli.paths[i], &error);
	if (status == STATUS_OK)
		status = sides_compare(sides, &cli, &error);
	if (status != STATUS_OK)
		fprintf(stderr, "assay diff: %s\n", error.text);
	analysis_release(&sides[1]);
	analysis_release(&sides[0]);
	diff_cli_release(&cli);
	return exit_code_of(status);
}
