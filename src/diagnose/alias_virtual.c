/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The virtual canary over the time axes that a conventional clock could have (alias_axis.h), each line
 * measured against its band (alias_band.c).
 *
 * P-values of an axis are multiplied by the number of axes; errors in one thread's share are scaled to the
 * whole program.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/alias_axis.h"
#include "diagnose/conduct.h"
#include "diagnose/finding_code.h"

/* A clock that would take fewer samples in all this time makes no profile that could be wrong. */
#define TICKS_MIN 50
static const char why_short[] =
	"fewer than 50 samples of that clock would fall into this recording";

/* What all axes together say of one period. */
struct period_result {
	struct estimate_lock lock; /* of the axis that speaks loudest */
	const struct axis *axis;
	double p_value;
	bool tested;
};

/* Tests one axis against the periods of which enough fit into it; the others are given their `why`. */
static enum status axis_test(const struct alias *alias, struct axis *axis,
			     struct estimate_lock locks[ALIAS_PERIODS_MAX], struct error *error)
{
	const double length = axis->times[axis->n - 1] - axis->times[0];
	struct estimate_lock *tested = calloc(ALIAS_PERIODS_MAX, sizeof(*tested));
	double periods[ALIAS_PERIODS_MAX];
	size_t n = 0, at = 0;
	enum status status;

	if (!tested)
		return error_set(error, STATUS_NO_MEMORY, "not enough memory for the diagnosis");
	for (size_t m = 0; m < alias->n_periods; m++)
		if (length >= TICKS_MIN * alias->periods_ns[m])
			periods[n++] = alias->periods_ns[m];
	status = estimate_virtual_canary(tested, axis->times, axis->functions, axis->n,
					 alias->matrix->n, periods, n, 1, error);
	for (size_t m = 0; m < alias->n_periods && status == STATUS_OK; m++) {
		if (at < n && tested[at].period == alias->periods_ns[m]) {
			locks[m] = tested[at++];
			if (!axis_lock_correct(axis, &locks[m], (double)n))
				status = error_set(error, STATUS_NO_MEMORY,
						   "not enough memory for the diagnosis");
		} else {
			locks[m] = (struct estimate_lock){ .why = why_short, .p_value = 1 };
		}
	}
	free(tested);
	return status;
}

static enum status axes_test(const struct alias *alias, struct axes *axes,
			     struct period_result results[ALIAS_PERIODS_MAX], struct error *error)
{
	struct estimate_lock *locks = calloc(ALIAS_PERIODS_MAX, sizeof(*locks));
	enum status status = STATUS_OK;

	if (!locks)
		return error_set(error, STATUS_NO_MEMORY, "not enough memory for the diagnosis");
	for (size_t m = 0; m < alias->n_periods; m++)
		results[m] = (struct period_result){ .p_value = 1 };
	for (size_t a = 0; a < axes->n && status == STATUS_OK; a++) {
		struct axis *axis = &axes->items[a];

		status = axis_test(alias, axis, locks, error);
		for (size_t m = 0; m < alias->n_periods && status == STATUS_OK; m++) {
			const double p = fmin(1, locks[m].p_value * (double)axes->n);

			if (!results[m].axis ||
			    (!locks[m].why && (!results[m].tested || p < results[m].p_value)))
				results[m] =
					(struct period_result){ locks[m], axis, p, !locks[m].why };
		}
	}
	free(locks);
	return status;
}

static enum status candidates_add(struct alias *alias, const struct period_result *results,
				  struct error *error)
{
	for (size_t m = 0; m < alias->n_periods; m++) {
		const struct period_result *result = &results[m];
		enum status status = STATUS_OK;
		struct alias_candidate *candidate;
		char rate[48], source[128];

		alias_rate_name(alias->periods_ns[m], rate, sizeof(rate));
		snprintf(source, sizeof(source), "conventional clock of %s", rate);
		candidate = alias_candidate_add(alias, source, &status);
		if (status != STATUS_OK)
			return error_set(error, status, "not enough memory for the diagnosis");
		if (!candidate)
			return STATUS_OK;
		candidate->period_ns = alias->periods_ns[m];
		candidate->statistic_name = "W";
		candidate->why = result->lock.why;
		if (!result->tested)
			continue;
		candidate->statistic = result->lock.functions[result->lock.worst].w;
		candidate->p_value = result->p_value;
		candidate->concentration = result->lock.concentration;
		candidate->share_error_hi = result->lock.error_hi * result->axis->part;
		candidate->missed = result->lock.missed;
		candidate->verdict = alias_verdict(result->p_value, candidate->share_error_hi,
						   (double)alias->n_families);
	}
	return STATUS_OK;
}

/* The functions that the clock would show wrongly, with the bound of their error. */
static void functions_add(const struct alias *alias, const struct period_result *result,
			  struct findings *findings, struct finding *finding)
{
	const struct estimate_lock *lock = &result->lock;

	for (size_t f = 0; f < lock->n_functions; f++) {
		const struct estimate_lock_function *function = &lock->functions[f];
		const struct matrix_function *named = &alias->matrix->functions[function->function];

		if (function->p_value * (double)alias->n_families >= ALIAS_P_POSSIBLE ||
		    function->function + 1 == alias->matrix->n)
			continue;
		finding_touches(findings, finding, named->name, named->module,
				(function->any_value ? fmax(function->share, 1 - function->share)
						     : function->error_hi) *
					result->axis->part);
	}
}

/* Not always the function that the lock was found by: that is the one whose line stands out most. */
static size_t function_off_most(const struct estimate_lock *lock)
{
	const struct estimate_lock_function *most = &lock->functions[lock->worst];

	for (size_t f = 0; f < lock->n_functions; f++)
		if (lock->functions[f].error_hi > most->error_hi)
			most = &lock->functions[f];
	return most->function;
}

/* The rates that got this verdict: "1000 Hz", "100 Hz, 250 Hz and 1000 Hz". */
static size_t rates_list(const struct alias *alias, const struct alias_candidate *candidates,
			 enum estimate_lock_verdict verdict, char *text, size_t size)
{
	size_t n = 0, told = 0;

	text[0] = '\0';
	for (size_t m = 0; m < alias->n_periods; m++)
		n += candidates[m].verdict == verdict;
	for (size_t m = 0; m < alias->n_periods; m++) {
		char rate[48];

		if (candidates[m].verdict != verdict)
			continue;
		snprintf(text + strlen(text), size - strlen(text), "%s%s",
			 !told           ? ""
			 : told + 1 == n ? " or "
					 : ", ",
			 alias_rate_name(candidates[m].period_ns, rate, sizeof(rate)));
		told++;
	}
	return n;
}

/* Which kind of clock that would be; "" when there is only one kind, since the program ran all the time. */
static const char *axis_words(const struct axes *axes, const struct axis *axis)
{
	bool off_cpu = false;

	for (size_t a = 0; a < axes->n; a++)
		off_cpu |= axes->items[a].cpu_time;
	if (!off_cpu)
		return "";
	return axis->cpu_time ? ", counted in CPU time as perf does without -a,"
			      : ", counted in time as perf does with -a,";
}

static void finding_make(const struct alias *alias, const struct axes *axes,
			 const struct period_result *results,
			 const struct alias_candidate *candidates,
			 enum estimate_lock_verdict verdict, struct findings *findings)
{
	const bool locked = verdict == ESTIMATE_LOCK_LOCKED;
	const struct period_result *worst = NULL;
	const struct matrix_function *first;
	char rates[256], percent[32], cycle[32];
	struct finding *finding;

	if (!rates_list(alias, candidates, verdict, rates, sizeof(rates)))
		return;
	for (size_t m = 0; m < alias->n_periods; m++)
		if (candidates[m].verdict == verdict &&
		    (!worst || results[m].lock.error_hi > worst->lock.error_hi))
			worst = &results[m];
	first = &alias->matrix->functions[function_off_most(&worst->lock)];
	finding = findings_add(
		findings, locked ? CODE_ALIAS_LOCKED : CODE_ALIAS_POSSIBLE, FINDING_WARNING,
		"A profiler that samples at %s%s %s in step with this program: its "
		"shares of %s and others "
		"could be off by up to %s. This recording's own clocks are "
		"randomised, its shares are not "
		"touched.",
		rates, axis_words(axes, worst->axis), locked ? "runs" : "may run", first->name,
		conduct_percent(worst->lock.error_hi * worst->axis->part, percent,
				sizeof(percent)));
	if (finding)
		finding->elsewhere = true;
	finding_next(
		findings, finding,
		"Compare with other profilers only if they randomise; of this program, distrust "
		"profiles taken at such a rate.");
	functions_add(alias, worst, findings, finding);
	finding_text(findings, finding, "test", "virtual canary");
	finding_text(findings, finding, "rates", rates);
	finding_number(findings, finding, "period_ns", worst->lock.period);
	finding_number(findings, finding, "w", worst->lock.functions[worst->lock.worst].w);
	finding_number(findings, finding, "p_value", worst->p_value);
	finding_number(findings, finding, "concentration", worst->lock.concentration);
	finding_number(findings, finding, "share_error_hi",
		       worst->lock.error_hi * worst->axis->part);
	finding_number(findings, finding, "samples", (double)worst->axis->n);
	finding_number(findings, finding, "component_ns",
		       worst->lock.period / worst->lock.functions[worst->lock.worst].harmonic);
	finding_text(
		findings, finding, "component",
		conduct_time(worst->lock.period / worst->lock.functions[worst->lock.worst].harmonic,
			     cycle, sizeof(cycle)));
	if (worst->axis->thread)
		finding_number(findings, finding, "tid", worst->axis->tid);
	finding_text(findings, finding, "time_axis", worst->axis->cpu_time ? "cpu time" : "time");
}

enum status alias_virtual(struct alias *alias, struct findings *findings, struct error *error)
{
	struct period_result results[ALIAS_PERIODS_MAX];
	const size_t first = alias->n;
	struct axes axes;
	enum status status;

	if (!axes_make(&axes, alias))
		status = error_set(error, STATUS_NO_MEMORY, "not enough memory for the diagnosis");
	else
		status = axes_test(alias, &axes, results, error);
	if (status == STATUS_OK)
		status = candidates_add(alias, results, error);
	if (status == STATUS_OK && alias->n == first + alias->n_periods) {
		finding_make(alias, &axes, results, &alias->candidates[first], ESTIMATE_LOCK_LOCKED,
			     findings);
		finding_make(alias, &axes, results, &alias->candidates[first],
			     ESTIMATE_LOCK_POSSIBLE, findings);
	}
	axes_release(&axes);
	return status;
}
