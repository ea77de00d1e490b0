/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/lock.h"

#include <math.h>
#include <stdlib.h>

#include "estimate/quantile.h"

#define TWO_PI             6.28318530717958647693
#define HARMONICS_MIN      8
#define HARMONICS_MAX      256
#define HARMONICS_STANDARD 64
#define CYCLE_MIN_NS       50e3
#define P_LOCKED           0.01
#define P_POSSIBLE         0.05
#define ERROR_LOCKED       0.02
/* "smallest error found with 80 % power: about 16/9/5 points at N = 300/1000/3000" */
#define MISSED_SCALE 2.8
/* relative concentration from which the lock is full and no bound holds */
#define FULL_LOCK 0.9

static const char why_few[] = "fewer than 30 samples";
static const char why_functions[] = "no function has 20 samples";

struct phasor {
	double re, im;
};

/* What one pass over the samples collects: sums of exp(2 pi i h t/T0) by harmonic, for each watched
 * function and for all. */
struct fold {
	size_t n_samples, n_functions; /* watched */
	unsigned n_harmonics;
	const size_t *watched; /* function numbers */
	const uint64_t *counts;
	struct phasor *sums; /* (n_functions + 1) x n_harmonics; the last row is everything */
};

static unsigned harmonics_for(double period, double unit_ns)
{
	if (!(unit_ns > 0))
		return HARMONICS_STANDARD;
	return (unsigned)fmin(fmax(period * unit_ns / CYCLE_MIN_NS, HARMONICS_MIN), HARMONICS_MAX);
}

static void fold_add(struct fold *fold, const double *times, const uint32_t *slots, double period)
{
	const unsigned h_max = fold->n_harmonics;
	struct phasor *all = fold->sums + fold->n_functions * h_max;

	for (size_t i = 0; i < fold->n_samples; i++) {
		const double phase = TWO_PI * (times[i] / period - floor(times[i] / period));
		const struct phasor step = { cos(phase), sin(phase) };
		struct phasor *own = fold->sums + slots[i] * h_max, z = { 1, 0 };

		for (unsigned h = 0; h < h_max; h++) {
			z = (struct phasor){ z.re * step.re - z.im * step.im,
					     z.re * step.im + z.im * step.re };
			all[h].re += z.re;
			all[h].im += z.im;
			if (slots[i] >= fold->n_functions)
				continue;
			own[h].re += z.re;
			own[h].im += z.im;
		}
	}
}

static double phasor_square(struct phasor a)
{
	return a.re * a.re + a.im * a.im;
}

/* A of watched function f, whose share is p, at harmonic h + 1 */
static struct phasor fold_coherence(const struct fold *fold, size_t f, double p, unsigned h)
{
	const struct phasor *own = &fold->sums[f * fold->n_harmonics + h];
	const struct phasor *all = &fold->sums[fold->n_functions * fold->n_harmonics + h];

	return (struct phasor){ own->re - p * all->re, own->im - p * all->im };
}

static void lock_function(struct estimate_lock_function *result, const struct fold *fold, size_t f,
			  double tests)
{
	const double n = (double)fold->n_samples;
	const double p = (double)fold->counts[fold->watched[f]] / n;
	const double spread = p * (1 - p);
	const double w_min = 4.6 + 1.6 * log(fold->n_harmonics / 8.0);
	double sum = 0;

	*result = (struct estimate_lock_function){
		.function = fold->watched[f], .share = p, .p_value = 1, .harmonic = 1
	};
	if (!(spread > 0))
		return;
	for (unsigned h = 0; h < fold->n_harmonics; h++) {
		const double square = phasor_square(fold_coherence(fold, f, p, h));
		const double w = square / (n * spread);

		if (w > result->w) {
			result->w = w;
			result->harmonic = h + 1;
		}
		if (w > w_min)
			sum += sqrt(fmax(0, square / (n * n) - spread / n));
	}
	result->p_value = fmin(1, exp(-result->w) * tests);
	result->error_hi = fmin(fmax(p, 1 - p), 1.25 * 2 * sum + 1.4 / sqrt(n));
	/* |A|/N is at most sin(pi p)/pi, reached when the function fills one stretch of the phase */
	result->any_value =
		sqrt(result->w * spread / n) > FULL_LOCK * sin(TWO_PI / 2 * p) / (TWO_PI / 2);
}

/* The joint statistic. The rest of the functions is one more, whose A is minus the sum of the others'. */
static void lock_joint(struct estimate_lock *lock, const struct fold *fold, double n_periods)
{
	const double n = (double)fold->n_samples;
	double rest = 1;

	for (size_t f = 0; f < fold->n_functions; f++)
		rest -= (double)fold->counts[fold->watched[f]] / n;
	lock->joint_df = (double)fold->n_functions - (rest * n < ESTIMATE_LOCK_FUNCTION_SAMPLES);
	lock->joint_p_value = 1;
	for (unsigned h = 0; h < fold->n_harmonics && lock->joint_df > 0; h++) {
		struct phasor others = { 0, 0 };
		double joint = 0;

		for (size_t f = 0; f < fold->n_functions; f++) {
			const double p = (double)fold->counts[fold->watched[f]] / n;
			const struct phasor a = fold_coherence(fold, f, p, h);

			joint += phasor_square(a) / (n * p);
			others.re -= a.re;
			others.im -= a.im;
		}
		if (rest * n >= ESTIMATE_LOCK_FUNCTION_SAMPLES)
			joint += phasor_square(others) / (n * rest);
		if (joint <= lock->joint)
			continue;
		lock->joint = joint;
		lock->joint_harmonic = h + 1;
	}
	if (lock->joint > 0)
		lock->joint_p_value = fmin(1, tail_chi2(2 * lock->joint, 2 * lock->joint_df) *
						      fold->n_harmonics * n_periods);
}

static void lock_judge(struct estimate_lock *lock, double n)
{
	lock->p_value = 1;
	lock->missed = MISSED_SCALE / sqrt(n);
	for (size_t f = 0; f < lock->n_functions; f++) {
		const struct estimate_lock_function *function = &lock->functions[f];

		if (function->w > lock->functions[lock->worst].w)
			lock->worst = f;
		if (function->p_value < P_POSSIBLE)
			lock->error_hi = fmax(lock->error_hi, function->error_hi);
	}
	if (!lock->n_functions)
		return;
	lock->p_value = lock->functions[lock->worst].p_value;
	lock->concentration = sqrt(lock->functions[lock->worst].w /
				   (n * lock->functions[lock->worst].share *
				    fmax(1 - lock->functions[lock->worst].share, 1e-12)));
	if (lock->p_value < P_LOCKED && lock->error_hi >= ERROR_LOCKED)
		lock->verdict = ESTIMATE_LOCK_LOCKED;
	else if (lock->p_value < P_POSSIBLE)
		lock->verdict = ESTIMATE_LOCK_POSSIBLE;
}

/* The functions with most samples, at least 20 each; slots[i] is the watched number of sample i's
 * function, or n_watched. */
static size_t watched_choose(size_t *watched, uint32_t *slots, const uint32_t *functions,
			     size_t n_samples, const uint64_t *counts, size_t n_functions,
			     uint32_t *slot_of)
{
	size_t n = 0;

	for (size_t s = 0; s < n_functions; s++) {
		size_t at = n;

		if (counts[s] < ESTIMATE_LOCK_FUNCTION_SAMPLES)
			continue;
		while (at > 0 && counts[watched[at - 1]] < counts[s])
			at--;
		if (at == ESTIMATE_LOCK_FUNCTIONS)
			continue;
		n = n < ESTIMATE_LOCK_FUNCTIONS ? n + 1 : n;
		for (size_t i = n - 1; i > at; i--)
			watched[i] = watched[i - 1];
		watched[at] = s;
	}
	for (size_t s = 0; s < n_functions; s++)
		slot_of[s] = (uint32_t)n;
	for (size_t f = 0; f < n; f++)
		slot_of[watched[f]] = (uint32_t)f;
	for (size_t i = 0; i < n_samples; i++)
		slots[i] = slot_of[functions[i]];
	return n;
}

struct canary_memory {
	uint64_t *counts;
	uint32_t *slots, *slot_of;
	struct phasor *sums;
};

static bool canary_allocate(struct canary_memory *memory, size_t n_samples, size_t n_functions)
{
	memory->counts = calloc(n_functions + 1, sizeof(*memory->counts));
	memory->slot_of = calloc(n_functions + 1, sizeof(*memory->slot_of));
	memory->slots = calloc(n_samples + 1, sizeof(*memory->slots));
	memory->sums = calloc((ESTIMATE_LOCK_FUNCTIONS + 1) * (size_t)HARMONICS_MAX,
			      sizeof(*memory->sums));
	return memory->counts && memory->slot_of && memory->slots && memory->sums;
}

static void canary_free(struct canary_memory *memory)
{
	free(memory->counts);
	free(memory->slot_of);
	free(memory->slots);
	free(memory->sums);
}

static void virtual_canary_run(struct estimate_lock *lock, struct fold *fold, const double *times,
			       const uint32_t *slots, double n_periods)
{
	const double tests = (double)fold->n_harmonics * (double)fold->n_functions * n_periods;

	for (size_t i = 0; i < (fold->n_functions + 1) * fold->n_harmonics; i++)
		fold->sums[i] = (struct phasor){ 0, 0 };
	fold_add(fold, times, slots, lock->period);
	lock->n_harmonics = fold->n_harmonics;
	lock->n_functions = fold->n_functions;
	for (size_t f = 0; f < fold->n_functions; f++)
		lock_function(&lock->functions[f], fold, f, tests);
	lock_joint(lock, fold, n_periods);
	lock_judge(lock, (double)fold->n_samples);
}

enum status estimate_virtual_canary(struct estimate_lock *results, const double *times,
				    const uint32_t *functions, size_t n_samples, size_t n_functions,
				    const double *periods, size_t n_periods, double unit_ns,
				    struct error *error)
{
	size_t watched[ESTIMATE_LOCK_FUNCTIONS];
	struct canary_memory memory = { 0 };
	struct fold fold = { .n_samples = n_samples, .watched = watched };
	enum status status = STATUS_OK;

	for (size_t m = 0; m < n_periods; m++) {
		results[m] = (struct estimate_lock){ .period = periods[m], .p_value = 1 };
		if (!(periods[m] > 0))
			return error_set(error, STATUS_USAGE, "a clock cannot have the period %g",
					 periods[m]);
	}
	for (size_t i = 0; i < n_samples; i++)
		if (functions[i] >= n_functions || !isfinite(times[i]))
			return error_set(error, STATUS_CORRUPT,
					 "estimate: sample %zu has no function or no time", i);
	if (!canary_allocate(&memory, n_samples, n_functions)) {
		status = error_set(error, STATUS_NO_MEMORY, "estimate: no memory for %zu samples",
				   n_samples);
		goto out;
	}
	for (size_t i = 0; i < n_samples; i++)
		memory.counts[functions[i]]++;
	fold.n_functions = watched_choose(watched, memory.slots, functions, n_samples,
					  memory.counts, n_functions, memory.slot_of);
	fold.counts = memory.counts;
	fold.sums = memory.sums;
	for (size_t m = 0; m < n_periods; m++) {
		if (n_samples < ESTIMATE_SAMPLES_MIN || !fold.n_functions) {
			results[m].why = n_samples < ESTIMATE_SAMPLES_MIN ? why_few : why_functions;
			continue;
		}
		fold.n_harmonics = harmonics_for(periods[m], unit_ns);
		virtual_canary_run(&results[m], &fold, times, memory.slots, (double)n_periods);
	}
out:
	canary_free(&memory);
	return status;
}

bool estimate_order_biased(double share_a, double error_a, double share_b, double error_b)
{
	return error_a + error_b >= fabs(share_a - share_b);
}
