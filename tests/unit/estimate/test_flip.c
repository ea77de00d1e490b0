/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/test.h"

#include "estimate/flip.h"
#include "estimate/quantile.h"
#include "unit/estimate/near.h"

static void a_wrong_first_function_is_named_with_its_chance(void **state)
{
	const uint64_t conventional[] = { 500, 300, 200 }, randomised[] = { 250, 450, 300 };
	const struct estimate_flip flip = estimate_flip(conventional, randomised, 3, 1, 0);

	(void)state;
	assert_true(flip.differs);
	assert_int_equal(flip.shown, 0);
	assert_int_equal(flip.truly, 1);
	assert_true(fabs(flip.p_value / tail_normal(200 / sqrt(700)) - 1) < 1e-12);
	/* 250 below 450 and 300: the second is 50/sqrt(550) = 2.13 sigma, p = 0.017 <= 0.05/2 */
	assert_int_equal(flip.n_pairs, 2);
	assert_true(flip.pairs[0].flipped);
	assert_true(flip.pairs[1].flipped);
}

static void a_design_effect_makes_a_flip_less_sure_but_never_surer(void **state)
{
	const uint64_t conventional[] = { 500, 300 }, randomised[] = { 250, 450 };
	const double plain = estimate_flip(conventional, randomised, 2, 1, 0).p_value;

	(void)state;
	assert_true(estimate_flip(conventional, randomised, 2, 4, 0).p_value > plain);
	assert_true(estimate_flip(conventional, randomised, 2, 0.1, 0).p_value == plain);
}

static void the_same_first_function_is_no_flip(void **state)
{
	const uint64_t conventional[] = { 500, 300, 0 }, randomised[] = { 700, 100, 0 };
	const uint64_t nothing[] = { 0, 0, 0 };
	struct estimate_flip flip = estimate_flip(conventional, randomised, 3, 1, 0);

	(void)state;
	assert_false(flip.differs);
	assert_true(flip.p_value == 1);
	assert_int_equal(flip.n_pairs, 0);
	flip = estimate_flip(conventional, nothing, 3, 1, 0);
	assert_false(flip.differs);
}

static void lower_places_are_held_to_holm_over_all_pairs_of_the_top(void **state)
{
	/* the last two are inverted by 2 sigma: p = 0.023, above 0.05/10 */
	const uint64_t conventional[] = { 900, 700, 500, 400, 300 };
	const uint64_t randomised[] = { 900, 700, 500, 176, 220 };
	const struct estimate_flip flip = estimate_flip(conventional, randomised, 5, 1, 0);

	(void)state;
	assert_false(flip.differs);
	assert_int_equal(flip.n_pairs, 1);
	assert_false(flip.pairs[0].flipped);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wrong_first_function_is_named_with_its_chance),
		cmocka_unit_test(a_design_effect_makes_a_flip_less_sure_but_never_surer),
		cmocka_unit_test(the_same_first_function_is_no_flip),
		cmocka_unit_test(lower_places_are_held_to_holm_over_all_pairs_of_the_top),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
