/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * assay report: bundle or perf.data -> ranked table with uncertainty.
 */
#include <stdio.h>

#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/page.h"
#include "cli/report_options.h"
#include "cli/session.h"
#include "report/build.h"
#include "report/json.h"
#include "report/text.h"

/* Samples whose times are folded by the diagnosis that belongs to every report. */
#define SAMPLES_FOLDED 32768

/* Everything that has to be released, in order of making. */
struct work {
	struct session session;
	struct diagnosis diagnosis;
	struct table table;
	struct report report;
	struct output output;
	bool has_diagnosis, has_table, has_report;
};

static void work_release(struct work *work)
{
	output_release(&work->output);
	if (work->has_report)
		report_release(&work->report);
	if (work->has_table)
		table_release(&work->table);
	if (work->has_diagnosis)
		diagnosis_release(&work->diagnosis);
	session_release(&work->session);
}

static unsigned int tags_of(unsigned int by)
{
	return (by & REPORT_BY_COMM ? TAG_COMM : 0) | (by & REPORT_BY_PID ? TAG_PID : 0) |
	       (by & REPORT_BY_TID ? TAG_TID : 0) | (by & REPORT_BY_CPU ? TAG_CPU : 0);
}

static unsigned int subjects_by(unsigned int by)
{
	return (by & REPORT_BY_FUNCTION ? SUBJECT_FUNCTION : 0) |
	       (by & REPORT_BY_MODULE ? SUBJECT_MODULE : 0) |
	       (by & REPORT_BY_LINE ? SUBJECT_LINE : 0);
}

static enum status work_make(struct work *work, struct report_cli *cli, struct error *error)
{
	const struct session_options session_options = { .path = cli->path,
							 .event = cli->event,
							 .symfs = cli->symfs,
							 .kallsyms = cli->kallsyms,
							 .vmlinux = cli->vmlinux,
							 .debuginfod = cli->debuginfod,
							 .inlines = cli->inlines ||
								    (cli->by & REPORT_BY_LINE),
							 .demangle = cli->demangle,
							 .filter = &cli->filter,
							 .tags = tags_of(cli->by) };
	struct report_options report_options = { .by = cli->by,
						 .rank_by_total = cli->rank_by_total,
						 .top_k = cli->top_k,
						 .filtered = !filter_is_empty(&cli->filter) };
	enum status status;

	status = session_open(&work->session, sys_real(), &session_options, error);
	/* The table alone needs no findings. */
	if (status == STATUS_OK && (cli->json || !cli->quiet)) {
		status = session_diagnose(&work->session, &work->diagnosis, &cli->filter,
					  SAMPLES_FOLDED, false, error);
		work->has_diagnosis = status == STATUS_OK;
		report_options.findings = &work->diagnosis.findings;
	}
	if (status == STATUS_OK) {
		status = table_build(&work->table, &work->session.profile, subjects_by(cli->by),
				     cli->totals, error);
		work->has_table = status == STATUS_OK;
	}
	if (status == STATUS_OK) {
		status = report_build(&work->report, &work->session.profile, &work->table,
				      &report_options, error);
		work->has_report = status == STATUS_OK;
	}
	return status;
}

static enum status work_render(struct work *work, const struct report_cli *cli, struct error *error)
{
	const struct json_options json = { .percent_limit = cli->percent_limit };
	const struct text_options text = { .colour = page_wants_colour(cli->colour),
					   .unicode = page_is_unicode(),
					   .verbose = cli->verbose,
					   .samples = cli->samples,
					   .quiet = cli->quiet,
					   .max_rows = cli->max_rows,
					   .percent_limit = cli->percent_limit,
					   .width = page_width(sys_real()) };
	enum status status;

	if (cli->json) {
		status = report_json(&work->report, &json, &work->output, error);
	} else {
		report_text_render(&work->report, &text, &work->output);
		status = output_check(&work->output, error);
	}
	if (status != STATUS_OK)
		return status;
	return page_write(sys_real(), work->output.text, work->output.size,
			  cli->pager && !cli->json, error);
}

int cmd_report(int argc, char **argv)
{
	struct work work = { 0 };
	struct report_cli cli;
	struct error error = { 0 };
	enum status status;

	status = report_cli_parse(&cli, argc, argv, &error);
	if (status == STATUS_OK && cli.help) {
		fputs(report_cli_help, stdout);
		report_cli_release(&cli);
		return EXIT_DONE;
	}
	output_init(&work.output);
	if (status == STATUS_OK)
		status = work_make(&work, &cli, &error);
	if (status == STATUS_OK)
		status = work_render(&work, &cli, &error);
	if (status != STATUS_OK)
		fprintf(stderr, "assay report: %s\n", error.text);
	work_release(&work);
	report_cli_release(&cli);
	return exit_code_of(status);
}
