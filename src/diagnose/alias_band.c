/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rayleigh's exp(-W) takes samples for independent. They are not where several fall into one visit of a
 * function, or where a program wanders around a frequency without keeping time: then W is large over a
 * whole band. A clock is in step only with a line that stands out of its band. So W is measured against
 * the mean B of W at m frequencies beside it, 1 to 6 % away (nearer by, a program that is cyclic only at
 * times has power of its own), which for exponentially distributed W gives
 *	P = (1 + W/(m B))^-m	(the F distribution with 2 and 2m degrees of freedom)
 * and P is never taken below exp(-W). The same for all functions together (estimate_lock.joint).
 *
 * Where the scheduler takes turns with a program, its stints begin at ticks: samples of one stint share the
 * phase that the program happened to have, and at multiples of the tick's frequency, and only there, those
 * phases add up as if samples agreed. There B is at least the part of W that single stretches of 100 ms
 * have by themselves, sum_b |A_b|^2 / (N p (1 - p)): a lock has to hold across stretches.
 */
#include <complex.h>
#include <math.h>
#include <stdlib.h>

#include "diagnose/alias_axis.h"
#include "estimate/quantile.h"

/* Frequencies beside a line: so many on either side, relative to its own frequency, but at least so many
 * times one over the length of the recording, where the line itself and a slow sweep no longer reach. */
#define BAND           64
#define BAND_FROM      0.01
#define BAND_TO        0.06
#define BAND_FROM_BINS 3.0
#define BAND_TO_BINS   18.0

/* Stretches of an interrupted program: long against a turn of the scheduler. */
#define STRETCH_NS    1e8
#define STRETCHES_MIN 20.0
#define STRETCHES_MAX 512.0

#define HARMONICS_MAX 256 /* as in estimate/lock.c */
#define PHASES        1000
#define TWO_PI        6.28318530717958647693

static int number_compare(const void *left, const void *right)
{
	const double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

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

/* The same from the line itself: what each stretch of time contributes alone. */
static void stretch_means(const struct axis *axis, const struct estimate_lock *lock,
			  double frequency, double means[ESTIMATE_LOCK_FUNCTIONS + 1])
{
	const double n = (double)axis->n, length = axis->times[axis->n - 1] - axis->times[0];
	const double stretch =
		length / fmin(fmax(length / STRETCH_NS, STRETCHES_MIN), STRETCHES_MAX);
	double joint = 0, own[ESTIMATE_LOCK_FUNCTIONS + 1] = { 0 };

	for (size_t i = 0; i < axis->n;) {
		const double end = (floor(axis->times[i] / stretch) + 1) * stretch;
		double complex sums[ESTIMATE_LOCK_FUNCTIONS + 1] = { 0 }, all = 0;

		for (; i < axis->n && axis->times[i] < end; i++) {
			const double turns = axis->times[i] * frequency;
			const double complex z = cexp(I * TWO_PI * (turns - floor(turns)));

			all += z;
			sums[axis->slots[i]] += z;
		}
		for (size_t f = 0; f < lock->n_functions; f++) {
			const double complex a = sums[f] - lock->functions[f].share * all;

			own[f] += creal(a) * creal(a) + cimag(a) * cimag(a);
		}
	}
	for (size_t f = 0; f < lock->n_functions; f++) {
		const double p = lock->functions[f].share;

		means[f] = fmax(means[f], own[f] / (n * p * (1 - p)));
		joint += own[f] / (n * p);
	}
	means[lock->n_functions] = fmax(means[lock->n_functions], joint);
}

static void means_at(const struct axis *axis, const struct estimate_lock *lock, double frequency,
		     double means[ESTIMATE_LOCK_FUNCTIONS + 1])
{
	band_means(axis, lock, frequency, means);
	if (axis->interrupted)
		stretch_means(axis, lock, frequency, means);
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

/*
 * A clock that is in step sees one phase of each harmonic, and which one is chance. At phase x of its period a
 * function's share differs from the true one by
 *	d(x) = sum over h of 2 Re(A_h/N exp(-2 pi i h x)),
 * over the harmonics that stand out of the noise, each reduced by what noise alone would give. The typical
 * error is what |d| stays below for 95 % of the phases. Its largest value would be the wrong measure: a
 * function that fills a thousandth of the cycle could be shown as all of it, but in one case of a thousand.
 */
static double error_typical(const struct axis *axis, const struct estimate_lock *lock,
			    const double complex *sums, double share)
{
	const double n = (double)axis->n, noise = share * (1 - share) / n;
	const double w_min = 4.6 + 1.6 * log(lock->n_harmonics / 8.0);
	double complex steps[HARMONICS_MAX], turning[HARMONICS_MAX];
	double errors[PHASES];
	size_t n_steps = 0;

	for (unsigned int h = 0; h < lock->n_harmonics && h < HARMONICS_MAX; h++) {
		const double square =
			(creal(sums[h]) * creal(sums[h]) + cimag(sums[h]) * cimag(sums[h])) /
			(n * n);

		if (square <= w_min * noise)
			continue;
		turning[n_steps] = sums[h] / n * sqrt(1 - noise / square);
		steps[n_steps++] = cexp(-I * TWO_PI * (h + 1) / PHASES);
	}
	for (size_t x = 0; x < PHASES; x++) {
		double d = 0;

		for (size_t i = 0; i < n_steps; i++) {
			d += 2 * creal(turning[i]);
			turning[i] *= steps[i];
		}
		errors[x] = fabs(d);
	}
	qsort(errors, PHASES, sizeof(*errors), number_compare);
	return fmin(errors[PHASES * 95 / 100], fmax(share, 1 - share));
}

/* Gives each function whose line stands out its typical error, and the lock the largest of them. */
static bool errors_typical(const struct axis *axis, struct estimate_lock *lock)
{
	const unsigned int h_max = lock->n_harmonics;
	double complex *sums = calloc((lock->n_functions + 2) * (size_t)h_max, sizeof(*sums));

	if (!sums)
		return false;
	for (size_t i = 0; i < axis->n; i++) {
		const double turns = axis->times[i] / lock->period;
		const double complex step = cexp(I * TWO_PI * (turns - floor(turns)));
		double complex *own = sums + axis->slots[i] * h_max;
		double complex *all = sums + (lock->n_functions + 1) * h_max, z = 1;

		for (unsigned int h = 0; h < h_max; h++) {
			/* written out: C's complex product would check for infinities */
			z = creal(z) * creal(step) - cimag(z) * cimag(step) +
			    I * (creal(z) * cimag(step) + cimag(z) * creal(step));
			own[h] += z;
			all[h] += z;
		}
	}
	lock->error_hi = 0;
	for (size_t f = 0; f < lock->n_functions; f++) {
		struct estimate_lock_function *function = &lock->functions[f];
		double complex *own = sums + f * h_max;

		for (unsigned int h = 0; h < h_max; h++)
			own[h] -= function->share * sums[(lock->n_functions + 1) * h_max + h];
		function->error_hi = error_typical(axis, lock, own, function->share);
		function->any_value = false;
		lock->error_hi = fmax(lock->error_hi, function->error_hi);
	}
	free(sums);
	return true;
}

/* The joint statistic has many degrees of freedom in its band, so that dividing by its mean is enough. */
bool axis_lock_correct(struct axis *axis, struct estimate_lock *lock, double n_periods)
{
	const double tests = (double)lock->n_harmonics * (double)lock->n_functions * n_periods;
	double means[ESTIMATE_LOCK_FUNCTIONS + 1], joint = 1, single = 1;
	unsigned int done = 0;

	if (lock->why || fmin(lock->p_value, lock->joint_p_value) >= 0.05)
		return true;
	slots_fill(axis, lock);
	if (lock->joint_p_value < 0.05) {
		done = lock->joint_harmonic;
		means_at(axis, lock, done / lock->period, means);
		joint = fmin(1,
			     tail_chi2(2 * lock->joint /
					       fmax(1, means[lock->n_functions] / lock->joint_df),
				       2 * lock->joint_df) *
				     lock->n_harmonics * n_periods);
	}
	if (lock->p_value < 0.05 && lock->functions[lock->worst].harmonic != done)
		means_at(axis, lock, lock->functions[lock->worst].harmonic / lock->period, means);
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
	return lock->p_value >= 0.05 || errors_typical(axis, lock);
}
