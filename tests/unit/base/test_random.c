/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/test.h"

#include "base/random.h"

static void equal_names_give_equal_draws(void **state)
{
	struct random a, b;

	(void)state;
	random_init(&a, 42, 1, 2, 3);
	random_init(&b, 42, 1, 2, 3);
	for (int i = 0; i < 1000; i++)
		assert_true(random_u64(&a) == random_u64(&b));
}

static void a_recorded_seed_means_the_same_draws_in_every_version(void **state)
{
	struct random random;

	(void)state;
	random_init(&random, 42, 0, 0, 0);
	assert_true(random_u64(&random) == 0x430dbdbefa43436au);
}

static void streams_that_differ_in_one_coordinate_share_no_draw(void **state)
{
	struct random a, b;

	(void)state;
	for (uint64_t which = 0; which < 3; which++) {
		random_init(&a, 42, 7, 7, 7);
		random_init(&b, 42, 7 + (which == 0), 7 + (which == 1), 7 + (which == 2));
		for (int i = 0; i < 1000; i++)
			assert_true(random_u64(&a) != random_u64(&b));
	}
}

/* 6 cells, 60000 draws: chi-squared with 5 degrees of freedom exceeds 25.7 with probability 1e-4. */
static void draws_below_a_bound_are_uniform(void **state)
{
	struct random random;
	unsigned int cells[6] = { 0 };
	double chi2 = 0;

	(void)state;
	random_init(&random, 1, 0, 0, 0);
	for (int i = 0; i < 60000; i++)
		cells[random_below(&random, 6)]++;
	for (int i = 0; i < 6; i++)
		chi2 += ((double)cells[i] - 10000) * ((double)cells[i] - 10000) / 10000;
	assert_true(chi2 < 25.7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_names_give_equal_draws),
		cmocka_unit_test(a_recorded_seed_means_the_same_draws_in_every_version),
		cmocka_unit_test(streams_that_differ_in_one_coordinate_share_no_draw),
		cmocka_unit_test(draws_below_a_bound_are_uniform),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
