/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/test.h"

#include <stdlib.h>

#include "base/random.h"
#include "estimate/ab.h"
#include "estimate/moderate.h"
#include "unit/estimate/near.h"

static double normal(struct random *random)
{
	return sqrt(-2 * log(1 - random_double(random))) *
	       cos(6.283185307179586 * random_double(random));
}

static void one(struct estimate_ab_row *row, const double *a, const double *b,
		const double *count_a, const double *count_b, size_t n)
{
	const struct estimate_ab_function f = { a, b, count_a, count_b };
	const struct estimate_ab_options options = { .exposure_a = 3000, .exposure_b = 3000 };

	assert_int_equal(estimate_ab(row, &f, 1, n, &options, NULL), STATUS_OK);
}

static void psi_functions_have_their_known_values(void **state)
{
	(void)state;
	assert_near(digamma(1), -0.57721566490153286, 1e-9);
	assert_near(digamma(0.5), -1.9635100260214235, 1e-9);
	assert_near(trigamma(1), 1.6449340668482264, 1e-9);
	assert_near(trigamma(0.5), 4.934802200544679, 1e-9);
}

/* Variances s0^2 F(nu, d0): drawn with d0 = 10, s0^2 = 4 from 4000 functions with nu = 4. */
static void moderation_finds_the_prior_that_variances_came_from(void **state)
{
	static double variances[4000];
	struct moderation moderation;
	struct random random;

	(void)state;
	random_init(&random, 31, 0, 0, 0);
	for (int i = 0; i < 4000; i++) {
		double own = 0, prior = 0;

		for (int k = 0; k < 4; k++)
			own += pow(normal(&random), 2) / 4;
		for (int k = 0; k < 10; k++)
			prior += pow(normal(&random), 2) / 10;
		variances[i] = 4 * own / prior;
	}
	moderation = moderation_fit(variances, 4000, 4);
	assert_near(moderation.s0_squared, 4, 0.4);
	assert_near(moderation.d0, 10, 2.5);
	for (int i = 0; i < 4000; i++)
		variances[i] = 7;
	assert_true(moderation_fit(variances, 4000, 4).d0 == 100);
}

/* ln ratios 0.09, 0.11, 0.10, 0.12, 0.08: mean 0.1, s 0.015811, t = 14.14 with 4 df. */
static void a_paired_t_test_on_logs_finds_a_change(void **state)
{
	const double y[] = { 0.09, 0.11, 0.10, 0.12, 0.08 }, a[] = { 1, 20, 3, 400, 5 };
	double b[5];
	struct estimate_ab_row row, back;

	(void)state;
	for (int i = 0; i < 5; i++)
		b[i] = a[i] * exp(y[i]);
	one(&row, a, b, NULL, NULL, 5);
	assert_int_equal(row.method, ESTIMATE_AB_OWN);
	assert_near(row.ratio, exp(0.1), 1e-12);
	for (int i = 0; i < 5; i++)
		b[i] = 1000 * a[i] * exp(y[i]);
	const double scaled[] = { 1000, 20000, 3000, 400000, 5000 };

	one(&row, scaled, b, NULL, NULL, 5);
	assert_near(row.hi, exp(0.1 + 2.776445 * 0.0158114 / sqrt(5)), 1e-5);
	assert_int_equal(row.verdict, ESTIMATE_AB_MORE);
	assert_true(row.p_value < 2e-4 && row.p_value > 1e-4);
	/* symmetric under exchange */
	one(&back, b, scaled, NULL, NULL, 5);
	assert_near(back.ratio * row.ratio, 1, 1e-12);
	assert_near(back.lo * row.hi, 1, 1e-12);
	assert_near(back.p_value, row.p_value, 1e-15);
	assert_int_equal(back.verdict, ESTIMATE_AB_LESS);
}

static void exact_counters_need_six_pairs_for_half_a_per_mille(void **state)
{
	const double a[] = { 7, 7, 7, 7, 7, 7 }, b[] = { 8, 8, 8, 8, 8, 8 };
	struct estimate_ab_row row;

	(void)state;
	one(&row, a, a, NULL, NULL, 2);
	assert_int_equal(row.verdict, ESTIMATE_AB_SAME);
	assert_true(row.ratio == 1);
	one(&row, a, b, NULL, NULL, 3);
	assert_near(row.p_value, 0.03125, 1e-12);
	assert_int_equal(row.verdict, ESTIMATE_AB_MORE);
	one(&row, a, b, NULL, NULL, 2);
	assert_int_equal(row.verdict, ESTIMATE_AB_UNRESOLVED);
	one(&row, a, b, NULL, NULL, 6);
	assert_near(row.p_value, 0.00048828125, 1e-12);
	assert_near(estimate_ab_deviating(10), 1 - pow(0.05, 0.1), 1e-12);
}

/* One side varies by one count in a thousand: the other side's agreement is not zero variance. */
static void one_count_is_never_known_better_than_one_count(void **state)
{
	const double a[] = { 1000, 1000, 1000 }, b[] = { 1000, 1000, 1001 };
	struct estimate_ab_row row;

	(void)state;
	one(&row, a, b, NULL, NULL, 3);
	assert_int_equal(row.method, ESTIMATE_AB_OWN);
	assert_int_equal(row.verdict, ESTIMATE_AB_UNRESOLVED);
	assert_true(row.lo < 1 && row.hi > 1);
}

static void a_function_that_is_absent_on_one_side_needs_many_runs_not_many_samples(void **state)
{
	const double none[6] = { 0 }, burst[] = { 0, 0, 0, 0, 0, 60 }, all[] = { 9, 9, 9, 9, 9, 8 };
	struct estimate_ab_row row;

	(void)state;
	one(&row, none, burst, none, burst, 6);
	assert_int_equal(row.method, ESTIMATE_AB_ABSENT_A);
	assert_int_equal(row.verdict, ESTIMATE_AB_UNRESOLVED);
	assert_near(row.absent_hi, 2.995732 / 3000, 1e-9);
	one(&row, none, all, none, all, 6);
	assert_near(row.p_value, 2.0 / 64, 1e-12);
	assert_int_equal(row.verdict, ESTIMATE_AB_MORE);
	one(&row, all, none, all, none, 6);
	assert_int_equal(row.method, ESTIMATE_AB_ABSENT_B);
	assert_int_equal(row.verdict, ESTIMATE_AB_LESS);
	one(&row, none, none, none, none, 6);
	assert_int_equal(row.method, ESTIMATE_AB_TOO_FEW);
}

static void one_pair_compares_nothing(void **state)
{
	const double a[] = { 5 }, b[] = { 50 };
	struct estimate_ab_row row;

	(void)state;
	one(&row, a, b, NULL, NULL, 1);
	assert_int_equal(row.method, ESTIMATE_AB_TOO_FEW);
	assert_true(isnan(row.lo));
	one(&row, a, b, NULL, NULL, 0);
	assert_int_equal(row.verdict, ESTIMATE_AB_UNRESOLVED);
}

/* Same program on both sides, 1000 comparisons each, 3 % noise: 5 % false have a standard error of 0.7
 * points; 7.8 % is 4 of them above. Low counts: 20 per run. */
static void a_against_a_is_called_changed_in_five_percent(void **state)
{
	struct random random;

	(void)state;
	random_init(&random, 32, 0, 0, 0);
	for (size_t n = 2; n <= 20; n = n * 2 + 1) {
		int false_exact = 0, false_counts = 0;

		for (int trial = 0; trial < 1000; trial++) {
			double a[20], b[20], counts_a[20], counts_b[20];
			struct estimate_ab_row row;

			for (size_t i = 0; i < n; i++) {
				a[i] = 1e6 * exp(0.03 * normal(&random));
				b[i] = 1e6 * exp(0.03 * normal(&random));
				counts_a[i] = counts_b[i] = 0;
				for (int k = 0; k < 400; k++) {
					counts_a[i] += random_double(&random) < 0.05;
					counts_b[i] += random_double(&random) < 0.05;
				}
			}
			one(&row, a, b, NULL, NULL, n);
			false_exact += row.verdict != ESTIMATE_AB_UNRESOLVED;
			one(&row, counts_a, counts_b, counts_a, counts_b, n);
			false_counts += row.verdict != ESTIMATE_AB_UNRESOLVED;
		}
		assert_true(false_exact <= 78);
		assert_true(false_counts <= 78);
	}
}

/* 200 functions, 10 of them changed by 8 %, sd 3 %, n = 8: documented power 84 %, family error 2 %. */
static void among_many_functions_the_changed_ones_are_found(void **state)
{
	enum { F = 200, PAIRS = 8 };
	static double a[F][PAIRS], b[F][PAIRS];
	struct estimate_ab_function functions[F];
	struct estimate_ab_row rows[F];
	const struct estimate_ab_options options = { 0 };
	struct random random;
	int found = 0, wrong = 0;

	(void)state;
	random_init(&random, 33, 0, 0, 0);
	for (int trial = 0; trial < 30; trial++) {
		bool any = false;

		for (int f = 0; f < F; f++) {
			functions[f] = (struct estimate_ab_function){ a[f], b[f], NULL, NULL };
			for (int i = 0; i < PAIRS; i++) {
				a[f][i] = 1e6 * exp(0.03 / sqrt(2) * normal(&random));
				b[f][i] = 1e6 * exp(0.03 / sqrt(2) * normal(&random)) *
					  (f < 10 ? 1.08 : 1);
			}
		}
		assert_int_equal(estimate_ab(rows, functions, F, PAIRS, &options, NULL), STATUS_OK);
		assert_int_equal(rows[0].method, ESTIMATE_AB_MODERATED);
		for (int f = 0; f < F; f++) {
			found += f < 10 && rows[f].verdict == ESTIMATE_AB_MORE;
			any |= f >= 10 && rows[f].verdict != ESTIMATE_AB_UNRESOLVED;
			assert_true(rows[f].q_value <= rows[f].p_adjusted + 1e-12);
		}
		wrong += any;
	}
	assert_true(found >= 225); /* 75 % of 300 */
	assert_true(wrong <= 5);   /* at 5 %: more than 5 of 30 has a chance of 0.3 % */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(psi_functions_have_their_known_values),
		cmocka_unit_test(moderation_finds_the_prior_that_variances_came_from),
		cmocka_unit_test(a_paired_t_test_on_logs_finds_a_change),
		cmocka_unit_test(exact_counters_need_six_pairs_for_half_a_per_mille),
		cmocka_unit_test(one_count_is_never_known_better_than_one_count),
		cmocka_unit_test(
			a_function_that_is_absent_on_one_side_needs_many_runs_not_many_samples),
		cmocka_unit_test(one_pair_compares_nothing),
		cmocka_unit_test(a_against_a_is_called_changed_in_five_percent),
		cmocka_unit_test(among_many_functions_the_changed_ones_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
