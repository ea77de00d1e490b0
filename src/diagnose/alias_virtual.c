/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The virtual canary over the time axes that a conventional clock could have.
 *
 *	whole program	all randomised samples by time: a clock per CPU, or one thread
 *	one thread	its samples by time: a clock per thread, whose phase is its own
 *	one thread	its samples by its CPU time, where READ gives it and the thread was often off the CPU:
 *			a clock per thread counts only that
 *
 * P-values of an axis are multiplied by the number of axes; errors in one thread's share are scaled to the
 * whole program.
 *
 * Rayleigh's exp(-W) takes samples for independent. They are not where several fall into one visit of a
 * function, or where a program wanders around a frequency without keeping time: then W is large over a
 * whole band. A clock is in step only with a line that stands out of its band. So W is measured against
 * the mean B of W at m frequencies beside it, 1 to 6 % away (nearer by, a program that is cyclic only at
 * times has power of its own), which for exponentially distributed W gives
 *	P = (1 + W/(m B))^-m	(the F distribution with 2 and 2m degrees of freedom)
 * and P is never taken below exp(-W). The same for all functions together (estimate_lock.joint).
 */
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/alias.h"
#include "diagnose/conduct.h"
#include "diagnose/finding_code.h"
#include "estimate/quantile.h"

/* A thread is an axis of its own with so many samples, and unless it is nearly all of the program. */
#define THREAD_SAMPLES_MIN 100
#define THREAD_PART_MAX    0.95
/* Off the CPU for more than this part of its life, a thread's CPU time is another axis than time. */
#define OFF_CPU_PART 0.03

/* Frequencies beside a line: so many on either side, relative to its own frequency, but at least so many
 * times one over the length of the recording, where the line itself and a slow sweep no longer reach. */
#define BAND           64
#define BAND_FROM      0.01
#define BAND_TO        0.06
#define BAND_FROM_BINS 3.0
#define BAND_TO_BINS   18.0

/* A clock that would take fewer samples in all this time makes no profile that could be wrong. */
#define TICKS_MIN 50
static const char why_short[] =
	"fewer than 50 samples of that clock would fall into this recording";

#define TWO_PI 6.28318530717958647693

struct axis {
	double *times;
	uint32_t *functions;
	uint8_t *slots; /* scratch: by sample, see slots_fill */
	size_t n;
	double part;   /* of all randomised samples */
	uint32_t tid;  /* of a thread's axis */
	bool cpu_time; /* else time */
	bool thread;
};

struct axes {
	struct axis items[1 + 2 * ALIAS_THREADS];
	size_t n;
};

static void axes_release(struct axes *axes)
{
	for (size_t i = 0; i < axes->n; i++) {
		free(axes->items[i].times);
		free(axes->items[i].functions);
		free(axes->items[i].slots);
	}
}

static bool axis_init(struct axis *axis, size_t capacity)
{
	memset(axis, 0, sizeof(*axis));
	axis->times = malloc((capacity + 1) * sizeof(*axis->times));
	axis->functions = malloc((capacity + 1) * sizeof(*axis->functions));
	axis->slots = malloc(capacity + 1);
	return axis->times && axis->functions && axis->slots;
}

static bool is_randomised(const struct alias *alias, const struct trace_sample *sample)
{
	return sample->column < alias->matrix->n_clocks;
}

/* Samples by time; `thread` UINT32_MAX: of all. Times count from the first sample, which keeps their
 * fractions exact in a double. */
static bool axis_by_time(struct axis *axis, const struct alias *alias, uint32_t thread)
{
	const struct trace *trace = alias->trace;
	size_t all = 0;

	if (!axis_init(axis, trace->n))
		return false;
	for (size_t i = 0; i < trace->n; i++) {
		const struct trace_sample *sample = &trace->samples[i];

		if (!is_randomised(alias, sample))
			continue;
		all++;
		if (thread != UINT32_MAX && sample->thread != thread)
			continue;
		axis->times[axis->n] = (double)(sample->time_ns - trace->samples[0].time_ns);
		axis->functions[axis->n++] = sample->function;
	}
	axis->part = all ? (double)axis->n / (double)all : 0;
	axis->thread = thread != UINT32_MAX;
	return true;
}

/* The stream (a clock on one CPU or in one thread) in which most of a thread's samples are. */
static uint32_t main_stream(const struct alias *alias, uint32_t thread, size_t *samples)
{
	const struct trace *trace = alias->trace;
	uint32_t *counts = calloc(trace->n_streams + 1, sizeof(*counts)), best = UINT32_MAX;

	*samples = 0;
	for (size_t i = 0; counts && i < trace->n; i++) {
		const struct trace_sample *sample = &trace->samples[i];

		if (!is_randomised(alias, sample) || sample->thread != thread || !sample->reading ||
		    sample->stream >= trace->n_streams)
			continue;
		if (++counts[sample->stream] > *samples) {
			*samples = counts[sample->stream];
			best = sample->stream;
		}
	}
	free(counts);
	return best;
}

/* A thread's samples of one stream by the event's own count: its CPU time, when the clock is the thread's
 * own. Left empty when that count ran all the time (the axis of time says the same), or is not there. */
static bool axis_by_count(struct axis *axis, const struct alias *alias, uint32_t thread)
{
	const struct trace *trace = alias->trace;
	const struct trace_sample *first = NULL, *last = NULL;
	size_t n;
	const uint32_t stream = main_stream(alias, thread, &n);

	if (!axis_init(axis, n))
		return false;
	for (size_t i = 0; i < trace->n && stream != UINT32_MAX; i++) {
		const struct trace_sample *sample = &trace->samples[i];

		if (sample->stream != stream || sample->thread != thread ||
		    !is_randomised(alias, sample) || !sample->reading)
			continue;
		if (!first)
			first = sample;
		last = sample;
		axis->times[axis->n] = (double)(sample->reading - first->reading);
		axis->functions[axis->n++] = sample->function;
	}
	axis->part = (double)axis->n / (double)(trace->n ? trace->n : 1);
	axis->thread = axis->cpu_time = true;
	if (axis->n < THREAD_SAMPLES_MIN || last->reading <= first->reading ||
	    (double)(last->reading - first->reading) >
		    (1 - OFF_CPU_PART) * (double)(last->time_ns - first->time_ns))
		axis->n = 0;
	return true;
}

static void axis_keep(struct axes *axes, const struct axis *axis)
{
	if (axis->n && axes->n < sizeof(axes->items) / sizeof(axes->items[0])) {
		axes->items[axes->n++] = *axis;
		return;
	}
	free(axis->times);
	free(axis->functions);
	free(axis->slots);
}

/* The threads with most samples, largest first. */
static size_t threads_choose(const struct trace *trace, uint32_t chosen[ALIAS_THREADS])
{
	size_t n = 0;

	for (uint32_t t = 0; t < trace->n_threads; t++) {
		size_t at = n;

		while (at > 0 && trace->threads[chosen[at - 1]].samples < trace->threads[t].samples)
			at--;
		if (at == ALIAS_THREADS)
			continue;
		n = n < ALIAS_THREADS ? n + 1 : n;
		for (size_t i = n - 1; i > at; i--)
			chosen[i] = chosen[i - 1];
		chosen[at] = t;
	}
	return n;
}

static bool axes_make(struct axes *axes, const struct alias *alias)
{
	uint32_t chosen[ALIAS_THREADS];
	const size_t n = threads_choose(alias->trace, chosen);
	struct axis axis;

	axes->n = 0;
	if (!axis_by_time(&axis, alias, UINT32_MAX))
		return false;
	axis_keep(axes, &axis);
	for (size_t i = 0; i < n; i++) {
		if (!axis_by_time(&axis, alias, chosen[i]))
			return false;
		axis.tid = alias->trace->threads[chosen[i]].tid;
		if (axis.n < THREAD_SAMPLES_MIN || axis.part > THREAD_PART_MAX)
			axis.n = 0;
		axis_keep(axes, &axis);
		if (!axis_by_count(&axis, alias, chosen[i]))
			return false;
		axis.tid = alias->trace->threads[chosen[i]].tid;
		axis_keep(axes, &axis);
	}
	return true;
}

/* What all axes together say of one period. */
struct period_result {
	struct estimate_lock lock; /* of the axis that speaks loudest */
	const struct axis *axis;
	double p_value;
	bool tested;
};

/* Frequencies beside a line, in 1/ns. */
static void band_frequencies(const struct axis *axis, double frequency, double frequencies[BAND])
{
	const double length = axis->times[axis->n - 1] - axis->times[0];
	const double from = fmax(BAND_FROM * frequency, BAND_FROM_BINS / length);
	const double to = fmax(BAND_TO * frequency, BAND_TO_BINS / length);

	for (size_t i = 0; i < BAND / 2; i++) {
		const double step = from + (to - from) * (double)i / (BAND / 2 - 1);

		frequencies[2 * i] = fabs(frequency - step);
		frequencies[2 * i + 1] = frequency + step;
	}
}

/* Means over the band of W of each watched function, and (last) of the joint T: the largest of the means of
 * its four quarters (either side, near and far), since a band need not be level. */
static void band_means(const struct axis *axis, const struct estimate_lock *lock, double frequency,
		       double means[ESTIMATE_LOCK_FUNCTIONS + 1])
{
	const double n = (double)axis->n;
	double frequencies[BAND], rest = 1, quarters[4] = { 0 };

	for (size_t f = 0; f <= lock->n_functions; f++)
		means[f] = 0;
	for (size_t f = 0; f < lock->n_functions; f++)
		rest -= lock->functions[f].share;
	band_frequencies(axis, frequency, frequencies);
	for (size_t b = 0; b < BAND; b++) {
		double complex own[ESTIMATE_LOCK_FUNCTIONS + 1] = { 0 }, all = 0, others = 0;
		double joint = 0;

		for (size_t i = 0; i < axis->n; i++) {
			const double turns = axis->times[i] * frequencies[b];
			const double complex z = cexp(I * TWO_PI * (turns - floor(turns)));

			all += z;
			own[axis->slots[i]] += z;
		}
		for (size_t f = 0; f < lock->n_functions; f++) {
			const double p = lock->functions[f].share;
			const double complex a = own[f] - p * all;
			const double square = creal(a) * creal(a) + cimag(a) * cimag(a);

			means[f] += square / (n * p * (1 - p)) / BAND;
			joint += square / (n * p);
			others -= a;
		}
		if (rest * n >= ESTIMATE_LOCK_FUNCTION_SAMPLES)
			joint += (creal(others) * creal(others) + cimag(others) * cimag(others)) /
				 (n * rest);
		quarters[b % 2 + (b >= BAND / 2 ? 2 : 0)] += joint / (BAND / 4);
	}
	for (size_t q = 0; q < 4; q++)
		means[lock->n_functions] = fmax(means[lock->n_functions], quarters[q]);
}

/* Which watched function each sample is of; lock->n_functions for the others. */
static void slots_fill(struct axis *axis, const struct estimate_lock *lock)
{
	for (size_t i = 0; i < axis->n; i++) {
		size_t slot = 0;

		while (slot < lock->n_functions &&
		       lock->functions[slot].function != axis->functions[i])
			slot++;
		axis->slots[i] = (uint8_t)slot;
	}
}

/* P of a line of height w whose band has this mean. */
static double band_p(double w, double mean)
{
	return fmax(exp(-w), pow(1 + w / (BAND * mean), -BAND));
}

/* Measures the lines of a lock against their bands and corrects its P-values and its worst function. The
 * joint statistic has many degrees of freedom in its band, so that dividing by its mean is enough. */
static void lock_correct(struct estimate_lock *lock, struct axis *axis, double n_periods)
{
	const double tests = (double)lock->n_harmonics * (double)lock->n_functions * n_periods;
	double means[ESTIMATE_LOCK_FUNCTIONS + 1], joint = 1, single = 1;
	unsigned int done = 0;

	if (lock->why || fmin(lock->p_value, lock->joint_p_value) >= 0.05)
		return;
	slots_fill(axis, lock);
	if (lock->joint_p_value < 0.05) {
		done = lock->joint_harmonic;
		band_means(axis, lock, done / lock->period, means);
		joint = fmin(1,
			     tail_chi2(2 * lock->joint /
					       fmax(1, means[lock->n_functions] / lock->joint_df),
				       2 * lock->joint_df) *
				     lock->n_harmonics * n_periods);
	}
	if (lock->p_value < 0.05 && lock->functions[lock->worst].harmonic != done)
		band_means(axis, lock, lock->functions[lock->worst].harmonic / lock->period, means);
	/* a function's line may be another harmonic than the one whose band was looked at: near enough */
	for (size_t f = 0; f < lock->n_functions; f++) {
		struct estimate_lock_function *function = &lock->functions[f];

		if (function->p_value >= 0.05)
			continue;
		function->p_value = fmin(1, tests * band_p(function->w, means[f]));
		if (function->p_value < single) {
			single = function->p_value;
			lock->worst = f;
		}
	}
	/* one of two tests */
	lock->p_value = fmin(1, 2 * fmin(single, joint));
	lock->joint_p_value = joint;
}

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
			lock_correct(&locks[m], axis, (double)n);
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

static void finding_make(const struct alias *alias, const struct period_result *results,
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
	first = &alias->matrix->functions[worst->lock.functions[worst->lock.worst].function];
	finding = findings_add(findings, locked ? CODE_ALIAS_LOCKED : CODE_ALIAS_POSSIBLE,
			       FINDING_WARNING,
			       "A profiler that samples at %s %s in step with this program: its "
			       "shares of %s and others "
			       "could be off by up to %s. This recording's own clocks are "
			       "randomised, its shares are not "
			       "touched.",
			       rates, locked ? "runs" : "may run", first->name,
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
		finding_make(alias, results, &alias->candidates[first], ESTIMATE_LOCK_LOCKED,
			     findings);
		finding_make(alias, results, &alias->candidates[first], ESTIMATE_LOCK_POSSIBLE,
			     findings);
	}
	axes_release(&axes);
	return status;
}
