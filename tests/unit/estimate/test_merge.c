/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/test.h"

#include "base/random.h"
#include "estimate/merge.h"
#include "unit/estimate/table.h"

static void a_plan_keeps_order_and_leaves_no_hole(void **state)
{
	static double lengths[5000];
	static size_t place[5000];
	struct random random;

	(void)state;
	random_init(&random, 41, 0, 0, 0);
	for (int trial = 0; trial < 300; trial++) {
		const size_t n = random_below(&random, trial % 9 ? 200 : 5000);
		size_t merged;

		for (size_t e = 0; e < n; e++)
			lengths[e] = trial % 3 ? 0.1 + random_double(&random) : e < 20 ? 0.01 : 0.2;
		merged = estimate_merge_plan(place, lengths, n, NULL);
		assert_true(merged <= ESTIMATE_EPOCHS_MAX);
		assert_true(merged <= n);
		assert_true((merged == 0) == (n == 0));
		for (size_t e = 0; e < n; e++) {
			assert_true(e ? place[e] == place[e - 1] || place[e] == place[e - 1] + 1
				      : place[e] == 0);
			assert_true(place[e] < merged);
		}
		if (n)
			assert_int_equal(place[n - 1], merged - 1);
	}
}

static void short_early_epochs_are_joined_to_the_length_of_the_later_ones(void **state)
{
	double lengths[46], length = 0;
	size_t place[46], n;

	(void)state;
	for (int e = 0; e < 46; e++)
		lengths[e] = e < 16 ? 0.025 : 0.2;
	n = estimate_merge_plan(place, lengths, 46, NULL);
	assert_in_range(n, 30, 33);
	for (int e = 0; e < 46; e++) {
		length += lengths[e];
		if (e == 45 || place[e + 1] == place[e])
			continue;
		assert_true(length >= 0.15 - 1e-9);
		length = 0;
	}
}

static void epochs_of_equal_length_stay_as_they_are(void **state)
{
	double lengths[20];
	size_t place[20];

	(void)state;
	for (int e = 0; e < 20; e++)
		lengths[e] = 0.2;
	assert_int_equal(estimate_merge_plan(place, lengths, 20, NULL), 20);
}

static void hours_are_merged_in_pairs_until_they_fit(void **state)
{
	static double lengths[18000];
	static size_t place[18000];
	size_t n, first = 0;

	(void)state;
	for (int e = 0; e < 18000; e++)
		lengths[e] = 0.2;
	n = estimate_merge_plan(place, lengths, 18000, NULL);
	assert_in_range(n, 64, 128);
	while (place[first] == 0)
		first++;
	assert_int_equal(first & (first - 1), 0); /* a power of two */
}

static void merging_a_table_adds_its_counts_and_keeps_shares(void **state)
{
	enum { S = 7, E = 23, K = 3 };
	uint32_t counts[S * E * K];
	size_t place[E];
	double lengths[E];
	const struct estimate_merge_options options = { .epochs_max = 12 };
	struct estimate_shares before, after;
	struct estimate_merged merged;
	struct test_table test;
	struct random random;
	size_t n;

	(void)state;
	random_init(&random, 42, 0, 0, 0);
	for (int i = 0; i < S * E * K; i++)
		counts[i] = (uint32_t)random_below(&random, 4);
	for (int e = 0; e < E; e++)
		lengths[e] = 1;
	test_table_init(&test, S, E, K, counts, NULL, NULL);
	n = estimate_merge_plan(place, lengths, E, &options);
	assert_int_equal(n, 12);
	assert_int_equal(estimate_merge(&merged, &test.table, place, n, NULL), STATUS_OK);
	assert_int_equal(merged.table.n_epochs, 12);
	assert_int_equal(estimate_shares(&before, &test.table, NULL, NULL), STATUS_OK);
	assert_int_equal(estimate_shares(&after, &merged.table, NULL, NULL), STATUS_OK);
	assert_int_equal(before.samples, after.samples);
	for (int s = 0; s < S; s++) {
		assert_int_equal(before.rows[s].samples, after.rows[s].samples);
		assert_near(before.rows[s].recording.share, after.rows[s].recording.share, 1e-12);
	}
	estimate_shares_release(&before);
	estimate_shares_release(&after);
	estimate_merge_release(&merged);
	test_table_release(&test);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plan_keeps_order_and_leaves_no_hole),
		cmocka_unit_test(short_early_epochs_are_joined_to_the_length_of_the_later_ones),
		cmocka_unit_test(epochs_of_equal_length_stay_as_they_are),
		cmocka_unit_test(hours_are_merged_in_pairs_until_they_fit),
		cmocka_unit_test(merging_a_table_adds_its_counts_and_keeps_shares),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
