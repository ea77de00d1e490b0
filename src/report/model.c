/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/model.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void report_init(struct report *report)
{
	memset(report, 0, sizeof(*report));
	strings_init(&report->strings);
	findings_init(&report->findings);
}

void report_release(struct report *report)
{
	strings_release(&report->strings);
	findings_release(&report->findings);
	free(report->events);
	free(report->rows);
	report_init(report);
}

const char *report_state_name(enum estimate_state state)
{
	switch (state) {
	case ESTIMATE_RESOLVED: return "resolved";
	case ESTIMATE_UNRESOLVED: return "unresolved";
	case ESTIMATE_BIASED: return "biased";
	}
	return "unresolved";
}

const char *report_provenance_name(enum report_provenance provenance)
{
	switch (provenance) {
	case REPORT_SAMPLED: return "sampled";
	case REPORT_INSTRUMENTED: return "instrumented";
	case REPORT_CORRECTED: return "corrected";
	}
	return "sampled";
}

size_t report_settled(const struct report *report)
{
	size_t n = 0;

	while (n < report->n_rows && report->rows[n].rank_lo &&
	       report->rows[n].rank_lo == report->rows[n].rank_hi)
		n++;
	return n;
}

size_t report_contending(const struct report *report, size_t row)
{
	size_t n = 1;

	while (row + n < report->n_rows && report->rows[row + n].examined &&
	       report->rows[row + n].rank_lo <= report->rows[row].rank_hi)
		n++;
	return n;
}

bool report_touches(const struct finding *finding, const struct report_row *row, double *error_hi)
{
	*error_hi = finding->error_hi;
	if (finding->elsewhere)
		return false;
	for (size_t i = 0; i < finding->n_functions && !finding->every_function; i++) {
		const struct finding_function *function = &finding->functions[i];

		if (row->name && !strcmp(function->name, row->name) &&
		    (!*function->module ||
		     (row->module && !strcmp(function->module, row->module)))) {
			*error_hi = function->error_hi;
			return true;
		}
	}
	return finding->every_function;
}

const struct finding *report_bias(const struct report *report)
{
	double error_hi;

	for (size_t i = 0; i < report->findings.n; i++) {
		const struct finding *finding = &report->findings.items[i];

		if (finding->severity != FINDING_BIAS)
			continue;
		for (size_t row = 0; row < report->n_rows && row < report->top_k; row++)
			if (report_touches(finding, &report->rows[row], &error_hi))
				return finding;
	}
	return NULL;
}

const char *report_text(struct report *report, const char *format, ...)
{
	char *text = NULL;
	va_list arguments;
	uint32_t index = STRINGS_NONE;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) >= 0)
		index = strings_add(&report->strings, text);
	va_end(arguments);
	free(text);
	return index == STRINGS_NONE ? "" : strings_get(&report->strings, index);
}
