/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/test.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "estimate/sequential.h"
#include "unit/estimate/table.h"

static void the_boundary_has_its_reference_values(void **state)
{
	(void)state;
	assert_near(estimate_until_rho2(0.05), 0.132269, 1e-6);
	assert_near(estimate_until_evidence(60, 400, 20, estimate_until_rho2(0.05)), 2.6188, 5e-5);
}

/* E epochs of 2 clocks, `per_cell` samples drawn from p. */
static void until_of(struct estimate_until *until, const double *p, size_t S, size_t E,
		     int per_cell, const struct estimate_until_options *options, uint64_t seed)
{
	uint32_t *counts = calloc(S * E * 2, sizeof(*counts));
	struct test_table test;
	struct random random;
	double sum = 0;

	assert_non_null(counts);
	random_init(&random, seed, 0, 0, 0);
	for (size_t s = 0; s < S; s++)
		sum += p[s];
	for (size_t c = 0; c < E * 2; c++)
		for (int i = 0; i < per_cell; i++) {
			double at = random_double(&random) * sum;
			size_t s = 0;

			while (s + 1 < S && at >= p[s])
				at -= p[s++];
			counts[s * E * 2 + c]++;
		}
	test_table_init(&test, S, E, 2, counts, NULL, NULL);
	assert_int_equal(estimate_until(until, &test.table, options, NULL), STATUS_OK);
	test_table_release(&test);
	free(counts);
}

static void functions_far_apart_settle_and_near_ones_do_not(void **state)
{
	const double far[] = { 40, 20, 10, 5, 2 }, near[] = { 40, 20, 10, 9.9, 2 };
	const struct estimate_until_options order = { .kind = ESTIMATE_UNTIL_ORDER, .top_k = 3 };
	const struct estimate_until_options set = { .kind = ESTIMATE_UNTIL_SET, .top_k = 4 };
	struct estimate_until until;

	(void)state;
	until_of(&until, far, 5, 20, 50, &order, 1);
	assert_true(until.settled);
	assert_true(until.evidence >= until.boundary);
	assert_true(until.epochs_more == 0);
	until_of(&until, near, 5, 20, 50, &order, 1);
	assert_false(until.settled);
	assert_true((until.a == 2 && until.b == 3) || (until.a == 3 && until.b == 2));
	assert_true(until.epochs_more >= 1);
	assert_true(until.epochs_more_max >= until.epochs_more);
	/* the tie is inside the set */
	until_of(&until, near, 5, 20, 50, &set, 1);
	assert_true(until.settled);
}

static void nothing_settles_before_twelve_epochs(void **state)
{
	const double p[] = { 90, 10 };
	const struct estimate_until_options options = { .kind = ESTIMATE_UNTIL_ORDER, .top_k = 2 };
	struct estimate_until until;

	(void)state;
	until_of(&until, p, 2, 11, 100, &options, 1);
	assert_false(until.settled);
	assert_non_null(until.why);
	assert_true(until.epochs_more == 1);
	until_of(&until, p, 2, 12, 100, &options, 1);
	assert_true(until.settled);
}

/* The forecast is the number of epochs at which g would reach the boundary; g is monotone in E there. */
static void the_forecast_solves_the_boundary(void **state)
{
	const double p[] = { 52, 48 };
	const struct estimate_until_options options = { .kind = ESTIMATE_UNTIL_ORDER, .top_k = 1 };
	struct estimate_until until;
	double needed;

	(void)state;
	until_of(&until, p, 2, 20, 20, &options, 5);
	assert_false(until.settled);
	needed = (until.epochs_more_max + 20) / 1.1;
	assert_near(until.epochs_more, fmax(1, needed / 1.6 - 20), 1e-6);
	assert_near(until.epochs_at_best, fmax(1, needed / 5 - 20), 1e-6);
}

static void equal_counts_never_settle(void **state)
{
	enum { E = 20 };
	uint32_t counts[2 * E * 2];
	const struct estimate_until_options options = { .kind = ESTIMATE_UNTIL_SET, .top_k = 1 };
	struct estimate_until until;
	struct test_table test;

	(void)state;
	for (int i = 0; i < 2 * E * 2; i++)
		counts[i] = 10;
	test_table_init(&test, 2, E, 2, counts, NULL, NULL);
	assert_int_equal(estimate_until(&until, &test.table, &options, NULL), STATUS_OK);
	assert_false(until.settled);
	assert_true(isinf(until.epochs_more));
	test_table_release(&test);
}

static void a_share_settles_when_its_interval_is_narrow_enough(void **state)
{
	const double p[] = { 50, 30, 20 };
	struct estimate_until_options options = { .kind = ESTIMATE_UNTIL_SHARE };
	struct estimate_until until;

	(void)state;
	/* 4000 samples: a 95 % interval of a half share is +-1.6 points, the sequence about +-2.6 */
	options.half_width = 0.04;
	until_of(&until, p, 3, 40, 50, &options, 1);
	assert_true(until.settled);
	options.half_width = 0.01;
	until_of(&until, p, 3, 40, 50, &options, 1);
	assert_false(until.settled);
	assert_true(until.epochs_more > 40);
	options.half_width = 0;
	assert_int_equal(estimate_until(&until, NULL, &options, NULL), STATUS_USAGE);
}

/* 20 epochs of 100 samples with the same totals, 1160 and 840 of two functions (D = 320, floor of V 2000):
 * steady, leaping from epoch to epoch, and leaping in stretches of five. */
static double evidence_of(const uint32_t *first)
{
	const struct estimate_until_options options = { .kind = ESTIMATE_UNTIL_SET, .top_k = 1 };
	uint32_t counts[2 * 20];
	struct estimate_until until;
	struct test_table test;

	for (int e = 0; e < 20; e++) {
		counts[e] = first[e];
		counts[20 + e] = 100 - first[e];
	}
	test_table_init(&test, 2, 20, 1, counts, NULL, NULL);
	assert_int_equal(estimate_until(&until, &test.table, &options, NULL), STATUS_OK);
	test_table_release(&test);
	return until.evidence;
}

static void unsteady_epochs_are_weaker_evidence_and_stretches_weaker_still(void **state)
{
	const double rho2 = estimate_until_rho2(0.05);
	uint32_t steady[20], leaping[20], stretches[20];

	(void)state;
	for (int e = 0; e < 20; e++) {
		steady[e] = 58;
		leaping[e] = e % 2 ? 78 : 38;
		stretches[e] = e / 5 % 2 ? 78 : 38;
	}
	assert_near(evidence_of(steady), estimate_until_evidence(320, 2000, 20, rho2), 1e-9);
	/* d_e is 16 +- 40: V = 20/19 * 20 * 1600 */
	assert_near(evidence_of(leaping), estimate_until_evidence(320, 20.0 / 19 * 32000, 20, rho2),
		    1e-9);
	/* r = 13/20: 19 neighbours, 3 of which differ; V is (1 + r)/(1 - r) = 4.71 times as large */
	assert_near(evidence_of(stretches),
		    estimate_until_evidence(320, 20.0 / 19 * 32000 * (1.65 / 0.35), 20, rho2),
		    1e-9);
}

/* Epochs merged in pairs with epochs_per_row = 2 keep the boundary: g of independent samples changes only
 * by the variance's estimate, whose relative error is about sqrt(2/E). */
static void merging_epochs_keeps_the_boundary(void **state)
{
	(void)state;
	assert_near(estimate_until_evidence(60, 400, 10 * 2, 0.13),
		    estimate_until_evidence(60, 400, 20, 0.13), 1e-12);
}

/* Two functions 60 : 40 in E epochs of one clock; in the later half of them only `part` as many samples of
 * `weight` each. */
static void until_rates(struct estimate_until *until, size_t part, double weight, bool reversed,
			bool period_weights)
{
	const struct estimate_until_options options = { .kind = ESTIMATE_UNTIL_ORDER,
							.top_k = 1,
							.period_weights = period_weights };
	enum { E = 40 };
	uint32_t counts[2 * E];
	double weights[2 * E];
	struct test_table test;

	for (size_t e = 0; e < E; e++) {
		const uint32_t n = (uint32_t)(e < E / 2 ? 100 : part);
		const bool swap = reversed && e >= E / 2;

		counts[e] = swap ? n * 2 / 5 : n * 3 / 5;
		counts[E + e] = n - counts[e];
		weights[e] = counts[e] * (e < E / 2 ? 1 : weight);
		weights[E + e] = counts[E + e] * (e < E / 2 ? 1 : weight);
	}
	test_table_init(&test, 2, E, 1, counts, weights, NULL);
	assert_int_equal(estimate_until(until, &test.table, &options, NULL), STATUS_OK);
	test_table_release(&test);
}

static void where_the_rate_fell_periods_decide_which_function_takes_more(void **state)
{
	struct estimate_until counted, weighted;

	(void)state;
	/* First half 60:40, second half 40:60 at a tenth of the rate: equal in time, not in counts. */
	until_rates(&counted, 10, 10, true, false);
	assert_true(counted.epochs_more < INFINITY);
	until_rates(&weighted, 10, 10, true, true);
	assert_true(weighted.epochs_more == INFINITY);
}

static void samples_that_stand_for_much_are_worth_less_than_as_many_of_equal_weight(void **state)
{
	struct estimate_until even, uneven;

	(void)state;
	until_rates(&even, 100, 1, false, true);
	until_rates(&uneven, 10, 10, false, true);
	/* 4000 samples against 2000 + 200 of weight 10: sum w^2 is 4000 against 22000 for the same sum */
	assert_true(uneven.evidence < even.evidence / 4);
}

/* 40 epochs, 60 : 40 in each; the first `n_large` have 1000 samples, the others 5. */
static void until_lopsided(struct estimate_until *until, int n_large)
{
	const struct estimate_until_options options = { .kind = ESTIMATE_UNTIL_ORDER, .top_k = 1 };
	enum { E = 40 };
	uint32_t counts[2 * E];
	struct test_table test;

	for (int e = 0; e < E; e++) {
		counts[e] = e < n_large ? 600 : 3;
		counts[E + e] = e < n_large ? 400 : 2;
	}
	test_table_init(&test, 2, E, 1, counts, NULL, NULL);
	assert_int_equal(estimate_until(until, &test.table, &options, NULL), STATUS_OK);
	test_table_release(&test);
}

static void a_few_epochs_that_hold_most_of_the_samples_are_few_epochs(void **state)
{
	const double n = 12 * 1000 + 28 * 5, squares = 12 * 1e6 + 28 * 25;
	struct estimate_until until;

	(void)state;
	until_lopsided(&until, 12);
	assert_near(until.evidence,
		    estimate_until_evidence(0.2 * n, n, 1.25 * n * n / squares,
					    estimate_until_rho2(0.05)),
		    1e-9);
	until_lopsided(&until, 9);
	assert_false(until.settled);
	assert_string_equal(until.why, "a few epochs hold most of the samples");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_boundary_has_its_reference_values),
		cmocka_unit_test(functions_far_apart_settle_and_near_ones_do_not),
		cmocka_unit_test(nothing_settles_before_twelve_epochs),
		cmocka_unit_test(the_forecast_solves_the_boundary),
		cmocka_unit_test(equal_counts_never_settle),
		cmocka_unit_test(a_share_settles_when_its_interval_is_narrow_enough),
		cmocka_unit_test(unsteady_epochs_are_weaker_evidence_and_stretches_weaker_still),
		cmocka_unit_test(merging_epochs_keeps_the_boundary),
		cmocka_unit_test(where_the_rate_fell_periods_decide_which_function_takes_more),
		cmocka_unit_test(
			samples_that_stand_for_much_are_worth_less_than_as_many_of_equal_weight),
		cmocka_unit_test(a_few_epochs_that_hold_most_of_the_samples_are_few_epochs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
