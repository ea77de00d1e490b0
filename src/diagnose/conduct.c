/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diagnose/conduct.h"

#include <math.h>
#include <stdio.h>

bool conduct_is_randomised(const struct manifest *manifest)
{
	for (size_t k = 0; k < manifest->n_clocks; k++)
		if (manifest->clocks[k].randomised)
			return true;
	return false;
}

bool conduct_clock_counts(const struct manifest *manifest, size_t clock)
{
	return manifest->clocks[clock].randomised || !conduct_is_randomised(manifest);
}

uint64_t conduct_duration_ns(const struct manifest *manifest)
{
	const struct manifest_epoch *first = manifest->epochs, *last;

	if (!manifest->n_epochs)
		return 0;
	last = &manifest->epochs[manifest->n_epochs - 1];
	return last->end_ns > first->start_ns ? last->end_ns - first->start_ns : 0;
}

enum finding_severity conduct_missing_severity(double fraction)
{
	if (fraction >= CONDUCT_MISSING_BIAS)
		return FINDING_BIAS;
	return fraction >= CONDUCT_MISSING_WARN ? FINDING_WARNING : FINDING_INFO;
}

const char *conduct_percent(double fraction, char *text, size_t size)
{
	const double percent = 100 * fraction;
	int digits = 0;

	if (percent > 0 && percent < 9.95)
		digits = percent < 0.0095 ? 3 : percent < 0.095 ? 2 : 1;
	snprintf(text, size, "%.*f %%", digits, percent);
	return text;
}

const char *conduct_time(double ns, char *text, size_t size)
{
	static const struct {
		double ns;
		const char *unit;
	} units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" } };

	for (size_t i = 0; i < 3; i++)
		if (fabs(ns) >= 0.9995 * units[i].ns) {
			const double value = ns / units[i].ns;

			snprintf(text, size, "%.*f %s", fabs(value) < 9.95 ? 1 : 0, value,
				 units[i].unit);
			return text;
		}
	snprintf(text, size, "%.0f ns", ns);
	return text;
}

void conduct_find(struct findings *findings, const struct manifest *manifest)
{
	conduct_find_unchecked(findings, manifest);
	conduct_find_loss(findings, manifest);
	conduct_find_throttle(findings, manifest);
	conduct_find_starved(findings, manifest);
	conduct_find_uncovered(findings, manifest);
	conduct_find_retune(findings, manifest);
	conduct_find_fidelity(findings, manifest);
	conduct_find_redraw(findings, manifest);
	conduct_find_substitution(findings, manifest);
	conduct_find_budget(findings, manifest);
	conduct_find_short_tasks(findings, manifest);
	conduct_find_unfinished(findings, manifest);
	conduct_find_incidents(findings, manifest);
}
