/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * assay diagnose: can this measurement be trusted, and why not?
 */
#include <stdio.h>

#include "cli/commands.h"
#include "cli/diagnose_options.h"
#include "cli/exit_code.h"
#include "cli/page.h"
#include "cli/session.h"
#include "report/build.h"
#include "report/diagnosis.h"

/* Samples whose times are folded at most: beyond this a test only gets slower. */
#define SAMPLES_FOLDED 262144

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

static enum status work_make(struct work *work, struct diagnose_cli *cli, struct error *error)
{
	const struct session_options session_options = { .path = cli->path,
							 .event = cli->event,
							 .symfs = cli->symfs,
							 .kallsyms = cli->kallsyms,
							 .vmlinux = cli->vmlinux,
							 .debuginfod = cli->debuginfod,
							 .demangle = true,
							 .filter = &cli->filter };
	const struct report_options report_options = { .by = REPORT_BY_FUNCTION | REPORT_BY_MODULE,
						       .filtered = !filter_is_empty(&cli->filter),
						       .findings = &work->diagnosis.findings };
	enum status status;

	status = session_open(&work->session, sys_real(), &session_options, error);
	if (status == STATUS_OK) {
		status = session_diagnose(&work->session, &work->diagnosis, &cli->filter,
					  SAMPLES_FOLDED, true, error);
		work->has_diagnosis = status == STATUS_OK;
	}
	/* The report knows what the file and its symbols tell, and brings all findings together. */
	if (status == STATUS_OK) {
		status = table_build(&work->table, &work->session.profile, SUBJECT_FUNCTION, true,
				     error);
		work->has_table = status == STATUS_OK;
	}
	if (status == STATUS_OK) {
		status = report_build(&work->report, &work->session.profile, &work->table,
				      &report_options, error);
		work->has_report = status == STATUS_OK;
	}
	return status;
}

static enum status work_render(struct work *work, const struct diagnose_cli *cli,
			       struct error *error)
{
	const struct diagnosis_view view = { .bundle = work->report.bundle,
					     .command = work->report.command,
					     .n_command = work->report.n_command,
					     .diagnosis = &work->diagnosis,
					     .findings = &work->report.findings };
	const struct text_options text = { .colour = page_wants_colour(cli->colour),
					   .unicode = page_is_unicode(),
					   .verbose = cli->verbose,
					   .width = page_width(sys_real()) };
	enum status status;

	if (cli->json) {
		status = diagnosis_json(&view, &work->output, error);
	} else {
		diagnosis_text(&view, &text, &work->output);
		if (cli->plot)
			diagnosis_plot(&view, &text, &work->output);
		status = output_check(&work->output, error);
	}
	if (status != STATUS_OK)
		return status;
	return page_write(sys_real(), work->output.text, work->output.size,
			  cli->pager && !cli->json, error);
}

int cmd_diagnose(int argc, char **argv)
{
	struct work work = { 0 };
	struct diagnose_cli cli;
	struct error error = { 0 };
	bool gate = true;
	enum status status = diagnose_cli_parse(&cli, argc, argv, &error);

	if (status == STATUS_OK && cli.help) {
		fputs(diagnose_cli_help, stdout);
		diagnose_cli_release(&cli);
		return EXIT_DONE;
	}
	output_init(&work.output);
	if (status == STATUS_OK)
		status = work_make(&work, &cli, &error);
	if (status == STATUS_OK)
		status = work_render(&work, &cli, &error);
	if (status != STATUS_OK)
		fprintf(stderr, "assay diagnose: %s\n", error.text);
	else if (cli.strict)
		gate = findings_worst(&work.report.findings) != FINDING_BIAS;
	work_release(&work);
	diagnose_cli_release(&cli);
	return gate ? exit_code_of(status) : EXIT_GATE;
}
