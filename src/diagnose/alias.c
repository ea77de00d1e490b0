/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diagnose/alias.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Corrected P-value, and the error from which a lock is worth the word. */
#define P_LOCKED     0.01
#define ERROR_LOCKED 0.02

void alias_release(struct alias *alias)
{
	for (size_t i = 0; i < alias->n; i++)
		free(alias->candidates[i].source);
	free(alias->candidates);
	alias->candidates = NULL;
	alias->n = alias->capacity = 0;
}

enum estimate_lock_verdict alias_verdict(double p_value, double error_hi, double families)
{
	const double p = p_value * fmax(1, families);

	if (!(error_hi >= ERROR_LOCKED))
		return ESTIMATE_LOCK_NONE;
	if (p < P_LOCKED)
		return ESTIMATE_LOCK_LOCKED;
	return p < ALIAS_P_POSSIBLE ? ESTIMATE_LOCK_POSSIBLE : ESTIMATE_LOCK_NONE;
}

struct alias_candidate *alias_candidate_add(struct alias *alias, const char *source,
					    enum status *status)
{
	struct alias_candidate *candidate;

	if (alias->n == ALIAS_CANDIDATES_MAX)
		return NULL;
	if (!array_reserve(&alias->candidates, &alias->capacity, alias->n + 1)) {
		*status = STATUS_NO_MEMORY;
		return NULL;
	}
	candidate = &alias->candidates[alias->n];
	*candidate =
		(struct alias_candidate){ .source = strdup(source), .p_value = 1, .missed = NAN };
	if (!candidate->source) {
		*status = STATUS_NO_MEMORY;
		return NULL;
	}
	alias->n++;
	return candidate;
}

size_t alias_conventional(double *periods_ns, double own_ns)
{
	static const double habits_hz[] = { 99, 100, 250, 997, 999, 1000, 4000 };
	size_t n = 0;
	bool known = !(own_ns > 0);

	for (size_t i = 0; i < sizeof(habits_hz) / sizeof(habits_hz[0]) && !known; i++)
		known = fabs(own_ns - floor(1e9 / habits_hz[i])) < 1;
	if (!known)
		periods_ns[n++] = own_ns;
	/* perf and the kernel round the period down to whole ns */
	for (size_t i = 0; i < sizeof(habits_hz) / sizeof(habits_hz[0]); i++)
		periods_ns[n++] = floor(1e9 / habits_hz[i]);
	return n;
}

const char *alias_rate_name(double period_ns, char *text, size_t size)
{
	const double hz = 1e9 / period_ns, whole = round(hz);

	if (whole >= 1 && fabs(floor(1e9 / whole) - floor(period_ns)) < 1)
		snprintf(text, size, "%.0f Hz", whole);
	else if (period_ns >= 1e6)
		snprintf(text, size, "a period of %.6g ms", period_ns / 1e6);
	else
		snprintf(text, size, "a period of %.6g us", period_ns / 1e3);
	return text;
}

/* How many families of tests this recording gives rise to. */
static size_t families_count(const struct alias *alias)
{
	size_t n = alias->matrix->n_canaries > 0;

	if (!alias->timed)
		return n;
	n += alias->randomised;
	for (size_t i = 0; i < alias->trace->n_sources; i++)
		if (alias->trace->sources[i].n > 1)
			return n + 1;
	return n;
}

enum status alias_examine(struct alias *alias, struct findings *findings, struct error *error)
{
	enum status status = STATUS_OK;

	alias->n_families = families_count(alias);
	if (alias->randomised && alias->timed)
		status = alias_virtual(alias, findings, error);
	if (status == STATUS_OK && alias->matrix->n_canaries)
		status = alias_canary(alias, findings, error);
	if (status == STATUS_OK && alias->timed)
		status = alias_marks(alias, findings, error);
	return status;
}
