/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Clocks against the program's own marks: the phase of a tick is its place between the mark before it and
 * the one after, so cycles whose length drifts are followed.
 *
 * The ticks of a fixed clock are where they are whether or not the program was on the CPU then, so their
 * phases are even unless clock and marks are in step (H-test). What the clock sees differs from that: a
 * sample needs the program on the CPU. With u_b the density of ticks in phase bin b and r_b the part of
 * the randomised samples that fall there (the program's presence), the clock's samples are spread as
 *	f_b = r_b u_b / sum r u
 * and its share of function s is off by sum_b (f_b - r_b) p_{s|b}. That function and phase are related at
 * all is tested on the randomised samples (chi-squared); without that, being in step is harmless.
 *
 * A recording without randomised clocks has no r and no p of its own; then in step is all that can be said.
 */
#include <complex.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/alias.h"
#include "diagnose/conduct.h"
#include "diagnose/finding_code.h"
#include "estimate/marker.h"
#include "estimate/quantile.h"

#define SOURCES_TESTED 24    /* those with most marks */
#define MARKS_MIN      20    /* fewer say nothing of a period */
#define CYCLES_MAX     65536 /* of more, runs of a thousand are passed over evenly */
#define CYCLES_MIN     50
#define HARMONICS      20
#define DEPENDENCE_P   0.01
#define OWN_P          0.01
#define GAP_FACTOR     10.0 /* a stretch without marks of so many usual ones is no cycle */
#define TWO_PI         6.28318530717958647693
#define SAMPLES_MIN    50
#define BINS           ESTIMATE_PHASE_BINS
/* A bin with fewer randomised samples than this tells nothing of which function runs there. */
#define BIN_SAMPLES_MIN 3

struct cycle {
	const struct trace_source *source;
	double *marks; /* ns since the first sample */
	size_t n;
	double usual; /* median of the distances */
};

static int number_compare(const void *left, const void *right)
{
	const double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

/* Distances of marks, sorted; their median. */
static double usual_distance(const double *marks, size_t n)
{
	double *distances = calloc(n, sizeof(*distances)), median = NAN;

	if (distances) {
		for (size_t i = 1; i < n; i++)
			distances[i - 1] = marks[i] - marks[i - 1];
		qsort(distances, n - 1, sizeof(*distances), number_compare);
		median = distances[(n - 1) / 2];
	}
	free(distances);
	return median;
}

static bool cycle_init(struct cycle *cycle, const struct trace_source *source, uint64_t origin_ns)
{
	*cycle = (struct cycle){ .source = source,
				 .marks = calloc(source->n + 1, sizeof(*cycle->marks)) };
	if (!cycle->marks)
		return false;
	for (size_t i = 0; i < source->n; i++) {
		const double at = (double)source->times_ns[i] - (double)origin_ns;

		if (!cycle->n || at > cycle->marks[cycle->n - 1])
			cycle->marks[cycle->n++] = at;
	}
	cycle->usual = cycle->n > 1 ? usual_distance(cycle->marks, cycle->n) : NAN;
	return true;
}

/* Randomised samples to compare with: those of the marks' own thread if it has enough, else all. */
struct seen {
	double *phases; /* those inside a cycle only */
	uint32_t *functions;
	size_t n;
};

static bool seen_fill(struct seen *seen, const struct alias *alias, const struct cycle *cycle,
		      uint32_t thread, bool randomised)
{
	const struct trace *trace = alias->trace;
	double *times = calloc(trace->n + 1, sizeof(*times));
	double *phases = calloc(trace->n + 1, sizeof(*phases));
	uint32_t *functions = calloc(trace->n + 1, sizeof(*functions));
	size_t n = 0;

	if (times && phases && functions) {
		for (size_t i = 0; i < trace->n; i++) {
			const struct trace_sample *sample = &trace->samples[i];

			if (thread != UINT32_MAX && sample->thread != thread)
				continue;
			if (randomised != (sample->column < alias->matrix->n_clocks))
				continue;
			times[n] = (double)(sample->time_ns - trace->samples[0].time_ns);
			functions[n++] = sample->function;
		}
		estimate_phases(phases, times, n, cycle->marks, cycle->n,
				GAP_FACTOR * cycle->usual);
		for (size_t i = 0; i < n; i++) {
			if (phases[i] < 0)
				continue;
			phases[seen->n] = phases[i];
			functions[seen->n++] = functions[i];
		}
	}
	free(times);
	seen->phases = phases;
	seen->functions = functions;
	return phases && functions;
}

static void seen_release(struct seen *seen)
{
	free(seen->phases);
	free(seen->functions);
	memset(seen, 0, sizeof(*seen));
}

static uint32_t thread_of(const struct trace *trace, uint32_t tid)
{
	for (uint32_t t = 0; t < trace->n_threads; t++)
		if (trace->threads[t].tid == tid && trace->threads[t].samples >= SAMPLES_MIN)
			return t;
	return UINT32_MAX;
}

static size_t bin_of(double phase)
{
	const size_t bin = (size_t)(phase * BINS);

	return bin < BINS ? bin : BINS - 1;
}

/* The ticks of one clock over all cycles. */
struct ticks {
	double bins[BINS]; /* by phase */
	double n;
	size_t cycles; /* that have one */
	double h;      /* as below */
	unsigned int harmonics;
	double concentration; /* of the strongest of those harmonics, 0..1 */
};

/*
 * Ticks within one cycle are evenly spaced, not independent of each other; cycles are, unless clock and
 * marks are in step. So the sum over all ticks is measured against the sum of squares over cycles:
 *	c_i(m) = sum over the ticks of cycle i of exp(2 pi i m phi),   Z_m = |sum c_i|^2 / sum |c_i|^2
 * which is exponential with mean 1 as each term of Z2_m/2 is, and
 *	H = max over m <= 20 of 2 (Z_1 + ... + Z_m) - 4m + 4
 * has the H-test's distribution, exp(-0.4 H).
 */
static void ticks_fold(struct ticks *ticks, const struct cycle *cycle, double period)
{
	const double first = cycle->marks[0];
	/* of very many cycles every k-th run of a thousand is enough */
	const size_t stride = cycle->n / CYCLES_MAX + 1;
	double complex sums[HARMONICS] = { 0 };
	double squares[HARMONICS] = { 0 }, z2 = 0;

	memset(ticks, 0, sizeof(*ticks));
	for (size_t i = 1; i < cycle->n; i++) {
		const double from = cycle->marks[i - 1] - first,
			     length = cycle->marks[i] - cycle->marks[i - 1];
		double complex own[HARMONICS] = { 0 };
		double tick = ceil(from / period);
		bool any = false;

		if (length > GAP_FACTOR * cycle->usual || i / 1000 % stride)
			continue;
		for (; tick * period < from + length; tick++) {
			const double phase = fmin((tick * period - from) / length, 1 - 0x1p-53);
			const double complex step = cexp(I * TWO_PI * phase);
			double complex z = 1;

			for (size_t m = 0; m < HARMONICS; m++)
				own[m] += z *= step;
			ticks->bins[bin_of(phase)]++;
			ticks->n++;
			any = true;
		}
		ticks->cycles += any;
		for (size_t m = 0; m < HARMONICS && any; m++) {
			sums[m] += own[m];
			squares[m] += creal(own[m]) * creal(own[m]) + cimag(own[m]) * cimag(own[m]);
		}
	}
	for (size_t m = 0; m < HARMONICS && ticks->n > 0; m++) {
		z2 += 2 * (creal(sums[m]) * creal(sums[m]) + cimag(sums[m]) * cimag(sums[m])) /
		      fmax(squares[m], 1e-9 * ticks->n);
		if (m && z2 - 4 * (double)m <= ticks->h)
			continue;
		ticks->h = z2 - 4 * (double)m;
		ticks->harmonics = (unsigned int)m + 1;
	}
	for (size_t m = 0; m < ticks->harmonics && ticks->n > 0; m++)
		ticks->concentration = fmax(ticks->concentration, cabs(sums[m]) / ticks->n);
}

struct bins {
	double tick[BINS], presence[BINS]; /* counts */
	double *by_function;               /* counts, [function][bin] */
	double n_samples;
};

static bool bins_fill(struct bins *bins, const struct ticks *ticks, const struct seen *seen,
		      size_t n_functions)
{
	memset(bins, 0, sizeof(*bins));
	bins->by_function = calloc(n_functions * BINS + 1, sizeof(*bins->by_function));
	if (!bins->by_function)
		return false;
	memcpy(bins->tick, ticks->bins, sizeof(bins->tick));
	for (size_t i = 0; i < seen->n; i++) {
		bins->presence[bin_of(seen->phases[i])]++;
		bins->by_function[seen->functions[i] * BINS + bin_of(seen->phases[i])]++;
		bins->n_samples++;
	}
	return true;
}

/* f_b - r_b of every bin. */
static void bins_shift(const struct bins *bins, double shift[BINS])
{
	double sum = 0;

	for (size_t b = 0; b < BINS; b++)
		sum += bins->presence[b] / bins->n_samples * bins->tick[b];
	for (size_t b = 0; b < BINS; b++) {
		const double presence = bins->presence[b] / bins->n_samples;

		shift[b] = sum > 0 ? presence * bins->tick[b] / sum - presence : 0;
	}
}

static double function_error(const struct bins *bins, const double shift[BINS], size_t function)
{
	double error = 0;

	for (size_t b = 0; b < BINS; b++)
		if (bins->presence[b] >= BIN_SAMPLES_MIN)
			error += shift[b] * bins->by_function[function * BINS + b] /
				 bins->presence[b];
	return fabs(error);
}

/* One source of marks against one clock. */
struct step {
	struct ticks ticks;
	double p_value, dependence_p;
	double error_hi;
	size_t worst; /* function */
	enum estimate_lock_verdict verdict;
	const char *why;
};

struct examination {
	struct alias *alias;
	struct findings *findings;
	const struct cycle *cycle;
	struct seen seen;
	double n_tests;
	char name[96];
};

/* Whether function and phase are related in the randomised samples: the chi-squared part of the marker
 * test; its other parts suppose a clock that samples all the time. */
static bool dependence(const struct examination *x, double *p)
{
	struct estimate_marker marker;

	if (estimate_marker(&marker, x->seen.phases, x->seen.n, x->seen.phases, x->seen.functions,
			    x->seen.n, x->alias->matrix->n, 1, NULL) != STATUS_OK)
		return false;
	*p = marker.dependence_p;
	estimate_marker_release(&marker);
	return true;
}

static bool step_examine(const struct examination *x, double period, struct step *step)
{
	const size_t n_functions = x->alias->matrix->n;
	double shift[BINS];
	struct bins bins;

	*step = (struct step){ .dependence_p = NAN, .error_hi = NAN };
	ticks_fold(&step->ticks, x->cycle, period);
	step->p_value = fmin(1, exp(-0.4 * step->ticks.h) * x->n_tests);
	if (step->ticks.cycles < CYCLES_MIN) {
		step->why = "fewer than 50 cycles with a tick";
		return true;
	}
	if (!x->alias->randomised || x->seen.n < SAMPLES_MIN) {
		step->why = x->alias->randomised ? "fewer than 50 samples between marks" : NULL;
		return true;
	}
	if (!dependence(x, &step->dependence_p) ||
	    !bins_fill(&bins, &step->ticks, &x->seen, n_functions))
		return false;
	bins_shift(&bins, shift);
	step->error_hi = 0;
	for (size_t f = 0; f + 1 < n_functions; f++) {
		const double error = function_error(&bins, shift, f);

		if (error > step->error_hi) {
			step->error_hi = error;
			step->worst = f;
		}
	}
	free(bins.by_function);
	if (step->dependence_p < DEPENDENCE_P)
		step->verdict =
			alias_verdict(step->p_value, step->error_hi, (double)x->alias->n_families);
	return true;
}

static enum status step_candidate(const struct examination *x, double period,
				  const struct step *step, struct error *error)
{
	enum status status = STATUS_OK;
	struct alias_candidate *candidate;
	char source[192], rate[48];

	snprintf(source, sizeof(source), "%s against %s", x->name,
		 alias_rate_name(period, rate, sizeof(rate)));
	candidate = alias_candidate_add(x->alias, source, &status);
	if (status != STATUS_OK)
		return error_set(error, status, "not enough memory for the diagnosis");
	if (!candidate)
		return STATUS_OK;
	candidate->period_ns = x->cycle->usual;
	candidate->statistic_name = "H";
	candidate->statistic = step->ticks.h;
	candidate->p_value = step->p_value;
	candidate->concentration = step->ticks.concentration;
	candidate->share_error_hi = step->error_hi;
	candidate->verdict = step->verdict;
	candidate->why = step->why;
	return STATUS_OK;
}

/* With randomised clocks: another profiler would be in step. */
static void step_finding(const struct examination *x, double period, const struct step *step)
{
	struct findings *findings = x->findings;
	char rate[48], percent[32], usual[32];
	struct finding *finding;

	if (step->verdict == ESTIMATE_LOCK_NONE)
		return;
	finding = findings_add(findings,
			       step->verdict == ESTIMATE_LOCK_LOCKED ? CODE_ALIAS_LOCKED
								     : CODE_ALIAS_POSSIBLE,
			       FINDING_WARNING,
			       "A profiler that samples at %s is in step with %s (every %s), and "
			       "which function runs "
			       "depends on the phase: its share of %s would be off by about %s. "
			       "This recording's own clocks "
			       "are randomised, its shares are not touched.",
			       alias_rate_name(period, rate, sizeof(rate)), x->name,
			       conduct_time(x->cycle->usual, usual, sizeof(usual)),
			       x->alias->matrix->functions[step->worst].name,
			       conduct_percent(step->error_hi, percent, sizeof(percent)));
	if (finding)
		finding->elsewhere = true;
	finding_next(findings, finding, "Of this program, distrust profiles taken at such a rate.");
	finding_touches(findings, finding, x->alias->matrix->functions[step->worst].name,
			x->alias->matrix->functions[step->worst].module, step->error_hi);
	finding_text(findings, finding, "test", "marks");
	finding_text(findings, finding, "source", x->name);
	finding_number(findings, finding, "clock_period_ns", period);
	finding_number(findings, finding, "period_ns", x->cycle->usual);
	finding_number(findings, finding, "h", step->ticks.h);
	finding_number(findings, finding, "harmonics", step->ticks.harmonics);
	finding_number(findings, finding, "p_value", step->p_value);
	finding_number(findings, finding, "concentration", step->ticks.concentration);
	finding_number(findings, finding, "dependence_p", step->dependence_p);
	finding_number(findings, finding, "share_error_hi", step->error_hi);
}

/* Without: this recording's own clock is in step. What its phases missed is missing from the shares. */
static void own_finding(const struct examination *x, double period, const struct step *step,
			const struct estimate_h_test *own)
{
	struct findings *findings = x->findings;
	char rate[48], usual[32];
	struct finding *finding;

	if (step->verdict == ESTIMATE_LOCK_NONE)
		return;
	finding = findings_add(findings, CODE_ALIAS_POSSIBLE, FINDING_WARNING,
			       "The clock of this recording (%s) is in step with %s (every %s): "
			       "its samples keep coming back to "
			       "the same phases of that cycle. What runs at other phases is seen "
			       "too rarely or not at all, "
			       "and nothing in this recording can say what that is.",
			       alias_rate_name(period, rate, sizeof(rate)), x->name,
			       conduct_time(x->cycle->usual, usual, sizeof(usual)));
	finding_next(findings, finding,
		     "Record again with randomised clocks (`assay record`), and compare.");
	finding_text(findings, finding, "test", "marks");
	finding_text(findings, finding, "source", x->name);
	finding_number(findings, finding, "clock_period_ns", period);
	finding_number(findings, finding, "period_ns", x->cycle->usual);
	finding_number(findings, finding, "h", own->h);
	finding_number(findings, finding, "harmonics", own->harmonics);
	finding_number(findings, finding, "p_value", step->p_value);
	finding_number(findings, finding, "concentration", step->ticks.concentration);
}

static enum status periods_examine(const struct examination *x, struct error *error)
{
	struct alias *alias = x->alias;
	const struct step *told = NULL;
	struct step steps[ALIAS_PERIODS_MAX];
	double told_period = 0;

	for (size_t m = 0; m < alias->n_periods; m++) {
		enum status status;

		if (!step_examine(x, alias->periods_ns[m], &steps[m]))
			return error_set(error, STATUS_NO_MEMORY,
					 "not enough memory for the diagnosis");
		status = step_candidate(x, alias->periods_ns[m], &steps[m], error);
		if (status != STATUS_OK)
			return status;
		/* one finding per source: the clock that would be off most */
		if (!told || steps[m].verdict > told->verdict ||
		    (steps[m].verdict == told->verdict && steps[m].error_hi > told->error_hi)) {
			told = &steps[m];
			told_period = alias->periods_ns[m];
		}
	}
	if (told)
		step_finding(x, told_period, told);
	return STATUS_OK;
}

static enum status own_examine(const struct examination *x, struct error *error)
{
	const double period = x->alias->own_period_ns;
	struct estimate_h_test own;
	struct step step;
	enum status status;

	if (!(period > 0))
		return STATUS_OK;
	if (!step_examine(x, period, &step))
		return error_set(error, STATUS_NO_MEMORY, "not enough memory for the diagnosis");
	own = estimate_h_test(x->seen.phases, x->seen.n, x->n_tests);
	if (!step.why && x->seen.n < SAMPLES_MIN)
		step.why = "fewer than 50 samples between marks";
	/* both its ticks and its samples come back to the same phases */
	step.p_value = fmin(1, fmax(step.p_value, own.p_value) * (double)x->alias->n_families);
	if (!step.why && step.p_value < OWN_P)
		step.verdict = ESTIMATE_LOCK_POSSIBLE;
	status = step_candidate(x, period, &step, error);
	if (status == STATUS_OK)
		own_finding(x, period, &step, &own);
	return status;
}

static enum status source_examine(struct alias *alias, const struct trace_source *source,
				  double n_sources, struct findings *findings, struct error *error)
{
	const uint32_t thread = thread_of(alias->trace, source->tid);
	struct examination x = { .alias = alias, .findings = findings };
	enum status status = STATUS_OK;
	struct cycle cycle;

	if (source->tid == UINT32_MAX)
		snprintf(x.name, sizeof(x.name), "%s", source->name);
	else
		snprintf(x.name, sizeof(x.name), "%.64s of thread %u", source->name, source->tid);
	x.n_tests = n_sources * (double)(alias->randomised ? alias->n_periods : 1);
	if (!cycle_init(&cycle, source, alias->trace->samples[0].time_ns) ||
	    !seen_fill(&x.seen, alias, &cycle, thread, true)) {
		status = error_set(error, STATUS_NO_MEMORY, "not enough memory for the diagnosis");
	} else if (cycle.n >= MARKS_MIN && cycle.usual > 0) {
		x.cycle = &cycle;
		status = alias->randomised ? periods_examine(&x, error) : own_examine(&x, error);
	}
	seen_release(&x.seen);
	free(cycle.marks);
	return status;
}

static int source_compare(const void *left, const void *right)
{
	const struct trace_source *a = *(const struct trace_source *const *)left;
	const struct trace_source *b = *(const struct trace_source *const *)right;

	if (a->n != b->n)
		return a->n > b->n ? -1 : 1;
	return strcmp(a->name, b->name);
}

enum status alias_marks(struct alias *alias, struct findings *findings, struct error *error)
{
	const struct trace *trace = alias->trace;
	const struct trace_source **sources;
	enum status status = STATUS_OK;
	size_t n = 0;

	if (!trace->n_sources || !trace->n)
		return STATUS_OK;
	sources = calloc(trace->n_sources, sizeof(*sources));
	if (!sources) {
		status = error_set(error, STATUS_NO_MEMORY, "not enough memory for the diagnosis");
	} else {
		for (size_t i = 0; i < trace->n_sources; i++)
			if (trace->sources[i].n >= MARKS_MIN)
				sources[n++] = &trace->sources[i];
		qsort(sources, n, sizeof(*sources), source_compare);
		n = n < SOURCES_TESTED ? n : SOURCES_TESTED;
	}
	for (size_t i = 0; i < n && status == STATUS_OK; i++)
		status = source_examine(alias, sources[i], (double)n, findings, error);
	free(sources);
	return status;
}
