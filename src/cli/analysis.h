/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One recording, all the way: opened and counted, diagnosed, its rows estimated. What report, diagnose and
 * diff have in common; each shows it in its own way.
 */
#ifndef ASSAY_CLI_ANALYSIS_H
#define ASSAY_CLI_ANALYSIS_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/session.h"
#include "report/build.h"

struct analysis_options {
	struct session_options session;
	struct report_options report; /* its findings are filled in here */
	unsigned int subjects;        /* SUBJECT_*, of rows */
	bool totals;                  /* inclusive shares too */
	bool diagnose, answers;       /* answers: with the five lines */
	size_t samples_folded;        /* by the diagnosis, at most */
};

struct analysis {
	struct session session;
	struct diagnosis diagnosis;
	struct table table;
	struct report report;
	bool has_diagnosis, has_table, has_report;
};

/* The report knows what the file and its symbols tell, and brings all findings together. analysis_release
 * afterwards in any case, also of one that was only zeroed. */
MUST_CHECK enum status analysis_make(struct analysis *analysis, const struct sys *sys,
				     const struct analysis_options *options, struct error *error);
void analysis_release(struct analysis *analysis);

#endif
