/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * assay report: bundle or perf.data -> ranked table with uncertainty.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/page.h"
#include "cli/report_options.h"
#include "profile/profile.h"
#include "profile/table.h"
#include "report/build.h"
#include "report/json.h"
#include "report/text.h"

/* Everything that has to be released, in order of making. */
struct session {
	const struct sys *sys;
	struct bundle bundle;
	struct symbolizer *symbolizer;
	struct profile profile;
	struct table table;
	struct report report;
	struct output output;
	char *map_dir;
	bool has_bundle, has_profile, has_table, has_report;
};

static void session_release(struct session *session)
{
	output_release(&session->output);
	if (session->has_report)
		report_release(&session->report);
	if (session->has_table)
		table_release(&session->table);
	if (session->has_profile)
		profile_release(&session->profile);
	symbolizer_free(session->symbolizer);
	if (session->has_bundle)
		bundle_close(&session->bundle);
	free(session->map_dir);
}

/* The bundle that was named; else out.assay; else, as perf users expect, perf.data. */
static const char *bundle_path(const struct session *session, const struct report_cli *cli)
{
	struct stat stat;

	if (cli->path)
		return cli->path;
	if (session->sys->fstatat(session->sys->state, AT_FDCWD, BUNDLE_DEFAULT_PATH, &stat, 0) <
		    0 &&
	    session->sys->fstatat(session->sys->state, AT_FDCWD, "perf.data", &stat, 0) == 0)
		return "perf.data";
	return BUNDLE_DEFAULT_PATH;
}

static enum status symbolizer_make(struct session *session, const struct report_cli *cli,
				   struct error *error)
{
	struct symbolizer_options options = { .debuginfod = cli->debuginfod,
					      .symfs = cli->symfs,
					      .kallsyms_path = cli->kallsyms,
					      .vmlinux = cli->vmlinux,
					      .inlines = cli->inlines,
					      .demangle = cli->demangle };

	if (session->bundle.has_manifest) {
		if (asprintf(&session->map_dir, "%s/maps", session->bundle.path) < 0) {
			session->map_dir = NULL;
			return error_set(error, STATUS_NO_MEMORY, "no memory for a path");
		}
		options.map_dir = session->map_dir;
	}
	return symbolizer_new(&session->symbolizer, session->sys, &options, error);
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

static enum status session_build(struct session *session, struct report_cli *cli,
				 struct error *error)
{
	const struct profile_options profile_options = { .event = cli->event,
							 .filter = &cli->filter,
							 .tags = tags_of(cli->by) };
	const struct report_options report_options = { .by = cli->by,
						       .rank_by_total = cli->rank_by_total,
						       .top_k = cli->top_k,
						       .filtered = !filter_is_empty(&cli->filter) };
	enum status status;

	status = bundle_open(&session->bundle, session->sys, bundle_path(session, cli), error);
	session->has_bundle = status == STATUS_OK;
	if (status == STATUS_OK)
		status = symbolizer_make(session, cli, error);
	if (status == STATUS_OK) {
		status = profile_build(&session->profile, &session->bundle, session->symbolizer,
				       session->sys, &profile_options, error);
		session->has_profile = status == STATUS_OK;
	}
	if (status == STATUS_OK) {
		status = table_build(&session->table, &session->profile, subjects_by(cli->by),
				     cli->totals, error);
		session->has_table = status == STATUS_OK;
	}
	if (status == STATUS_OK) {
		status = report_build(&session->report, &session->profile, &session->table,
				      &report_options, error);
		session->has_report = status == STATUS_OK;
	}
	return status;
}

static enum status session_render(struct session *session, const struct report_cli *cli,
				  struct error *error)
{
	const struct json_options json = { .percent_limit = cli->percent_limit };
	const struct text_options text = { .colour = page_wants_colour(cli->colour),
					   .unicode = page_is_unicode(),
					   .verbose = cli->verbose,
					   .samples = cli->samples,
					   .quiet = cli->quiet,
					   .max_rows = cli->max_rows,
					   .percent_limit = cli->percent_limit,
					   .width = page_width(session->sys) };
	enum status status;

	if (cli->json) {
		status = report_json(&session->report, &json, &session->output, error);
	} else {
		report_text_render(&session->report, &text, &session->output);
		status = output_check(&session->output, error);
	}
	if (status != STATUS_OK)
		return status;
	return page_write(session->sys, session->output.text, session->output.size,
			  cli->pager && !cli->json, error);
}

int cmd_report(int argc, char **argv)
{
	struct session session = { .sys = sys_real() };
	struct report_cli cli;
	struct error error = { 0 };
	enum status status;

	status = report_cli_parse(&cli, argc, argv, &error);
	if (status == STATUS_OK && cli.help) {
		fputs(report_cli_help, stdout);
		report_cli_release(&cli);
		return EXIT_DONE;
	}
	output_init(&session.output);
	if (status == STATUS_OK)
		status = session_build(&session, &cli, &error);
	if (status == STATUS_OK)
		status = session_render(&session, &cli, &error);
	if (status != STATUS_OK)
		fprintf(stderr, "assay report: %s\n", error.text);
	session_release(&session);
	report_cli_release(&cli);
	return exit_code_of(status);
}
