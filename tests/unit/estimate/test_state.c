/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/test.h"

#include "estimate/state.h"

static void the_whole_is_as_doubtful_as_the_worst_of_its_top(void **state)
{
	struct estimate_rank rows[] = { { .resolved = true }, { .resolved = true }, { 0 } };
	size_t order[] = { 1, 0, 2 };
	struct estimate_ranks ranks = { .rows = rows, .order = order, .n_rows = 3, .top_k = 2 };
	bool biased[] = { false, false, true };

	(void)state;
	assert_int_equal(estimate_state_whole(&ranks, NULL), ESTIMATE_RESOLVED);
	assert_int_equal(estimate_state_whole(&ranks, biased), ESTIMATE_RESOLVED);
	ranks.top_k = 3;
	assert_int_equal(estimate_state_whole(&ranks, NULL), ESTIMATE_UNRESOLVED);
	assert_int_equal(estimate_state_whole(&ranks, biased), ESTIMATE_BIASED);
	ranks.top_k = 0;
	assert_int_equal(estimate_state_whole(&ranks, NULL), ESTIMATE_UNRESOLVED);
}

static void bias_outranks_resolution_and_nothing_is_resolved_without_data(void **state)
{
	struct estimate_rank rows[] = { { .resolved = true } };
	struct estimate_ranks ranks = { .rows = rows, .n_rows = 1, .top_k = 1 };

	(void)state;
	assert_int_equal(estimate_state_row(&ranks, 0, false), ESTIMATE_RESOLVED);
	assert_int_equal(estimate_state_row(&ranks, 0, true), ESTIMATE_BIASED);
	ranks.why = "too few samples";
	assert_int_equal(estimate_state_row(&ranks, 0, false), ESTIMATE_UNRESOLVED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_whole_is_as_doubtful_as_the_worst_of_its_top),
		cmocka_unit_test(bias_outranks_resolution_and_nothing_is_resolved_without_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
