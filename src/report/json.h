/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The report as JSON, schema assay.report/1 (docs/report.md): shares 0..1, times in _ns. What is not
 * supported or not known is null, beside it "why".
 */
#ifndef ASSAY_REPORT_JSON_H
#define ASSAY_REPORT_JSON_H

#include "report/model.h"
#include "report/output.h"

#define REPORT_JSON_SCHEMA "assay.report/1"

struct json_options {
	double percent_limit; /* rows below are left out; 0: none */
};

/* Appends the document to `output`. */
MUST_CHECK enum status report_json(const struct report *report, const struct json_options *options,
				   struct output *output, struct error *error);

#endif
