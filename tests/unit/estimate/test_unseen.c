/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/test.h"

#include <string.h>

#include "base/random.h"
#include "estimate/unseen.h"
#include "unit/estimate/table.h"

/* 1000 samples in 10 epochs of 2 clocks. Function 0 has the bulk; `once` more are met in one epoch each
 * (function i in epoch i % 10), and `twice` in two adjacent ones. */
static void unseen_of(struct estimate_unseen *unseen, size_t once, size_t twice, bool correlated)
{
	enum { E = 10 };
	const size_t S = 1 + once + twice;
	uint32_t *counts = calloc(S * E * 2, sizeof(*counts));
	struct test_table test;

	assert_non_null(counts);
	for (size_t c = 0; c < E * 2; c++)
		counts[c] = 50;
	for (size_t i = 0; i < once; i++) {
		counts[(1 + i) * E * 2 + 2 * (i % E)] = 1;
		counts[2 * (i % E)]--;
	}
	for (size_t i = 0; i < twice; i++) {
		counts[(1 + once + i) * E * 2 + 2 * (i % 9) + 1] = 1;
		counts[(1 + once + i) * E * 2 + 2 * (i % 9) + 3] = 1;
		counts[2 * (i % 9) + 1]--;
		counts[2 * (i % 9) + 3]--;
	}
	test_table_init(&test, S, E, 2, counts, NULL, NULL);
	assert_int_equal(estimate_unseen(unseen, &test.table, correlated, 0, NULL), STATUS_OK);
	test_table_release(&test);
	free(counts);
}

static void the_bounds_have_their_reference_values(void **state)
{
	struct estimate_unseen unseen;

	(void)state;
	unseen_of(&unseen, 7, 0, false);
	assert_null(unseen.why);
	assert_near(unseen.share, 0.007, 1e-12);
	assert_near(unseen.hi, 0.013148, 1e-6);
	unseen_of(&unseen, 0, 0, false);
	assert_true(unseen.share == 0);
	assert_near(unseen.hi, 0.002996, 1e-6);
}

static void correlated_samples_count_two_adjacent_epochs_as_one(void **state)
{
	struct estimate_unseen plain, correlated;

	(void)state;
	unseen_of(&plain, 7, 9, false);
	unseen_of(&correlated, 7, 9, true);
	assert_near(plain.share, 0.007, 1e-12);
	assert_near(correlated.share, 0.025, 1e-12);
	assert_true(correlated.hi > plain.hi);
	assert_int_equal(correlated.functions_once, 16);
}

/* Chao2 with E = 10, q1 = 7, q2 = 9: 0.9 * 7 * 6 / (2 * 10) = 1.89 */
static void the_number_of_unseen_functions_is_chaos_lower_bound(void **state)
{
	struct estimate_unseen unseen;

	(void)state;
	unseen_of(&unseen, 7, 9, false);
	assert_near(unseen.functions_at_least, 1.89, 1e-12);
}

/* The same seven samples in one epoch instead of seven: less is known. */
static void a_burst_of_new_functions_widens_the_bound(void **state)
{
	enum { E = 10, S = 8 };
	uint32_t counts[S * E * 2] = { 0 };
	struct estimate_unseen spread, burst;
	struct test_table test;

	(void)state;
	unseen_of(&spread, 7, 0, false);
	for (size_t c = 0; c < E * 2; c++)
		counts[c] = 50;
	for (size_t i = 1; i < S; i++) {
		counts[i * E * 2] = 1;
		counts[0]--;
	}
	test_table_init(&test, S, E, 2, counts, NULL, NULL);
	assert_int_equal(estimate_unseen(&burst, &test.table, false, 0, NULL), STATUS_OK);
	assert_true(burst.hi > 1.5 * spread.hi);
	test_table_release(&test);
}

static void without_a_randomised_clock_nothing_is_said(void **state)
{
	uint32_t counts[20];
	struct estimate_unseen unseen;
	struct test_table test;

	(void)state;
	for (int i = 0; i < 20; i++)
		counts[i] = 10;
	test_table_init(&test, 1, 20, 1, counts, NULL, NULL);
	test.table.randomised = false;
	assert_int_equal(estimate_unseen(&unseen, &test.table, false, 0, NULL), STATUS_OK);
	assert_non_null(unseen.why);
	test.table.randomised = true;
	assert_int_equal(estimate_unseen(&unseen, &test.table, false, 0, NULL), STATUS_OK);
	assert_null(unseen.why);
	test.table.n_epochs = 4;
	assert_int_equal(estimate_unseen(&unseen, &test.table, false, 0, NULL), STATUS_CORRUPT);
	test_table_release(&test);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_bounds_have_their_reference_values),
		cmocka_unit_test(correlated_samples_count_two_adjacent_epochs_as_one),
		cmocka_unit_test(the_number_of_unseen_functions_is_chaos_lower_bound),
		cmocka_unit_test(a_burst_of_new_functions_widens_the_bound),
		cmocka_unit_test(without_a_randomised_clock_nothing_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
