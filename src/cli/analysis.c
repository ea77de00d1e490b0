/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/analysis.h"

void analysis_release(struct analysis *analysis)
{
	if (analysis->has_report)
		report_release(&analysis->report);
	if (analysis->has_table)
		table_release(&analysis->table);
	if (analysis->has_diagnosis)
		diagnosis_release(&analysis->diagnosis);
	session_release(&analysis->session);
}

enum status analysis_make(struct analysis *analysis, const struct sys *sys,
			  const struct analysis_options *options, struct error *error)
{
	const struct filter *filter = options->session.filter;
	struct report_options report = options->report;
	enum status status = session_open(&analysis->session, sys, &options->session, error);

	if (status == STATUS_OK && options->diagnose) {
		status = session_diagnose(&analysis->session, &analysis->diagnosis, filter,
					  options->samples_folded, options->answers, error);
		analysis->has_diagnosis = status == STATUS_OK;
		report.findings = &analysis->diagnosis.findings;
	}
	if (status == STATUS_OK) {
		status = table_build(&analysis->table, &analysis->session.profile,
				     options->subjects, options->totals, error);
		analysis->has_table = status == STATUS_OK;
	}
	if (status == STATUS_OK) {
		report.filtered = filter && !filter_is_empty(filter);
		status = report_build(&analysis->report, &analysis->session.profile,
				      &analysis->table, &report, error);
		analysis->has_report = status == STATUS_OK;
	}
	return status;
}
