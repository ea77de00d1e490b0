/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/checked.h"

#include "support/test.h"

static void sums_and_products_are_exact_or_refused(void **state)
{
	uint64_t r = 0;
	size_t s = 0;

	(void)state;
	assert_true(checked_add_u64(UINT64_MAX - 5, 5, &r));
	assert_true(r == UINT64_MAX);
	assert_false(checked_add_u64(UINT64_MAX - 5, 6, &r));
	assert_true(checked_mul_u64(UINT32_MAX, UINT32_MAX, &r));
	assert_true(r == 0xfffffffe00000001u);
	assert_false(checked_mul_u64(1ull << 32, 1ull << 32, &r));
	assert_true(checked_mul_u64(0, UINT64_MAX, &r));
	assert_int_equal(r, 0);
	assert_true(checked_mul_size(SIZE_MAX, 1, &s));
	assert_true(s == SIZE_MAX);
	assert_false(checked_mul_size(SIZE_MAX / 2 + 1, 2, &s));
}

/* All of a small world against the definition, which cannot overflow there. */
static void a_range_is_inside_exactly_when_each_of_its_bytes_is(void **state)
{
	(void)state;
	for (uint64_t limit = 0; limit < 8; limit++)
		for (uint64_t offset = 0; offset < 10; offset++)
			for (uint64_t length = 0; length < 10; length++)
				assert_int_equal(checked_range(offset, length, limit),
						 offset + length <= limit);
}

static void ranges_whose_end_overflows_are_outside(void **state)
{
	(void)state;
	assert_false(checked_range(1, UINT64_MAX, 100));
	assert_false(checked_range(UINT64_MAX, 1, UINT64_MAX));
	assert_false(checked_range(UINT64_MAX - 1, 2, UINT64_MAX));
	assert_true(checked_range(UINT64_MAX - 1, 1, UINT64_MAX));
	assert_true(checked_range(0, UINT64_MAX, UINT64_MAX));
}

static void alignment_goes_up_to_the_next_multiple(void **state)
{
	(void)state;
	assert_int_equal(checked_align_up(0, 8), 0);
	assert_int_equal(checked_align_up(1, 8), 8);
	assert_int_equal(checked_align_up(8, 8), 8);
	assert_int_equal(checked_align_up(9, 1), 9);
	assert_true(checked_align_up(UINT64_MAX - 7, 8) == UINT64_MAX - 7);
}

/* Wrapping to 0 would turn a hostile length into a small one. */
static void alignment_that_overflows_gives_what_no_range_holds(void **state)
{
	(void)state;
	assert_true(checked_align_up(UINT64_MAX - 6, 8) == UINT64_MAX);
	assert_true(checked_align_up(UINT64_MAX, 4096) == UINT64_MAX);
	assert_false(checked_range(1, checked_align_up(UINT64_MAX, 4), UINT64_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_and_products_are_exact_or_refused),
		cmocka_unit_test(a_range_is_inside_exactly_when_each_of_its_bytes_is),
		cmocka_unit_test(ranges_whose_end_overflows_are_outside),
		cmocka_unit_test(alignment_goes_up_to_the_next_multiple),
		cmocka_unit_test(alignment_that_overflows_gives_what_no_range_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
