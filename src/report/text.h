/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The report as text for people: verdict, sampling contract in words, findings, table.
 *
 * No number shows more digits than its interval justifies; names are escaped; rows whose order is not
 * settled are bracketed together.
 */
#ifndef ASSAY_REPORT_TEXT_H
#define ASSAY_REPORT_TEXT_H

#include "report/model.h"
#include "report/output.h"

#define TEXT_DEFAULT_ROWS    40
#define TEXT_DEFAULT_PERCENT 0.5

struct text_options {
	bool colour;
	bool unicode;         /* bars and brackets; else ASCII */
	bool verbose;         /* workload intervals, all findings in full */
	bool samples;         /* columns with the numbers of samples */
	bool quiet;           /* table only */
	size_t max_rows;      /* 0: all */
	double percent_limit; /* rows below are left out; 0: none */
	size_t width;         /* columns to wrap prose at; 0: 100 */
};

/* The whole; memory that was short is remembered by `output`. */
void report_text_render(const struct report *report, const struct text_options *options,
			struct output *output);

/* The parts. */
void text_head(const struct report *report, const struct text_options *options,
	       struct output *output);
void text_findings(const struct report *report, const struct text_options *options,
		   struct output *output);
void text_table(const struct report *report, const struct text_options *options,
		struct output *output);

/* Prose, wrapped; the first line begins where the cursor is (`used` columns), the others are indented
 * by `indent`. Escapes control characters. */
void text_wrap(struct output *output, const char *prose, size_t used, size_t indent, size_t width);

#endif
