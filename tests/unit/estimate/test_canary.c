/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/test.h"

#include "base/random.h"
#include "estimate/lock.h"
#include "unit/estimate/table.h"

enum { S = 4, E = 20 };

static void draw(uint32_t *counts, const double *p, size_t n_clocks, int per_cell,
		 struct random *random)
{
	for (size_t i = 0; i < S * E * n_clocks; i++)
		counts[i] = 0;
	for (size_t c = 0; c < E * n_clocks; c++)
		for (int i = 0; i < per_cell; i++) {
			double at = random_double(random);
			size_t s = 0;

			while (s + 1 < S && at >= p[s])
				at -= p[s++];
			counts[s * E * n_clocks + c]++;
		}
}

static void compare(struct estimate_canary *canary, const double *fixed, const double *randomised,
		    uint64_t seed)
{
	uint32_t one[S * E], two[S * E * 2];
	struct test_table a, b;
	struct random random;

	random_init(&random, seed, 0, 0, 0);
	draw(one, fixed, 1, 25, &random);
	draw(two, randomised, 2, 25, &random);
	test_table_init(&a, S, E, 1, one, NULL, NULL);
	test_table_init(&b, S, E, 2, two, NULL, NULL);
	assert_int_equal(estimate_canary(canary, &a.table, &b.table, NULL), STATUS_OK);
	test_table_release(&a);
	test_table_release(&b);
}

static const double truth[S] = { 0.4, 0.3, 0.2, 0.1 };

/* Off by 15 points at 500 and 1000 samples: standard error 2.7 points. */
static void a_canary_that_disagrees_is_a_lock(void **state)
{
	const double locked[S] = { 0.55, 0.15, 0.2, 0.1 };
	struct estimate_canary canary;

	(void)state;
	compare(&canary, locked, truth, 1);
	assert_int_equal(canary.verdict, ESTIMATE_LOCK_LOCKED);
	assert_true(canary.worst.function < 2);
	assert_true(canary.worst.error_hi > 0.12);
	assert_int_equal(canary.n_functions, S);
	assert_true(canary.functions[0].t >= canary.functions[1].t);
	estimate_canary_release(&canary);
}

/* More than 23 of 400 at 5 % or less has a chance of 1 %; the test is conservative. Fixed seeds. */
static void a_canary_that_agrees_is_rarely_accused(void **state)
{
	int accused = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 400; seed++) {
		struct estimate_canary canary;

		compare(&canary, truth, truth, seed);
		accused += canary.verdict != ESTIMATE_LOCK_NONE;
		estimate_canary_release(&canary);
	}
	assert_true(accused <= 23);
}

static void tables_of_different_shape_are_refused(void **state)
{
	const uint32_t counts[S * E] = { 0 };
	struct test_table a, b;
	struct estimate_canary canary;

	(void)state;
	test_table_init(&a, S, E, 1, counts, NULL, NULL);
	test_table_init(&b, S - 1, E, 1, counts, NULL, NULL);
	assert_int_equal(estimate_canary(&canary, &a.table, &b.table, NULL), STATUS_USAGE);
	assert_int_equal(estimate_canary(&canary, &a.table, &a.table, NULL), STATUS_OK);
	assert_non_null(canary.why);
	estimate_canary_release(&canary);
	test_table_release(&a);
	test_table_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_canary_that_disagrees_is_a_lock),
		cmocka_unit_test(a_canary_that_agrees_is_rarely_accused),
		cmocka_unit_test(tables_of_different_shape_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
