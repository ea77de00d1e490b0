/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/marker.h"

#include <math.h>
#include <stdlib.h>

#include "estimate/quantile.h"

#define TWO_PI       6.28318530717958647693
#define HARMONICS    20
#define BINS         ESTIMATE_PHASE_BINS
#define P_DEPENDENCE 0.01
#define P_LOCKED     0.01
#define P_POSSIBLE   0.05
#define ERROR_LOCKED 0.02
#define STRETCH      100 /* samples in a row between which shares are taken for constant */
#define PHASES_MIN   50
#define EXPECTED_MIN \
	5.0 /* a function below this per bin joins the others in the chi-squared test */

static const char why_few[] = "fewer than 50 samples between markers";

size_t estimate_phases(double *phases, const double *times, size_t n_times, const double *markers,
		       size_t n_markers, double gap_max)
{
	size_t n = 0;

	for (size_t i = 0; i < n_times; i++) {
		size_t low = 0, high = n_markers;
		double length;

		phases[i] = -1;
		/* the first marker after the sample */
		while (low < high) {
			const size_t middle = low + (high - low) / 2;

			if (markers[middle] > times[i])
				high = middle;
			else
				low = middle + 1;
		}
		if (!low || low == n_markers)
			continue;
		length = markers[low] - markers[low - 1];
		if (!(length > 0) || (gap_max > 0 && length > gap_max))
			continue;
		phases[i] = fmin((times[i] - markers[low - 1]) / length, 1 - 0x1p-53);
		n++;
	}
	return n;
}

struct estimate_h_test estimate_h_test(const double *phases, size_t n, double n_candidates)
{
	double c[HARMONICS] = { 0 }, s[HARMONICS] = { 0 }, z2 = 0;
	struct estimate_h_test test = { .p_value = 1 };

	for (size_t i = 0; i < n; i++) {
		const double angle = TWO_PI * phases[i];

		if (!(phases[i] >= 0))
			continue;
		test.n++;
		for (unsigned m = 0; m < HARMONICS; m++) {
			c[m] += cos(angle * (m + 1));
			s[m] += sin(angle * (m + 1));
		}
	}
	if (!test.n)
		return test;
	for (unsigned m = 0; m < HARMONICS; m++) {
		z2 += 2 / (double)test.n * (c[m] * c[m] + s[m] * s[m]);
		if (m && z2 - 4 * m <= test.h)
			continue;
		test.h = z2 - 4 * m;
		test.harmonics = m + 1;
	}
	test.concentration = sqrt(c[0] * c[0] + s[0] * s[0]) / (double)test.n;
	test.p_value = fmin(1, exp(-0.4 * test.h) * fmax(n_candidates, 1));
	return test;
}

struct bins {
	double *by_function; /* n_functions x BINS */
	double *expected;    /* the same, if functions did not depend on phase */
	double *stretch;     /* n_functions: counts of one stretch */
	double *totals;      /* n_functions */
	double fixed[BINS], randomised[BINS];
	double n_fixed, n_randomised;
};

static size_t bin_of(double phase)
{
	const size_t bin = (size_t)(phase * BINS);

	return bin < BINS ? bin : BINS - 1;
}

/* Chi-squared of function x bin; functions too rare for it are one row together. What is expected is
 * computed stretch by stretch of time: a clock that keeps its period for a while favours some phases
 * then, and a program may favour some functions then, which is no dependence of one on the other. */
static double dependence_p(const struct bins *bins, size_t n_functions)
{
	double rare[BINS] = { 0 }, rare_expected[BINS] = { 0 }, rare_total = 0, chi2 = 0, df = 0;

	for (size_t s = 0; s <= n_functions; s++) {
		const bool last = s == n_functions;
		const double total = last ? rare_total : bins->totals[s];
		const double *row = last ? rare : bins->by_function + s * BINS;
		const double *expected = last ? rare_expected : bins->expected + s * BINS;

		if (!(total > 0))
			continue;
		if (total < EXPECTED_MIN * BINS && !last) {
			for (size_t b = 0; b < BINS; b++) {
				rare[b] += row[b];
				rare_expected[b] += expected[b];
			}
			rare_total += total;
			continue;
		}
		for (size_t b = 0; b < BINS; b++)
			if (expected[b] > 0)
				chi2 += (row[b] - expected[b]) * (row[b] - expected[b]) /
					expected[b];
		df++;
	}
	return df > 1 ? tail_chi2(chi2, (df - 1) * (BINS - 1)) : 1;
}

/* x_s = |sum_b (f_b - r_b) p_{s|b}|: what re-weighting the randomised samples to the fixed clock's phases
 * does to the share. */
static void errors_set(struct estimate_marker *marker, const struct bins *bins, size_t n_functions)
{
	for (size_t s = 0; s < n_functions; s++) {
		double error = 0;

		for (size_t b = 0; b < BINS; b++) {
			const double r = bins->randomised[b] / bins->n_randomised;
			const double f = bins->fixed[b] / bins->n_fixed;

			if (bins->randomised[b] > 0)
				error += (f - r) * bins->by_function[s * BINS + b] /
					 bins->randomised[b];
		}
		marker->error[s] = fabs(error);
		marker->error_hi = fmax(marker->error_hi, fabs(error));
	}
}

/* Adds what one stretch of samples, [from, to), leads one to expect. */
static void stretch_expect(struct bins *bins, const double *phases, const uint32_t *functions,
			   size_t from, size_t to)
{
	double in_bin[BINS] = { 0 }, n = 0;

	for (size_t i = from; i < to; i++)
		if (phases[i] >= 0) {
			in_bin[bin_of(phases[i])]++;
			bins->stretch[functions[i]]++;
			n++;
		}
	for (size_t i = from; i < to; i++) {
		const uint32_t s = functions[i];

		for (size_t b = 0; bins->stretch[s] > 0 && b < BINS; b++)
			bins->expected[s * BINS + b] += bins->stretch[s] * in_bin[b] / n;
		bins->stretch[s] = 0;
	}
}

static void bins_fill(struct bins *bins, const double *fixed, size_t n_fixed,
		      const double *randomised, const uint32_t *functions, size_t n_randomised)
{
	for (size_t i = 0; i < n_fixed; i++)
		if (fixed[i] >= 0) {
			bins->fixed[bin_of(fixed[i])]++;
			bins->n_fixed++;
		}
	for (size_t i = 0; i < n_randomised; i++)
		if (randomised[i] >= 0) {
			bins->by_function[functions[i] * BINS + bin_of(randomised[i])]++;
			bins->totals[functions[i]]++;
			bins->randomised[bin_of(randomised[i])]++;
			bins->n_randomised++;
		}
	for (size_t i = 0; i < n_randomised; i += STRETCH)
		stretch_expect(bins, randomised, functions, i,
			       i + STRETCH < n_randomised ? i + STRETCH : n_randomised);
}

static void marker_judge(struct estimate_marker *marker, const struct bins *bins,
			 size_t n_functions)
{
	marker->dependence_p = dependence_p(bins, n_functions);
	errors_set(marker, bins, n_functions);
	if (marker->dependence_p >= P_DEPENDENCE)
		return;
	if (marker->fixed.p_value < P_LOCKED && marker->error_hi >= ERROR_LOCKED)
		marker->verdict = ESTIMATE_LOCK_LOCKED;
	else if (marker->fixed.p_value < P_POSSIBLE)
		marker->verdict = ESTIMATE_LOCK_POSSIBLE;
}

enum status estimate_marker(struct estimate_marker *marker, const double *fixed, size_t n_fixed,
			    const double *randomised, const uint32_t *functions,
			    size_t n_randomised, size_t n_functions, double n_candidates,
			    struct error *error)
{
	struct bins bins = { 0 };
	enum status status = STATUS_OK;

	*marker = (struct estimate_marker){ .dependence_p = 1 };
	for (size_t i = 0; i < n_randomised; i++)
		if (functions[i] >= n_functions)
			return error_set(error, STATUS_CORRUPT,
					 "estimate: sample %zu has function %u of %zu", i,
					 functions[i], n_functions);
	marker->error = calloc(n_functions + 1, sizeof(*marker->error));
	bins.by_function = calloc(n_functions * BINS + 1, sizeof(*bins.by_function));
	bins.totals = calloc(n_functions + 1, sizeof(*bins.totals));
	bins.expected = calloc(n_functions * BINS + 1, sizeof(*bins.expected));
	bins.stretch = calloc(n_functions + 1, sizeof(*bins.stretch));
	if (marker->error && bins.by_function && bins.totals && bins.expected && bins.stretch) {
		bins_fill(&bins, fixed, n_fixed, randomised, functions, n_randomised);
		marker->fixed = estimate_h_test(fixed, n_fixed, n_candidates);
		if (bins.n_fixed < PHASES_MIN || bins.n_randomised < PHASES_MIN)
			marker->why = why_few;
		else
			marker_judge(marker, &bins, n_functions);
	} else {
		estimate_marker_release(marker);
		status = error_set(error, STATUS_NO_MEMORY, "estimate: no memory for %zu functions",
				   n_functions);
	}
	free(bins.by_function);
	free(bins.totals);
	free(bins.expected);
	free(bins.stretch);
	return status;
}

void estimate_marker_release(struct estimate_marker *marker)
{
	free(marker->error);
	marker->error = NULL;
}
