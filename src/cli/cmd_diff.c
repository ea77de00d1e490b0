/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * assay diff: two existing recordings; what changed, the workload or the measurement?
 */
#include <stdio.h>

#include "cli/commands.h"
#include "cli/diff_options.h"
#include "cli/exit_code.h"
#include "cli/page.h"
#include "cli/session.h"
#include "diff/diff.h"
#include "diff/json.h"
#include "diff/text.h"
#include "report/build.h"

/* Samples whose times are folded: for a lock of the other side's clock, more than a report does. */
#define SAMPLES_FOLDED 65536

/* One recording, as a report has it. */
struct side {
	struct session session;
	struct diagnosis diagnosis;
	struct table table;
	struct report report;
	bool has_diagnosis, has_table, has_report;
};

static void side_release(struct side *side)
{
	if (side->has_report)
		report_release(&side->report);
	if (side->has_table)
		table_release(&side->table);
	if (side->has_diagnosis)
		diagnosis_release(&side->diagnosis);
	session_release(&side->session);
}

static enum status side_make(struct side *side, const struct diff_cli *cli, const char *path,
			     struct error *error)
{
	const struct session_options session_options = { .path = path,
							 .event = cli->event,
							 .symfs = cli->symfs,
							 .kallsyms = cli->kallsyms,
							 .vmlinux = cli->vmlinux,
							 .debuginfod = cli->debuginfod,
							 .demangle = true };
	const struct report_options report_options = { .by = REPORT_BY_FUNCTION | REPORT_BY_MODULE,
						       .rank_by_total = cli->by_total,
						       .findings = &side->diagnosis.findings };
	enum status status = session_open(&side->session, sys_real(), &session_options, error);

	if (status == STATUS_OK) {
		status = session_diagnose(&side->session, &side->diagnosis, NULL, SAMPLES_FOLDED,
					  false, error);
		side->has_diagnosis = status == STATUS_OK;
	}
	if (status == STATUS_OK) {
		status = table_build(&side->table, &side->session.profile, SUBJECT_FUNCTION,
				     cli->by_total, error);
		side->has_table = status == STATUS_OK;
	}
	if (status == STATUS_OK) {
		status = report_build(&side->report, &side->session.profile, &side->table,
				      &report_options, error);
		side->has_report = status == STATUS_OK;
	}
	if (status == STATUS_OK && cli->by_total && !side->report.has_total)
		status = error_set(error, STATUS_USAGE,
				   "--children: %s has no call chains (record with -g)", path);
	return status;
}

static enum status diff_write(const struct diff *diff, const struct diff_cli *cli,
			      struct error *error)
{
	const struct text_options text = { .colour = page_wants_colour(cli->colour),
					   .unicode = page_is_unicode(),
					   .verbose = cli->verbose,
					   .quiet = cli->quiet,
					   .max_rows = cli->max_rows,
					   .percent_limit = cli->percent_limit,
					   .width = page_width(sys_real()) };
	struct output output;
	enum status status;

	output_init(&output);
	if (cli->json) {
		status = diff_json(diff, &output, error);
	} else {
		diff_text(diff, &text, &output);
		status = output_check(&output, error);
	}
	if (status == STATUS_OK)
		status = page_write(sys_real(), output.text, output.size, cli->pager && !cli->json,
				    error);
	output_release(&output);
	return status;
}

static enum status sides_compare(const struct side sides[2], const struct diff_cli *cli,
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
	struct side sides[2] = { 0 };
	struct diff_cli cli;
	struct error error = { 0 };
	enum status status = diff_cli_parse(&cli, argc, argv, &error);

	if (status == STATUS_OK && cli.help) {
		fputs(diff_cli_help, stdout);
		return EXIT_DONE;
	}
	for (int i = 0; i < 2 && status == STATUS_OK; i++)
		status = side_make(&sides[i], &cli, cli.paths[i], &error);
	if (status == STATUS_OK)
		status = sides_compare(sides, &cli, &error);
	if (status != STATUS_OK)
		fprintf(stderr, "assay diff: %s\n", error.text);
	side_release(&sides[1]);
	side_release(&sides[0]);
	return exit_code_of(status);
}
