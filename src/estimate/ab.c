/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/ab.h"

#include <math.h>
#include <stdlib.h>

#include "estimate/moderate.h"
#include "estimate/quantile.h"

#define COUNT_ADDED 0.5 /* to every count of a function that is missing in some run */

struct pairs {
	double mean, variance; /* of ln(B/A) */
	double floor;          /* phi: what counting alone contributes */
	bool sampled;
};

static double sum_of(const double *x, size_t n)
{
	double sum = 0;

	for (size_t i = 0; x && i < n; i++)
		sum += x[i];
	return sum;
}

static bool any_zero(const double *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!(x[i] > 0))
			return true;
	return false;
}

static bool all_equal(const double *x, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (x[i] < x[0] || x[i] > x[0])
			return false;
	return true;
}

/* The cost of run i with `added` samples more; a run without samples gets its side's cost per sample. */
static double cost(const double *x, const double *count, size_t i, double unit, double added)
{
	if (!count)
		return x[i] + added * unit;
	if (count[i] > 0)
		return x[i] * (count[i] + added) / count[i];
	return unit * added;
}

/* ln(B/A) by pair. Exact counts that are zero somewhere get half a count too. */
static struct pairs pairs_of(const struct estimate_ab_function *f, size_t n, double *y)
{
	const bool sampled = f->count_a && f->count_b;
	const double added = any_zero(f->a, n) || any_zero(f->b, n) ? COUNT_ADDED : 0;
	const double unit_a = sampled ? sum_of(f->a, n) / sum_of(f->count_a, n) : 1;
	const double unit_b = sampled ? sum_of(f->b, n) / sum_of(f->count_b, n) : 1;
	struct pairs pairs = { .sampled = sampled };

	for (size_t i = 0; i < n; i++) {
		y[i] = log(cost(f->b, f->count_b, i, unit_b, added) /
			   cost(f->a, f->count_a, i, unit_a, added));
		pairs.mean += y[i] / (double)n;
		if (sampled)
			pairs.floor += (1 / fmax(f->count_a[i] + added, COUNT_ADDED) +
					1 / fmax(f->count_b[i] + added, COUNT_ADDED)) /
				       (double)n;
	}
	for (size_t i = 0; i < n; i++)
		pairs.variance += (y[i] - pairs.mean) * (y[i] - pairs.mean) / (double)(n - 1);
	if (!sampled) {
		/* a counter cannot be known better than to one count: variance 1/12 of a count */
		const double a = sum_of(f->a, n) / (double)n, b = sum_of(f->b, n) / (double)n;

		if (a > 0 && b > 0)
			pairs.floor = (1 / (a * a) + 1 / (b * b)) / 12;
	}
	return pairs;
}

/* Chances are exact whatever the runs do: with labels exchanged at random within pairs, the other side's
 * r runs that have the function would all fall on one side with chance 2 * 2^-r. Counts by themselves
 * would call one burst in one run a change. */
static void row_absent(struct estimate_ab_row *row, const double *count, const double *x, size_t n,
		       double exposure, double exposure_absent)
{
	const double total = count ? sum_of(count, n) : sum_of(x, n);
	double runs = 0, by_count = 1;

	for (size_t i = 0; i < n; i++)
		runs += x[i] > 0;
	if (exposure > 0 && exposure_absent > 0) {
		by_count = 2 * pow(exposure / (exposure + exposure_absent), total);
		row->absent_hi = fmin(1, 2.995732 / exposure_absent);
	}
	row->p_value = fmin(1, fmax(by_count, 2 * pow(2, -runs)));
	if (!(exposure > 0 && exposure_absent > 0))
		row->p_value = fmin(1, 2 * pow(2, -runs));
}

static void row_exact(struct estimate_ab_row *row, const struct estimate_ab_function *f, size_t n)
{
	row->method = ESTIMATE_AB_EXACT;
	row->ratio = f->a[0] > 0 ? f->b[0] / f->a[0] : f->b[0] > 0 ? INFINITY : 1;
	row->lo = row->hi = row->ratio;
	row->p_value = f->a[0] < f->b[0] || f->a[0] > f->b[0] ? fmin(1, 2 * pow(4, -(double)n)) : 1;
}

static void row_test(struct estimate_ab_row *row, const struct pairs *pairs,
		     const struct moderation *moderation, double n, double confidence)
{
	const double nu = n - 1;
	double variance = fmax(pairs->variance, pairs->floor), df = nu, half;

	row->method = ESTIMATE_AB_OWN;
	if (moderation) {
		row->method = ESTIMATE_AB_MODERATED;
		variance = fmax(variance, moderation_variance(moderation, variance, nu));
		df += moderation->d0;
	}
	half = sqrt(variance / n);
	row->ratio = exp(pairs->mean);
	if (half > 0)
		row->p_value = 2 * tail_t(fabs(pairs->mean) / half, df);
	else
		row->p_value = pairs->mean < 0 || pairs->mean > 0 ? 0 : 1;
	half *= quantile_t((1 + confidence) / 2, df);
	row->lo = exp(pairs->mean - half);
	row->hi = exp(pairs->mean + half);
}

/* Method and data of one function; false: `pairs` is to be tested by t. */
static bool row_special(struct estimate_ab_row *row, const struct estimate_ab_function *f, size_t n,
			const struct estimate_ab_options *options)
{
	const double a = sum_of(f->a, n), b = sum_of(f->b, n);

	*row = (struct estimate_ab_row){
		.mean_a = n ? a / (double)n : 0,
		.mean_b = n ? b / (double)n : 0,
		.ratio = NAN,
		.lo = NAN,
		.hi = NAN,
		.p_value = 1,
		.absent_hi = NAN,
	};
	if (n < 2 || (!(a > 0) && !(b > 0)))
		return true;
	if (!f->count_a && all_equal(f->a, n) && all_equal(f->b, n)) {
		row_exact(row, f, n);
		return true;
	}
	if (!(a > 0)) {
		row->method = ESTIMATE_AB_ABSENT_A;
		row->ratio = INFINITY;
		row_absent(row, f->count_b, f->b, n, options->exposure_b, options->exposure_a);
		return true;
	}
	if (!(b > 0)) {
		row->method = ESTIMATE_AB_ABSENT_B;
		row->ratio = 0;
		row_absent(row, f->count_a, f->a, n, options->exposure_a, options->exposure_b);
		return true;
	}
	return false;
}

static int p_compare(const void *left, const void *right, void *argument)
{
	const struct estimate_ab_row *rows = argument;
	const double a = rows[*(const size_t *)left].p_value;
	const double b = rows[*(const size_t *)right].p_value;

	return (a > b) - (a < b);
}

/* Holm's adjusted p: the running maximum of (M - m) p_(m); Benjamini and Hochberg's: the running minimum
 * from above of M p_(m)/m. */
static void adjust(struct estimate_ab_row *rows, size_t *order, size_t n)
{
	double holm = 0, suspect = 1;
	size_t tested = 0;

	for (size_t i = 0; i < n; i++) {
		rows[i].p_adjusted = rows[i].q_value = 1;
		if (rows[i].method != ESTIMATE_AB_TOO_FEW)
			order[tested++] = i;
	}
	qsort_r(order, tested, sizeof(*order), p_compare, rows);
	for (size_t m = 0; m < tested; m++) {
		holm = fmax(holm, fmin(1, (double)(tested - m) * rows[order[m]].p_value));
		rows[order[m]].p_adjusted = holm;
	}
	for (size_t m = tested; m-- > 0;) {
		suspect = fmin(suspect, (double)tested * rows[order[m]].p_value / (double)(m + 1));
		rows[order[m]].q_value = suspect;
	}
}

static void verdict_set(struct estimate_ab_row *row, double alpha, double same_within)
{
	row->verdict = ESTIMATE_AB_UNRESOLVED;
	if (row->method == ESTIMATE_AB_TOO_FEW)
		return;
	if (row->p_adjusted <= alpha)
		row->verdict = row->ratio < 1 ? ESTIMATE_AB_LESS : ESTIMATE_AB_MORE;
	else if (row->method == ESTIMATE_AB_EXACT && row->p_value >= 1)
		row->verdict = ESTIMATE_AB_SAME;
	else if (same_within > 0 && row->lo >= 1 / (1 + same_within) && row->hi <= 1 + same_within)
		row->verdict = ESTIMATE_AB_SAME;
}

static const struct moderation *moderation_of(struct moderation *moderation,
					      const struct pairs *pairs, const bool *special,
					      double *variances, size_t n_functions, size_t n_pairs)
{
	size_t n = 0;

	for (size_t i = 0; i < n_functions; i++) {
		const double variance = fmax(pairs[i].variance, pairs[i].floor);

		if (!special[i] && variance > 0)
			variances[n++] = variance;
	}
	if (n < ESTIMATE_AB_MODERATED_MIN || n_pairs < 3)
		return NULL;
	*moderation = moderation_fit(variances, n, (double)n_pairs - 1);
	return moderation;
}

enum status estimate_ab(struct estimate_ab_row *rows, const struct estimate_ab_function *functions,
			size_t n_functions, size_t n_pairs,
			const struct estimate_ab_options *options, struct error *error)
{
	const double confidence = options->confidence > 0 ? options->confidence : 0.95;
	const double alpha = options->alpha > 0 ? options->alpha : 0.05;
	struct pairs *pairs = calloc(n_functions + 1, sizeof(*pairs));
	bool *special = calloc(n_functions + 1, sizeof(*special));
	double *numbers = calloc(n_functions + n_pairs + 1, sizeof(*numbers));
	size_t *order = calloc(n_functions + 1, sizeof(*order));
	const struct moderation *moderation;
	struct moderation fitted;
	enum status status = STATUS_OK;

	if (!pairs || !special || !numbers || !order) {
		status = error_set(error, STATUS_NO_MEMORY, "estimate: no memory for %zu functions",
				   n_functions);
		goto out;
	}
	for (size_t i = 0; i < n_functions; i++) {
		special[i] = row_special(&rows[i], &functions[i], n_pairs, options);
		if (!special[i])
			pairs[i] = pairs_of(&functions[i], n_pairs, numbers);
	}
	moderation = moderation_of(&fitted, pairs, special, numbers, n_functions, n_pairs);
	for (size_t i = 0; i < n_functions; i++)
		if (!special[i])
			row_test(&rows[i], &pairs[i], moderation, (double)n_pairs, confidence);
	adjust(rows, order, n_functions);
	for (size_t i = 0; i < n_functions; i++)
		verdict_set(&rows[i], alpha, options->same_within);
out:
	free(pairs);
	free(special);
	free(numbers);
	free(order);
	return status;
}

double estimate_ab_deviating(size_t n_runs)
{
	return n_runs ? 1 - pow(0.05, 1 / (double)n_runs) : 1;
}
