/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/test.h"

#include <math.h>

#include "base/random.h"
#include "estimate/effect.h"
#include "estimate/evidence.h"
#include "unit/estimate/table.h"

static void moments_have_their_reference_values(void **state)
{
	const uint32_t x[] = { 4, 6, 5, 3, 7, 5 }, rest[] = { 46, 46, 44, 48, 43, 43 };
	struct test_table test;
	struct evidence evidence;
	struct moments moments;

	(void)state;
	test_table_init(&test, 1, 3, 2, x, NULL, rest);
	assert_int_equal(evidence_init(&evidence, &test.table, false, NULL), STATUS_OK);
	moments = evidence_moments(&evidence, 0);
	assert_near(moments.share, 0.1, 1e-15);
	assert_near(moments.v_recording, 1.257778e-4, 1e-10);
	assert_near(moments.v_epochs, 1.480000e-4, 1e-10);
	assert_near(effect_own(0.1, moments.v_recording, 300), 0.4193, 5e-5);
	assert_near(effect_own(0.1, moments.v_epochs, 300), 0.4933, 5e-5);
	assert_true(evidence.contrast_df == 3);
	evidence_release(&evidence);
	test_table_release(&test);
}

static void random_counts(uint32_t *counts, size_t n, uint32_t bound, uint64_t seed)
{
	struct random random;

	random_init(&random, seed, 0, 0, 0);
	for (size_t i = 0; i < n; i++)
		counts[i] = (uint32_t)random_below(&random, bound);
}

static void contrasts_of_five_clocks_sum_to_the_variance_within_epochs(void **state)
{
	enum { E = 7, K = 5 };
	uint32_t x[E * K], rest[E * K];
	double n[E * K], total = 0, share = 0, v = 0;
	struct test_table test;
	struct evidence evidence;

	(void)state;
	random_counts(x, E * K, 20, 1);
	random_counts(rest, E * K, 60, 2);
	for (int c = 0; c < E * K; c++) {
		n[c] = x[c] + rest[c];
		total += n[c];
		share += x[c];
	}
	share /= total;
	for (int e = 0; e < E; e++) {
		double mean = 0;

		for (int k = 0; k < K; k++)
			mean += (x[e * K + k] - share * n[e * K + k]) / total / K;
		for (int k = 0; k < K; k++) {
			const double z = (x[e * K + k] - share * n[e * K + k]) / total;

			v += (z - mean) * (z - mean) * K / (K - 1);
		}
	}
	test_table_init(&test, 1, E, K, x, NULL, rest);
	assert_int_equal(evidence_init(&evidence, &test.table, false, NULL), STATUS_OK);
	assert_near(evidence_moments(&evidence, 0).v_recording, v, 1e-12 * v);
	assert_true(evidence.contrast_df == E * (K - 1));
	evidence_release(&evidence);
	test_table_release(&test);
}

static void epochs_and_clocks_without_samples_change_nothing(void **state)
{
	const uint32_t dense[] = { 4, 6, 5, 3, 7, 5 }, dense_rest[] = { 46, 46, 44, 48, 43, 43 };
	/* the same behind an idle epoch 1 and a dead clock 1 */
	const uint32_t gaps[] = { 4, 0, 6, 0, 0, 0, 5, 0, 3, 7, 0, 5 };
	const uint32_t gaps_rest[] = { 46, 0, 46, 0, 0, 0, 44, 0, 48, 43, 0, 43 };
	struct test_table with, without;
	struct evidence a, b;

	(void)state;
	test_table_init(&without, 1, 3, 2, dense, NULL, dense_rest);
	test_table_init(&with, 1, 4, 3, gaps, NULL, gaps_rest);
	assert_int_equal(evidence_init(&a, &without.table, false, NULL), STATUS_OK);
	assert_int_equal(evidence_init(&b, &with.table, false, NULL), STATUS_OK);
	assert_true(a.contrast_df == b.contrast_df);
	assert_int_equal(b.n_epochs, 3);
	assert_int_equal(b.n_clocks, 2);
	assert_true(evidence_moments(&a, 0).v_recording == evidence_moments(&b, 0).v_recording);
	assert_true(evidence_moments(&a, 0).lagged == evidence_moments(&b, 0).lagged);
	evidence_release(&a);
	evidence_release(&b);
	test_table_release(&with);
	test_table_release(&without);
}

static void one_clock_takes_its_variance_from_epochs(void **state)
{
	const uint32_t x[] = { 4, 6, 9, 2 }, rest[] = { 46, 44, 41, 48 };
	struct test_table test;
	struct evidence evidence;
	struct moments moments;

	(void)state;
	test_table_init(&test, 1, 4, 1, x, NULL, rest);
	assert_int_equal(evidence_init(&evidence, &test.table, false, NULL), STATUS_OK);
	moments = evidence_moments(&evidence, 0);
	assert_near(moments.v_recording, moments.v_epochs, 1e-15);
	assert_true(moments.v_epochs > 0);
	assert_true(evidence.contrast_df == 3);
	evidence_release(&evidence);
	test_table_release(&test);
}

static void a_table_that_contradicts_itself_is_corrupt(void **state)
{
	const uint32_t x[] = { 4, 6, 5, 3 };
	struct test_table test;
	struct evidence evidence;
	struct error error;

	(void)state;
	test_table_init(&test, 1, 2, 2, x, NULL, NULL);
	test.counts[2].cell = 1;
	assert_int_equal(evidence_init(&evidence, &test.table, false, &error), STATUS_CORRUPT);
	test.counts[2].cell = 9;
	assert_int_equal(evidence_init(&evidence, &test.table, false, &error), STATUS_CORRUPT);
	test.counts[2].cell = 2;
	test.counts[2].count = 6;
	assert_int_equal(evidence_init(&evidence, &test.table, false, &error), STATUS_CORRUPT);
	test.counts[2].count = 5;
	test.counts[2].weight = NAN;
	assert_int_equal(evidence_init(&evidence, &test.table, true, &error), STATUS_CORRUPT);
	test.counts[2].weight = 5;
	test.table.n_epochs = SIZE_MAX / 2;
	assert_int_equal(evidence_init(&evidence, &test.table, true, &error), STATUS_LIMIT);
	test_table_release(&test);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moments_have_their_reference_values),
		cmocka_unit_test(contrasts_of_five_clocks_sum_to_the_variance_within_epochs),
		cmocka_unit_test(epochs_and_clocks_without_samples_change_nothing),
		cmocka_unit_test(one_clock_takes_its_variance_from_epochs),
		cmocka_unit_test(a_table_that_contradicts_itself_is_corrupt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
