/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/test.h"

#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "estimate/quantile.h"
#include "estimate/rank.h"
#include "estimate/rank_order.h"
#include "estimate/rank_pairs.h"
#include "unit/estimate/table.h"

#define FUNCTIONS_MAX 300

struct setup {
	struct test_table test;
	struct estimate_shares shares;
	struct estimate_ranks ranks;
	uint32_t *counts;
};

/* `per_cell` samples per cell, drawn from p, in E epochs of 2 clocks. With `lumps` > 1 each draw counts
 * that often: correlated samples. */
static void setup_draw(struct setup *setup, size_t S, size_t E, const double *p, int per_cell,
		       uint32_t lumps, uint64_t seed)
{
	struct random random;
	double sum = 0;

	random_init(&random, seed, 0, 0, 0);
	setup->counts = calloc(S * E * 2, sizeof(*setup->counts));
	assert_non_null(setup->counts);
	for (size_t s = 0; s < S; s++)
		sum += p[s];
	for (size_t c = 0; c < E * 2; c++)
		for (int i = 0; i < per_cell; i++) {
			double at = random_double(&random) * sum;
			size_t s = 0;

			while (s + 1 < S && at >= p[s])
				at -= p[s++];
			setup->counts[s * E * 2 + c] += lumps;
		}
	test_table_init(&setup->test, S, E, 2, setup->counts, NULL, NULL);
	assert_int_equal(estimate_shares(&setup->shares, &setup->test.table, NULL, NULL),
			 STATUS_OK);
}

static void setup_rank(struct setup *setup, enum estimate_family family, size_t top_k,
		       const char *const *names)
{
	const struct estimate_rank_options options = { .family = family,
						       .top_k = top_k,
						       .names = names };

	assert_int_equal(
		estimate_ranks(&setup->ranks, &setup->test.table, &setup->shares, &options, NULL),
		STATUS_OK);
}

static void setup_release(struct setup *setup)
{
	estimate_ranks_release(&setup->ranks);
	estimate_shares_release(&setup->shares);
	test_table_release(&setup->test);
	free(setup->counts);
}

/* What every result must satisfy, whatever the data. */
static void check_invariants(const struct setup *setup)
{
	const struct estimate_ranks *ranks = &setup->ranks;
	const size_t n = ranks->n_rows;
	size_t resolved = 0;

	for (size_t x = 0; x < n; x++)
		for (size_t y = x + 1; y < n; y++) {
			const size_t a = ranks->order[x], b = ranks->order[y];

			/* never inverted */
			assert_false(estimate_ranks_above(ranks, b, a));
			resolved += estimate_ranks_above(ranks, a, b);
			/* a group is mutually unresolved */
			if (ranks->rows[a].group && ranks->rows[a].group == ranks->rows[b].group)
				assert_false(estimate_ranks_above(ranks, a, b));
		}
	assert_int_equal(resolved, ranks->n_resolved);
	for (size_t s = 0; s < n; s++) {
		const struct estimate_rank *row = &ranks->rows[s];
		size_t above = 0, below = 0;

		for (size_t other = 0; other < n; other++) {
			above += estimate_ranks_above(ranks, other, s);
			below += estimate_ranks_above(ranks, s, other);
			/* transitive */
			for (size_t third = 0; third < n && n < 40; third++)
				if (estimate_ranks_above(ranks, s, other) &&
				    estimate_ranks_above(ranks, other, third))
					assert_true(estimate_ranks_above(ranks, s, third));
		}
		assert_int_equal(row->rank_lo, 1 + above);
		assert_int_equal(row->rank_hi, n - below);
		assert_int_equal(row->resolved, row->rank_lo == row->rank_hi);
		assert_int_equal(row->group == 0, !row->examined);
		if (row->rival != ESTIMATE_RANK_NO_RIVAL) {
			assert_false(estimate_ranks_above(ranks, s, row->rival));
			assert_false(estimate_ranks_above(ranks, row->rival, s));
		}
	}
}

static void no_resolved_pair_is_printed_inverted_and_ranges_count_pairs(void **state)
{
	double p[FUNCTIONS_MAX];
	struct random random;

	(void)state;
	random_init(&random, 3, 0, 0, 0);
	for (uint64_t trial = 0; trial < 120; trial++) {
		const size_t S = 1 + random_below(&random, trial % 10 ? 30 : FUNCTIONS_MAX);
		const size_t E = 5 + random_below(&random, 30);
		const uint32_t lumps = trial % 3 ? 1 : 8;
		struct setup setup;

		for (size_t s = 0; s < S; s++)
			p[s] = pow(0.02 + random_double(&random), (double)(trial % 5));
		setup_draw(&setup, S, E, p, 5 + (int)random_below(&random, 100), lumps, trial);
		setup_rank(&setup, trial % 2 ? ESTIMATE_FAMILY_WORKLOAD : ESTIMATE_FAMILY_RECORDING,
			   1 + random_below(&random, 8), NULL);
		check_invariants(&setup);
		setup_release(&setup);
	}
}

/* Shares 32, 16, 8, ... with 4000 samples: neighbours differ by at least 10 standard errors down to the
 * fourth. */
static void functions_far_apart_are_ranked_one_by_one(void **state)
{
	const double p[] = { 1, 2, 4, 8, 16, 32 };
	struct setup setup;

	(void)state;
	for (int family = 0; family < 2; family++) {
		setup_draw(&setup, 6, 20, p, 100, 1, 5);
		setup_rank(&setup, (enum estimate_family)family, 3, NULL);
		assert_true(setup.ranks.set_settled);
		assert_true(setup.ranks.order_settled);
		for (size_t rank = 1; rank <= 3; rank++) {
			assert_int_equal(setup.ranks.order[rank - 1], 6 - rank);
			assert_int_equal(setup.ranks.rows[6 - rank].rank_lo, rank);
			assert_int_equal(setup.ranks.rows[6 - rank].rank_hi, rank);
			assert_int_equal(setup.ranks.rows[6 - rank].group, rank);
		}
		check_invariants(&setup);
		setup_release(&setup);
	}
}

static void equal_functions_form_one_group_in_order_of_their_names(void **state)
{
	static const char *const names[] = { "d", "b", "a", "c" };
	struct setup setup;
	uint32_t *counts;

	(void)state;
	setup.counts = counts = calloc(4 * 40, sizeof(*counts));
	assert_non_null(counts);
	for (int i = 0; i < 4 * 40; i++)
		counts[i] = 10;
	test_table_init(&setup.test, 4, 20, 2, counts, NULL, NULL);
	assert_int_equal(estimate_shares(&setup.shares, &setup.test.table, NULL, NULL), STATUS_OK);
	setup_rank(&setup, ESTIMATE_FAMILY_RECORDING, 2, names);
	assert_false(setup.ranks.set_settled);
	assert_int_equal(setup.ranks.n_groups, 1);
	for (size_t i = 0; i < 4; i++) {
		const size_t by_name[] = { 2, 1, 3, 0 };

		assert_int_equal(setup.ranks.order[i], by_name[i]);
		assert_int_equal(setup.ranks.rows[i].rank_lo, 1);
		assert_int_equal(setup.ranks.rows[i].rank_hi, 4);
		assert_true(isinf(setup.ranks.rows[i].samples_alone));
	}
	setup_release(&setup);
}

/* 8.0 against 7.9 % needs t^2 (P_i + P_j)/D^2 = 1.96^2 * 0.159/0.001^2 = 610 800 samples at d = 1 */
static void a_near_tie_says_how_many_samples_it_needs(void **state)
{
	enum { E = 20 };
	uint32_t counts[3 * E * 2];
	struct setup setup;

	(void)state;
	setup.counts = calloc(1, 1);
	for (int c = 0; c < E * 2; c++) {
		counts[c] = 80;
		counts[E * 2 + c] = 79;
		counts[2 * E * 2 + c] = 841;
	}
	test_table_init(&setup.test, 3, E, 2, counts, NULL, NULL);
	assert_int_equal(estimate_shares(&setup.shares, &setup.test.table, NULL, NULL), STATUS_OK);
	setup_rank(&setup, ESTIMATE_FAMILY_RECORDING, 3, NULL);
	assert_int_equal(setup.ranks.rows[0].rival, 1);
	assert_int_equal(setup.ranks.rows[1].rival, 0);
	assert_near(setup.ranks.rows[0].samples_alone, 610795, 10);
	assert_true(setup.ranks.rows[0].samples_here > setup.ranks.rows[0].samples_alone);
	assert_int_equal(setup.ranks.rows[2].rival, ESTIMATE_RANK_NO_RIVAL);
	assert_true(setup.ranks.rows[2].resolved);
	setup_release(&setup);
}

/* Eight samples in a row for each drawn one: the clocks' differences must say so. */
static void correlated_samples_resolve_less_than_independent_ones(void **state)
{
	const double p[] = { 30, 25, 20, 15, 10 };
	size_t plain = 0, lumped = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 10; seed++) {
		struct setup setup;

		setup_draw(&setup, 5, 20, p, 64, 1, seed);
		setup_rank(&setup, ESTIMATE_FAMILY_RECORDING, 5, NULL);
		plain += setup.ranks.n_resolved;
		setup_release(&setup);
		setup_draw(&setup, 5, 20, p, 8, 8, seed);
		setup_rank(&setup, ESTIMATE_FAMILY_RECORDING, 5, NULL);
		lumped += setup.ranks.n_resolved;
		setup_release(&setup);
	}
	assert_true(lumped < plain * 7 / 10);
}

static void too_little_data_resolves_nothing_and_says_why(void **state)
{
	const double p[] = { 3, 1 };
	struct setup setup;

	(void)state;
	setup_draw(&setup, 2, 4, p, 100, 1, 1);
	setup_rank(&setup, ESTIMATE_FAMILY_RECORDING, 2, NULL);
	assert_non_null(setup.ranks.why);
	assert_int_equal(setup.ranks.n_resolved, 0);
	assert_int_equal(setup.ranks.order[0], 0);
	assert_false(setup.ranks.order_settled);
	setup_release(&setup);
	/* enough for the recording, not for the workload */
	setup_draw(&setup, 2, 8, p, 100, 1, 1);
	setup_rank(&setup, ESTIMATE_FAMILY_RECORDING, 2, NULL);
	assert_null(setup.ranks.why);
	assert_true(setup.ranks.order_settled);
	estimate_ranks_release(&setup.ranks);
	setup_rank(&setup, ESTIMATE_FAMILY_WORKLOAD, 2, NULL);
	assert_non_null(setup.ranks.why);
	assert_int_equal(setup.ranks.n_resolved, 0);
	setup_release(&setup);
}

static void no_functions_are_ranked_without_complaint(void **state)
{
	const uint32_t counts[] = { 0 };
	struct setup setup;

	(void)state;
	setup.counts = calloc(1, 1);
	test_table_init(&setup.test, 0, 20, 2, counts, NULL, NULL);
	assert_int_equal(estimate_shares(&setup.shares, &setup.test.table, NULL, NULL), STATUS_OK);
	setup_rank(&setup, ESTIMATE_FAMILY_RECORDING, 5, NULL);
	assert_int_equal(setup.ranks.n_rows, 0);
	assert_false(setup.ranks.set_settled);
	setup_release(&setup);
}

/* 0 above 1, 1 above 2; 0 and 2 were not resolved by their own test, and 3 is unresolved from all. */
static void what_follows_from_resolved_pairs_is_resolved_too(void **state)
{
	struct estimate_rank rows[4] = { { 0 } };
	size_t order[4], place[] = { 0, 1, 2, 3 };
	uint64_t below[4] = { 0 };
	struct estimate_ranks ranks = {
		.rows = rows,
		.order = order,
		.n_rows = 4,
		.n_examined = 4,
		.top_k = 1,
		.n_pairs = 6,
		.place = place,
		.below = below,
	};

	(void)state;
	bits_set(&below[0], 1);
	bits_set(&below[1], 2);
	ranks_arrange(&ranks, place, NULL);
	assert_true(estimate_ranks_above(&ranks, 0, 2));
	assert_int_equal(ranks.n_resolved, 3);
	assert_int_equal(rows[2].rank_lo, 3);
	assert_int_equal(rows[0].rank_hi, 2);
	assert_int_equal(rows[3].rank_lo, 1);
	assert_int_equal(rows[3].rank_hi, 4);
	/* 0 and 3 form a group, 1 and 2 stand alone: 3 is printed second, by its range */
	assert_int_equal(rows[0].group, rows[3].group);
	assert_int_not_equal(rows[1].group, rows[2].group);
}

/* Twenty equal functions: any of them could belong to the top one, so all are examined. */
static void whoever_could_belong_to_the_top_is_examined(void **state)
{
	double p[21];
	struct setup setup;

	(void)state;
	for (int s = 0; s < 20; s++)
		p[s] = 1;
	p[20] = 0.01;
	setup_draw(&setup, 21, 20, p, 50, 1, 9);
	setup_rank(&setup, ESTIMATE_FAMILY_RECORDING, 1, NULL);
	assert_in_range(setup.ranks.n_examined, 17, 20);
	assert_false(setup.ranks.rows[20].examined);
	assert_int_equal(setup.ranks.n_pairs,
			 setup.ranks.n_examined * (21 - setup.ranks.n_examined) +
				 setup.ranks.n_examined * (setup.ranks.n_examined - 1) / 2);
	setup_release(&setup);
}

static int pair_compare(const void *left, const void *right)
{
	const struct pair *a = left, *b = right;
	const double p_a = tail_t(a->t, a->df / (double)DF_STEPS);
	const double p_b = tail_t(b->t, b->df / (double)DF_STEPS);

	return (p_a > p_b) - (p_a < p_b);
}

static void holm_without_sorting_accepts_what_the_sorted_step_down_accepts(void **state)
{
	enum { N = 200 };
	struct pair pairs[N], sorted[N];
	struct thresholds thresholds;
	struct random random;

	(void)state;
	random_init(&random, 6, 0, 0, 0);
	assert_true(thresholds_init(&thresholds, 0.05));
	for (int trial = 0; trial < 300; trial++) {
		const size_t n = 1 + random_below(&random, N);
		const size_t family = n + random_below(&random, 3);
		const double scale = 1 + 6 * random_double(&random);
		size_t expected = 0, accepted;
		double level;

		for (size_t i = 0; i < n; i++)
			pairs[i] = sorted[i] = (struct pair){
				.t = scale * random_double(&random),
				.df = df_class(3 + 40 * random_double(&random)),
				.low = (uint32_t)i,
			};
		qsort(sorted, n, sizeof(*sorted), pair_compare);
		while (expected < n &&
		       2 * tail_t(sorted[expected].t, sorted[expected].df / (double)DF_STEPS) <=
			       0.05 / (double)(family - expected))
			expected++;
		accepted = pairs_holm(pairs, n, 0, family, 0.05, &thresholds, &level);
		assert_int_equal(accepted, expected);
		for (size_t i = 0; i < accepted; i++)
			assert_true(pair_compare(&pairs[i], &sorted[expected - 1]) <= 0);
	}
	thresholds_release(&thresholds);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_resolved_pair_is_printed_inverted_and_ranges_count_pairs),
		cmocka_unit_test(functions_far_apart_are_ranked_one_by_one),
		cmocka_unit_test(equal_functions_form_one_group_in_order_of_their_names),
		cmocka_unit_test(a_near_tie_says_how_many_samples_it_needs),
		cmocka_unit_test(correlated_samples_resolve_less_than_independent_ones),
		cmocka_unit_test(too_little_data_resolves_nothing_and_says_why),
		cmocka_unit_test(no_functions_are_ranked_without_complaint),
		cmocka_unit_test(what_follows_from_resolved_pairs_is_resolved_too),
		cmocka_unit_test(whoever_could_belong_to_the_top_is_examined),
		cmocka_unit_test(holm_without_sorting_accepts_what_the_sorted_step_down_accepts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
