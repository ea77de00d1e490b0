/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diagnose/regime.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "estimate/quantile.h"

#define SPLIT_P          0.01
#define SPLIT_MOVE       0.02 /* of some share, between the two sides */
#define FUNCTION_SAMPLES 20
#define MISSING_PART     0.1 /* an epoch with so much lost or throttled is left out */

/* Counts over the estimates' clocks, by watched function and epoch; the last row is everything. */
struct counts {
	uint32_t function[REGIME_FUNCTIONS];
	size_t n_functions, n_epochs;
	double *of; /* (n_functions + 1) x n_epochs */
	bool *used; /* by epoch */
};

struct segment {
	size_t from, to; /* epochs [from, to) */
	/* its best split: the first epoch of the right side, 0: none */
	size_t split;
	double p, move;
};

void regimes_release(struct regimes *regimes)
{
	free(regimes->epochs);
	memset(regimes, 0, sizeof(*regimes));
}

static double count_at(const struct counts *counts, size_t f, size_t epoch)
{
	return counts->of[f * counts->n_epochs + epoch];
}

static bool counts_make(struct counts *counts, const struct matrix *matrix)
{
	counts->n_epochs = matrix->n_epochs;
	counts->n_functions = 0;
	for (size_t f = 0; f + 1 < matrix->n && counts->n_functions < REGIME_FUNCTIONS; f++)
		if (matrix->functions[f].samples >= FUNCTION_SAMPLES)
			counts->function[counts->n_functions++] = (uint32_t)f;
	counts->of = calloc((counts->n_functions + 1) * counts->n_epochs + 1, sizeof(*counts->of));
	counts->used = calloc(counts->n_epochs + 1, sizeof(*counts->used));
	if (!counts->of || !counts->used)
		return false;
	for (uint32_t e = 0; e < matrix->n_epochs; e++)
		for (uint32_t c = 0; c < matrix->n_clocks; c++) {
			for (size_t f = 0; f < counts->n_functions; f++)
				counts->of[f * counts->n_epochs + e] +=
					*matrix_cell(matrix, counts->function[f], e, c);
			for (size_t f = 0; f < matrix->n; f++)
				counts->of[counts->n_functions * counts->n_epochs + e] +=
					*matrix_cell(matrix, f, e, c);
		}
	return true;
}

static void counts_free(struct counts *counts)
{
	free(counts->of);
	free(counts->used);
}

/* Two sides of a comparison: samples of a function and of all. */
static double z_of(double left, double n_left, double right, double n_right, double design_effect)
{
	const double p = (left + right) / (n_left + n_right);
	const double spread = p * (1 - p) * (1 / n_left + 1 / n_right) * fmax(1, design_effect);

	return spread > 0 ? (left / n_left - right / n_right) / sqrt(spread) : 0;
}

static double sum_of(const struct counts *counts, size_t f, size_t from, size_t to)
{
	double sum = 0;

	for (size_t e = from; e < to; e++)
		if (counts->used[e])
			sum += count_at(counts, f, e);
	return sum;
}

/* The best split of [from, to). */
static void segment_search(struct segment *segment, const struct counts *counts,
			   double design_effect)
{
	const double tests =
		(double)counts->n_functions * (double)(segment->to - segment->from - 1);
	double most = 0;

	segment->split = 0;
	segment->p = 1;
	segment->move = 0;
	for (size_t f = 0; f < counts->n_functions; f++) {
		const double n = sum_of(counts, counts->n_functions, segment->from, segment->to);
		const double all = sum_of(counts, f, segment->from, segment->to);
		double left = 0, n_left = 0;

		for (size_t split = segment->from + 1; split < segment->to; split++) {
			double z, move;

			if (counts->used[split - 1]) {
				left += count_at(counts, f, split - 1);
				n_left += count_at(counts, counts->n_functions, split - 1);
			}
			if (!(n_left > 0) || !(n - n_left > 0))
				continue;
			move = fabs(left / n_left - (all - left) / (n - n_left));
			z = fabs(z_of(left, n_left, all - left, n - n_left, design_effect));
			if (z <= most || move < SPLIT_MOVE)
				continue;
			most = z;
			segment->split = split;
			segment->move = move;
		}
	}
	if (segment->split)
		segment->p = fmin(1, 2 * tail_normal(most) * tests);
}

/* Splits until no segment has a significant split left. Segments stay in the order of time. */
static size_t segments_find(struct segment segments[REGIMES_MAX], const struct counts *counts,
			    double design_effect, struct regimes *regimes)
{
	size_t n = 1;

	regimes->p_value = 1;
	segments[0] = (struct segment){ .from = 0, .to = counts->n_epochs };
	segment_search(&segments[0], counts, design_effect);
	while (n < REGIMES_MAX) {
		size_t best = n;

		for (size_t i = 0; i < n; i++)
			if (segments[i].split && segments[i].p < SPLIT_P &&
			    (best == n || segments[i].p < segments[best].p))
				best = i;
		if (best == n)
			break;
		regimes->p_value = fmin(regimes->p_value, segments[best].p);
		regimes->largest = fmax(regimes->largest, segments[best].move);
		memmove(&segments[best + 1], &segments[best], (n - best) * sizeof(*segments));
		n++;
		segments[best + 1].from = segments[best].split;
		segments[best].to = segments[best].split;
		segment_search(&segments[best], counts, design_effect);
		segment_search(&segments[best + 1], counts, design_effect);
	}
	return n;
}

static int function_compare(const void *left, const void *right)
{
	const struct regime_function *a = left, *b = right;
	const double x = a->observed - a->expected, y = b->observed - b->expected;

	if (x > y || x < y)
		return x > y ? -1 : 1;
	return (a->function > b->function) - (a->function < b->function);
}

/* Spread of each share over the epochs, beside that of independent samples with this design effect. */
static void functions_spread(struct regimes *regimes, const struct counts *counts,
			     const struct segment *segments, double design_effect)
{
	for (size_t f = 0; f < counts->n_functions; f++) {
		struct regime_function *result = &regimes->functions[f];
		const double n = sum_of(counts, counts->n_functions, 0, counts->n_epochs);
		const double p = n > 0 ? sum_of(counts, f, 0, counts->n_epochs) / n : 0;
		double squares = 0, epochs = 0, inverse = 0;

		*result = (struct regime_function){ .function = counts->function[f], .low = 1 };
		for (size_t e = 0; e < counts->n_epochs; e++) {
			const double n_e = count_at(counts, counts->n_functions, e);

			if (!counts->used[e] || !(n_e > 0))
				continue;
			squares += n_e * (count_at(counts, f, e) / n_e - p) *
				   (count_at(counts, f, e) / n_e - p);
			inverse += 1;
			epochs += n_e;
		}
		/* weighted by samples: sum n_e (p_e - p)^2 has expectation (E - 1) p (1 - p) d */
		if (inverse > 1 && epochs > 0) {
			result->observed = sqrt(squares / epochs);
			result->expected =
				sqrt((inverse - 1) * p * (1 - p) * fmax(1, design_effect) / epochs);
		}
		for (size_t i = 0; i < regimes->n; i++) {
			const double all = sum_of(counts, counts->n_functions, segments[i].from,
						  segments[i].to);
			const double share =
				all > 0 ? sum_of(counts, f, segments[i].from, segments[i].to) / all
					: p;

			if (share < result->low || !i) {
				result->low = share;
				result->falls = true;
			}
			if (share > result->high || !i) {
				result->high = share;
				result->falls = false;
			}
		}
	}
	regimes->n_functions = counts->n_functions;
	qsort(regimes->functions, regimes->n_functions, sizeof(*regimes->functions),
	      function_compare);
}

/* Epochs with missing samples against those without: the measurement, not the workload. */
static void missing_compare(struct regimes *regimes, const struct counts *counts,
			    double design_effect)
{
	double n_in = 0, n_out = 0;

	regimes->missing_z = regimes->missing_p = NAN;
	for (size_t e = 0; e < counts->n_epochs; e++)
		*(counts->used[e] ? &n_in : &n_out) += count_at(counts, counts->n_functions, e);
	if (n_in < FUNCTION_SAMPLES || n_out < FUNCTION_SAMPLES)
		return;
	regimes->missing_z = 0;
	for (size_t f = 0; f < counts->n_functions; f++) {
		double in = 0, out = 0, z;

		for (size_t e = 0; e < counts->n_epochs; e++)
			*(counts->used[e] ? &in : &out) += count_at(counts, f, e);
		z = fabs(z_of(in, n_in, out, n_out, design_effect));
		if (z <= regimes->missing_z)
			continue;
		regimes->missing_z = z;
		regimes->missing_function = counts->function[f];
		regimes->missing_shift = fabs(in / n_in - out / n_out);
	}
	regimes->missing_p =
		fmin(1, 2 * tail_normal(regimes->missing_z) * (double)counts->n_functions);
}

/* What the manifest says of the epochs of the profile, which are its own or groups of them. */
static void epochs_describe(struct regimes *regimes, const struct epochs *epochs,
			    const struct manifest *manifest, uint64_t last_ns)
{
	for (size_t e = 0; e < regimes->n_epochs; e++) {
		struct regime_epoch *epoch = &regimes->epochs[e];
		double samples = 0, periods = 0, lost = 0, throttled = 0, room = 0;

		epoch->start_ns = epochs->start_ns[e];
		epoch->end_ns = e + 1 < epochs->n ? epochs->start_ns[e + 1] : last_ns;
		epoch->mean_period = NAN;
		for (size_t i = 0; manifest && i < manifest->n_epochs; i++) {
			const struct manifest_epoch *from = &manifest->epochs[i];

			if (from->start_ns < epoch->start_ns ||
			    (e + 1 < regimes->n_epochs && from->start_ns >= epoch->end_ns))
				continue;
			epoch->end_ns = from->end_ns;
			for (size_t k = 0; k < manifest->n_clocks; k++) {
				if (!manifest->clocks[k].randomised)
					continue;
				samples += (double)from->clocks[k].samples;
				lost += (double)from->clocks[k].lost;
				throttled += (double)from->clocks[k].throttled_ns;
				room += (double)(from->end_ns - from->start_ns);
				periods += (double)from->clocks[k].samples *
					   from->clocks[k].mean_period;
			}
		}
		if (samples > 0)
			epoch->mean_period = periods / samples;
		if (lost + samples > 0)
			epoch->missing = lost / (lost + samples);
		if (room > 0)
			epoch->missing = fmax(epoch->missing, fmin(1, throttled / room));
	}
}

enum status regimes_find(struct regimes *regimes, const struct matrix *matrix,
			 const struct epochs *epochs, const struct manifest *manifest,
			 uint64_t last_ns, double design_effect, struct error *error)
{
	struct segment segments[REGIMES_MAX];
	struct counts counts = { 0 };

	memset(regimes, 0, sizeof(*regimes));
	regimes->epochs = calloc(matrix->n_epochs + 1, sizeof(*regimes->epochs));
	if (!regimes->epochs || !counts_make(&counts, matrix)) {
		counts_free(&counts);
		regimes_release(regimes);
		return error_set(error, STATUS_NO_MEMORY, "not enough memory for the regimes");
	}
	regimes->n_epochs = matrix->n_epochs;
	epochs_describe(regimes, epochs, manifest, last_ns);
	for (size_t e = 0; e < counts.n_epochs; e++) {
		regimes->epochs[e].samples = (uint64_t)count_at(&counts, counts.n_functions, e);
		counts.used[e] = regimes->epochs[e].missing < MISSING_PART;
		regimes->missing_epochs += !counts.used[e];
	}
	regimes->n = segments_find(segments, &counts, design_effect, regimes);
	for (size_t i = 0; i < regimes->n; i++)
		for (size_t e = segments[i].from; e < segments[i].to; e++)
			regimes->epochs[e].regime = (uint32_t)i;
	functions_spread(regimes, &counts, segments, design_effect);
	missing_compare(regimes, &counts, design_effect);
	counts_free(&counts);
	return STATUS_OK;
}
