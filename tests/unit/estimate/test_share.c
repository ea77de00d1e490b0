/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "estimate/estimate.h"
#include "estimate/quantile.h"
#include "unit/estimate/table.h"

/* Draws `per_cell` samples per cell from shares p; p need not be normalised. */
static void draw(uint32_t *counts, size_t S, size_t E, size_t K, const double *p, int per_cell,
		 struct random *random)
{
	double sum = 0;

	memset(counts, 0, S * E * K * sizeof(*counts));
	for (size_t s = 0; s < S; s++)
		sum += p[s];
	for (size_t c = 0; c < E * K; c++)
		for (int i = 0; i < per_cell; i++) {
			double at = random_double(random) * sum;
			size_t s = 0;

			while (s + 1 < S && at >= p[s])
				at -= p[s++];
			counts[s * E * K + c]++;
		}
}

/* Sections 2 and 3 written out for one clock pair, plainly and without sharing code with src/. */
struct plain {
	double share, lo, hi, lo_workload, hi_workload, d, d_workload;
};

static double plain_v(const uint32_t *x, const double *n, size_t E, double P, double X, int epochs)
{
	double v = 0;

	for (size_t e = 0; e < E; e++) {
		const double a = (x[2 * e] - P * n[2 * e]) / X;
		const double b = (x[2 * e + 1] - P * n[2 * e + 1]) / X;

		v += epochs ? (double)E / (double)(E - 1) * (a + b) * (a + b) : (a - b) * (a - b);
	}
	return v;
}

/* df/chi2(0.3, df), df = 3 (sum q)^2/sum q^2 rounded down, q the squares that V sums. */
static double plain_limit(const uint32_t *x, const double *n, size_t E, double P, double X,
			  int epochs)
{
	double sum = 0, squares = 0, df;

	for (size_t e = 0; e < E; e++) {
		const double a = (x[2 * e] - P * n[2 * e]) / X;
		const double b = (x[2 * e + 1] - P * n[2 * e + 1]) / X;
		const double q = epochs ? (a + b) * (a + b) : (a - b) * (a - b);

		sum += q;
		squares += q * q;
	}
	df = floor(fmin(3 * sum * sum / squares, epochs ? (double)E - 1 : (double)E));
	return df < 10 ? INFINITY : df / quantile_chi2(0.3, df);
}

static void plain_wilson(double P, double n, double t, double c, double *lo, double *hi)
{
	const double a = t * t / n, half = t * sqrt(P * (1 - P) / n + a / (4 * n));

	*lo = fmax(0, (P + a / 2 - half) / (1 + a));
	*hi = fmin(1, (P + a / 2 + half) / (1 + a));
	if (c <= 5)
		*lo = fmin(*lo, quantile_chi2(0.025, 2 * P * n) / (2 * n));
}

static void plain_estimate(struct plain *plain, const uint32_t *counts, size_t S, size_t E)
{
	double *n = calloc(2 * E, sizeof(*n)), X = 0;
	double observed[2] = { 0, 0 }, binomial = 0;
	size_t seen = 0;

	assert_non_null(n);
	for (size_t i = 0; i < S * 2 * E; i++) {
		n[i % (2 * E)] += counts[i];
		X += counts[i];
	}
	for (int pass = 0; pass < 2; pass++)
		for (size_t s = 0; s < S; s++) {
			const uint32_t *x = counts + s * 2 * E;
			double c = 0, P, V0, d, f, own;
			bool pool;

			for (size_t i = 0; i < 2 * E; i++)
				c += x[i];
			P = c / X;
			V0 = P * (1 - P) / X;
			if (!pass && c > 0) {
				seen++;
				observed[0] += plain_v(x, n, E, P, X, 0) / P;
				observed[1] += plain_v(x, n, E, P, X, 1) / P;
				binomial += (1 - P) / X;
			}
			if (!pass || !(c > 0))
				continue;
			plain[s].share = P;
			own = plain_v(x, n, E, P, X, 0) / V0;
			f = c < 20 ? 0 : fmin(c, (double)E);
			d = (8 * observed[0] / binomial + f * own) / (8 + f);
			if (c >= 20 && d > own)
				d = fmin(d, own * plain_limit(x, n, E, P, X, 0));
			d = fmax(c < 20 ? fmax(1, d) : d, 0.02);
			plain[s].d = d;
			plain_wilson(P, X / d,
				     quantile_t(0.975, c < 20 ? (double)E * (double)(seen - 1)
							      : (double)E + 8),
				     c, &plain[s].lo, &plain[s].hi);
			own = plain_v(x, n, E, P, X, 1) / V0;
			f = fmin(c, (double)E - 1);
			d = (8 * observed[1] / binomial + f * own) / (8 + f);
			if (c >= 20 && d > own)
				d = fmin(d,
					 own * ((double)E - 1) / quantile_chi2(0.3, (double)E - 1));
			d = fmax(own, d);
			/* rare, and no more clumped than chance makes it in 95 % */
			pool = c < 20 &&
			       own <= quantile_chi2(0.95, (double)E - 1) / ((double)E - 1);
			d = pool ? observed[1] / binomial : d;
			d = fmax(c < 20 ? fmax(1, d) : d, 0.02);
			plain[s].d_workload = d;
			plain_wilson(P, X / d,
				     quantile_t(0.975,
						((double)E - 1) * (pool ? (double)(seen - 1) : 1)),
				     c, &plain[s].lo_workload, &plain[s].hi_workload);
		}
	free(n);
}

static void intervals_follow_the_formulas_written_out_plainly(void **state)
{
	enum { S = 12, E = 20 };
	const double p[S] = { 40, 20, 10, 9, 7, 5, 4, 2, 1, 1, 0.3, 0.05 };
	uint32_t counts[S * E * 2];
	struct plain plain[S] = { 0 };
	struct estimate_shares shares;
	struct test_table test;
	struct random random;

	(void)state;
	random_init(&random, 7, 0, 0, 0);
	draw(counts, S, E, 2, p, 50, &random);
	test_table_init(&test, S, E, 2, counts, NULL, NULL);
	plain_estimate(plain, counts, S, E);
	assert_int_equal(estimate_shares(&shares, &test.table, NULL, NULL), STATUS_OK);
	assert_null(shares.too_few);
	assert_null(shares.assumes);
	for (size_t s = 0; s < S; s++) {
		const struct estimate_row *row = &shares.rows[s];

		if (!row->samples)
			continue;
		assert_true(row->recording.supported);
		assert_near(row->recording.share, plain[s].share, 1e-12);
		assert_near(row->recording.lo, plain[s].lo, 1e-4 * plain[s].lo + 1e-9);
		assert_near(row->recording.hi, plain[s].hi, 1e-9);
		assert_near(row->effective_samples, fmin(2000, 2000 / plain[s].d), 1e-6);
		if (row->serial)
			continue;
		assert_near(row->workload.lo, plain[s].lo_workload, 1e-4 * plain[s].lo + 1e-9);
		assert_near(row->workload.hi, plain[s].hi_workload, 1e-9);
		assert_near(row->effective_samples_workload, fmin(2000, 2000 / plain[s].d_workload),
			    1e-6);
	}
	estimate_shares_release(&shares);
	test_table_release(&test);
}

static void a_function_without_samples_has_a_one_sided_bound_of_three_in_n(void **state)
{
	enum { S = 3, E = 10 };
	const double p[S] = { 1, 1, 0 };
	uint32_t counts[S * E * 2];
	struct estimate_shares shares;
	struct test_table test;
	struct random random;

	(void)state;
	random_init(&random, 8, 0, 0, 0);
	draw(counts, S, E, 2, p, 50, &random);
	test_table_init(&test, S, E, 2, counts, NULL, NULL);
	assert_int_equal(estimate_shares(&shares, &test.table, NULL, NULL), STATUS_OK);
	assert_true(shares.rows[2].recording.share == 0 && shares.rows[2].recording.lo == 0);
	assert_near(shares.rows[2].recording.hi, 2.995732 / 1000 * fmax(1, shares.design_effect),
		    1e-8);
	assert_true(shares.rows[2].workload.supported);
	estimate_shares_release(&shares);
	test_table_release(&test);
}

static void a_function_with_every_sample_keeps_a_lower_end_below_one(void **state)
{
	uint32_t counts[20 * 2];
	struct estimate_shares shares;
	struct test_table test;

	(void)state;
	for (int i = 0; i < 40; i++)
		counts[i] = 10;
	test_table_init(&test, 1, 20, 2, counts, NULL, NULL);
	assert_int_equal(estimate_shares(&shares, &test.table, NULL, NULL), STATUS_OK);
	assert_true(shares.rows[0].recording.hi == 1);
	/* 400 samples, all of them: d = 1, lower end 1/(1 + t^2/n), t(0.975, 28) */
	assert_near(shares.rows[0].recording.lo, 1 / (1 + 2.048407 * 2.048407 / 400), 1e-6);
	estimate_shares_release(&shares);
	test_table_release(&test);
}

static void too_few_samples_or_epochs_give_shares_but_no_interval(void **state)
{
	uint32_t counts[20 * 2] = { 0 };
	struct estimate_shares shares;
	struct test_table test;

	(void)state;
	for (int i = 0; i < 29; i++)
		counts[i] = 1;
	test_table_init(&test, 1, 20, 2, counts, NULL, NULL);
	assert_int_equal(estimate_shares(&shares, &test.table, NULL, NULL), STATUS_OK);
	assert_non_null(shares.too_few);
	assert_false(shares.rows[0].recording.supported);
	assert_ptr_equal(shares.rows[0].recording.why, shares.too_few);
	assert_true(shares.rows[0].recording.share == 1);
	estimate_shares_release(&shares);
	test_table_release(&test);

	for (int i = 0; i < 8; i++)
		counts[i] = 50;
	test_table_init(&test, 1, 4, 2, counts, NULL, NULL);
	assert_int_equal(estimate_shares(&shares, &test.table, NULL, NULL), STATUS_OK);
	assert_non_null(shares.too_few);
	estimate_shares_release(&shares);
	test_table_release(&test);
}

static void nothing_at_all_is_too_few_not_an_error(void **state)
{
	const uint32_t counts[4] = { 0 };
	struct estimate_shares shares;
	struct test_table test;

	(void)state;
	test_table_init(&test, 1, 2, 2, counts, NULL, NULL);
	assert_int_equal(estimate_shares(&shares, &test.table, NULL, NULL), STATUS_OK);
	assert_non_null(shares.too_few);
	assert_false(shares.serial);
	estimate_shares_release(&shares);
	test_table_release(&test);
	test_table_init(&test, 0, 0, 0, counts, NULL, NULL);
	assert_int_equal(estimate_shares(&shares, &test.table, NULL, NULL), STATUS_OK);
	assert_non_null(shares.too_few);
	assert_int_equal(shares.n_rows, 0);
	estimate_shares_release(&shares);
	test_table_release(&test);
}

static void five_to_nine_epochs_support_the_recording_but_not_the_workload(void **state)
{
	enum { S = 2, E = 6 };
	const double p[S] = { 1, 2 };
	uint32_t counts[S * E * 2];
	struct estimate_shares shares;
	struct test_table test;
	struct random random;

	(void)state;
	random_init(&random, 9, 0, 0, 0);
	draw(counts, S, E, 2, p, 50, &random);
	test_table_init(&test, S, E, 2, counts, NULL, NULL);
	assert_int_equal(estimate_shares(&shares, &test.table, NULL, NULL), STATUS_OK);
	assert_true(shares.rows[0].recording.supported);
	assert_false(shares.rows[0].workload.supported);
	assert_non_null(shares.rows[0].workload.why);
	estimate_shares_release(&shares);
	test_table_release(&test);
}

/* With one clock the interval is never narrower than the binomial one, and says what it assumes. */
static void one_clock_never_claims_more_than_independent_samples(void **state)
{
	enum { S = 3, E = 20 };
	uint32_t counts[S * E];
	struct estimate_shares shares;
	struct test_table test;

	(void)state;
	for (int i = 0; i < S * E; i++)
		counts[i] = 20; /* perfectly even: epoch differences are zero */
	test_table_init(&test, S, E, 1, counts, NULL, NULL);
	test.table.randomised = false;
	assert_int_equal(estimate_shares(&shares, &test.table, NULL, NULL), STATUS_OK);
	assert_true(shares.one_clock);
	assert_non_null(strstr(shares.assumes, "not locked"));
	assert_true(shares.rows[0].effective_samples == 1200);
	assert_true(isnan(shares.rows[0].variance_measurement));
	assert_true(isnan(shares.rows[0].variance_workload));
	estimate_shares_release(&shares);
	test_table_release(&test);
}

static void a_change_in_the_middle_is_called_serial_and_not_supported(void **state)
{
	enum { S = 2, E = 20 };
	uint32_t counts[S * E * 2];
	struct estimate_shares shares;
	struct test_table test;

	(void)state;
	for (int i = 0; i < E * 2; i++) {
		counts[i] = i < E ? 40 : 10;
		counts[E * 2 + i] = i < E ? 10 : 40;
	}
	test_table_init(&test, S, E, 2, counts, NULL, NULL);
	assert_int_equal(estimate_shares(&shares, &test.table, NULL, NULL), STATUS_OK);
	assert_true(shares.serial);
	assert_true(shares.rows[0].serial);
	assert_false(shares.rows[0].workload.supported);
	assert_true(shares.rows[0].changes < 2);
	assert_true(shares.rows[0].epochs_needed > 100);
	assert_true(isnan(shares.rows[0].variance_workload_hi));
	assert_true(shares.rows[0].variance_workload > 0);
	assert_true(shares.rows[0].recording.supported);
	estimate_shares_release(&shares);
	test_table_release(&test);
}

/* Two clocks that see, per epoch, equal time but unequal counts: by period the clocks agree exactly. */
static void period_weights_are_taken_when_they_make_clocks_agree(void **state)
{
	enum { S = 2, E = 20 };
	uint32_t counts[S * E * 2];
	double weights[S * E * 2];
	struct estimate_options options = { .confidence = 0.95 };
	struct estimate_shares shares;
	struct test_table test;

	(void)state;
	for (int e = 0; e < E; e++)
		for (int k = 0; k < 2; k++) {
			counts[2 * e + k] = k == e % 2 ? 40 : 20;
			weights[2 * e + k] = 30;
			counts[2 * E + 2 * e + k] = 30;
			weights[2 * E + 2 * e + k] = 30;
		}
	test_table_init(&test, S, E, 2, counts, weights, NULL);
	assert_int_equal(estimate_shares(&shares, &test.table, &options, NULL), STATUS_OK);
	assert_true(shares.period_weights);
	assert_near(shares.rows[0].recording.share, 0.5, 1e-12);
	estimate_shares_release(&shares);
	options.weighting = ESTIMATE_WEIGHT_ONE;
	assert_int_equal(estimate_shares(&shares, &test.table, &options, NULL), STATUS_OK);
	assert_false(shares.period_weights);
	estimate_shares_release(&shares);
	test_table_release(&test);
}

static void a_higher_confidence_gives_a_wider_interval_and_nonsense_is_refused(void **state)
{
	enum { S = 2, E = 10 };
	const double p[S] = { 1, 2 };
	struct estimate_options options = { .confidence = 0.99 };
	uint32_t counts[S * E * 2];
	struct estimate_shares normal, high;
	struct test_table test;
	struct random random;

	(void)state;
	random_init(&random, 10, 0, 0, 0);
	draw(counts, S, E, 2, p, 50, &random);
	test_table_init(&test, S, E, 2, counts, NULL, NULL);
	assert_int_equal(estimate_shares(&normal, &test.table, NULL, NULL), STATUS_OK);
	assert_int_equal(estimate_shares(&high, &test.table, &options, NULL), STATUS_OK);
	assert_true(high.rows[0].recording.lo < normal.rows[0].recording.lo);
	assert_true(high.rows[0].recording.hi > normal.rows[0].recording.hi);
	estimate_shares_release(&normal);
	estimate_shares_release(&high);
	options.confidence = 1;
	assert_int_equal(estimate_shares(&high, &test.table, &options, NULL), STATUS_USAGE);
	test_table_release(&test);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(intervals_follow_the_formulas_written_out_plainly),
		cmocka_unit_test(a_function_without_samples_has_a_one_sided_bound_of_three_in_n),
		cmocka_unit_test(a_function_with_every_sample_keeps_a_lower_end_below_one),
		cmocka_unit_test(too_few_samples_or_epochs_give_shares_but_no_interval),
		cmocka_unit_test(nothing_at_all_is_too_few_not_an_error),
		cmocka_unit_test(five_to_nine_epochs_support_the_recording_but_not_the_workload),
		cmocka_unit_test(one_clock_never_claims_more_than_independent_samples),
		cmocka_unit_test(a_change_in_the_middle_is_called_serial_and_not_supported),
		cmocka_unit_test(period_weights_are_taken_when_they_make_clocks_agree),
		cmocka_unit_test(
			a_higher_confidence_gives_a_wider_interval_and_nonsense_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
