/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/test.h"

#include "base/random.h"
#include "estimate/stability.h"
#include "unit/estimate/table.h"

static void draw(uint32_t *counts, size_t S, size_t E, const double *p, int per_cell,
		 struct random *random)
{
	double sum = 0;

	for (size_t s = 0; s < S; s++)
		sum += p[s];
	for (size_t i = 0; i < S * E * 2; i++)
		counts[i] = 0;
	for (size_t c = 0; c < E * 2; c++)
		for (int i = 0; i < per_cell; i++) {
			double at = random_double(random) * sum;
			size_t s = 0;

			while (s + 1 < S && at >= p[s])
				at -= p[s++];
			counts[s * E * 2 + c]++;
		}
}

static void stability_of(struct estimate_stability *stability, const uint32_t *counts, size_t S,
			 size_t E, size_t k)
{
	const size_t top[] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	const struct estimate_claim claim = { top, k };
	struct estimate_shares shares;
	struct test_table test;

	test_table_init(&test, S, E, 2, counts, NULL, NULL);
	assert_int_equal(estimate_shares(&shares, &test.table, NULL, NULL), STATUS_OK);
	assert_int_equal(estimate_stability(stability, &test.table, &shares, &claim, NULL),
			 STATUS_OK);
	estimate_shares_release(&shares);
	test_table_release(&test);
}

static void functions_far_apart_agree_in_every_piece(void **state)
{
	const double p[] = { 50, 25, 12, 6 };
	uint32_t counts[4 * 20 * 2];
	struct estimate_stability stability;
	struct random random;

	(void)state;
	random_init(&random, 51, 0, 0, 0);
	draw(counts, 4, 20, p, 100, &random);
	stability_of(&stability, counts, 4, 20, 2);
	assert_int_equal(stability.observed.pieces, 8);
	assert_true(stability.observed.order == 1);
	/* 500 samples each: 134 against 65 is 4.9 standard errors */
	assert_true(stability.expected_order > 0.999 && stability.expected_order <= 1);
	assert_true(stability.expected_set > 0.999 && stability.expected_top1 > 0.999);
}

static void ties_confirm_nothing(void **state)
{
	uint32_t counts[3 * 20 * 2];
	struct estimate_stability stability;

	(void)state;
	for (int i = 0; i < 3 * 20 * 2; i++)
		counts[i] = 30;
	stability_of(&stability, counts, 3, 20, 1);
	assert_true(stability.observed.top1 == 0); /* every piece is a tie */
	/* 150 of each: a third, less the ties of the highest two, which have a chance of about
	 * 1/sqrt(4 pi 150) = 2.3 % per pair */
	assert_in_range((int)(1000 * stability.expected_top1), 310, 333);
	assert_near(stability.expected_set, stability.expected_top1, 1e-9);
}

static void functions_that_a_piece_has_not_met_confirm_nothing(void **state)
{
	uint32_t counts[3 * 20 * 2] = { 0 };
	struct estimate_stability stability;

	(void)state;
	/* clock 0 sees the first function only, clock 1 the second: locked at two phases */
	for (int e = 0; e < 20; e++) {
		counts[2 * e] = 31;
		counts[40 + 2 * e + 1] = 30;
	}
	stability_of(&stability, counts, 3, 20, 2);
	assert_true(stability.observed.set == 0);
	assert_true(stability.observed.top1 == 0.5);
}

/* Independent samples with known near-ties: over 300 recordings of 8 pieces the mean observed agreement
 * meets the mean expectation. The expectation takes the printed shares for true ones and is therefore
 * optimistic by itself; with 2000 samples that is below 3 points here. */
static void noise_alone_meets_its_own_expectation(void **state)
{
	const double p[] = { 24, 20, 16, 15, 13, 12 };
	uint32_t counts[6 * 20 * 2];
	struct random random;
	double observed[3] = { 0 }, expected[3] = { 0 };

	(void)state;
	random_init(&random, 52, 0, 0, 0);
	for (int trial = 0; trial < 300; trial++) {
		struct estimate_stability stability;

		draw(counts, 6, 20, p, 100, &random);
		stability_of(&stability, counts, 6, 20, 3);
		observed[0] += stability.observed.top1 / 300;
		observed[1] += stability.observed.set / 300;
		observed[2] += stability.observed.order / 300;
		expected[0] += stability.expected_top1 / 300;
		expected[1] += stability.expected_set / 300;
		expected[2] += stability.expected_order / 300;
	}
	for (int i = 0; i < 3; i++)
		assert_near(observed[i], expected[i], 0.05);
}

/* Half of the time another function is first: pieces agree less than noise alone would let them. */
static void a_program_that_changes_scores_below_what_noise_alone_gives(void **state)
{
	const double first[] = { 60, 20, 20 }, second[] = { 30, 45, 25 };
	uint32_t counts[3 * 20 * 2], other[3 * 20 * 2];
	struct estimate_stability stability;
	struct random random;

	(void)state;
	random_init(&random, 53, 0, 0, 0);
	draw(counts, 3, 20, first, 100, &random);
	draw(other, 3, 20, second, 100, &random);
	for (int s = 0; s < 3; s++)
		for (int c = 20; c < 40; c++)
			counts[s * 40 + c] = other[s * 40 + c];
	stability_of(&stability, counts, 3, 20, 1);
	assert_true(stability.observed.top1 < 0.6);
	assert_true(stability.expected_top1 > stability.observed.top1 + 0.1);
}

static void too_few_samples_give_no_score_and_nonsense_is_refused(void **state)
{
	uint32_t counts[2 * 20 * 2] = { 1, 1 };
	const size_t top[] = { 5 };
	const struct estimate_claim bad = { top, 1 };
	struct estimate_stability stability;
	struct estimate_agreement agreement;
	struct test_table test;

	(void)state;
	stability_of(&stability, counts, 2, 20, 1);
	assert_int_equal(stability.observed.pieces, 0);
	assert_true(isnan(stability.observed.set) && isnan(stability.expected_set));
	test_table_init(&test, 2, 20, 2, counts, NULL, NULL);
	assert_int_equal(estimate_agree(&agreement, &test.table, &bad, 0, NULL), STATUS_USAGE);
	test_table_release(&test);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_far_apart_agree_in_every_piece),
		cmocka_unit_test(ties_confirm_nothing),
		cmocka_unit_test(functions_that_a_piece_has_not_met_confirm_nothing),
		cmocka_unit_test(noise_alone_meets_its_own_expectation),
		cmocka_unit_test(a_program_that_changes_scores_below_what_noise_alone_gives),
		cmocka_unit_test(too_few_samples_give_no_score_and_nonsense_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
