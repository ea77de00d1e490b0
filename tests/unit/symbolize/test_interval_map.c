/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The map against the slow answer: look at all intervals. */
#include "symbolize/interval_map.h"

#include "base/random.h"
#include "support/test.h"

#define MAX_INTERVALS 60
#define MAX_ADDRESS   100

static uint32_t slow_at(const struct interval *intervals, size_t n, uint64_t address)
{
	const struct interval *best = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct interval *x = &intervals[i];

		if (address < x->start || address >= x->end)
			continue;
		if (!best || x->rank > best->rank ||
		    (x->rank == best->rank &&
		     (x->end - x->start < best->end - best->start ||
		      (x->end - x->start == best->end - best->start && x->value > best->value))))
			best = x;
	}
	return best ? best->value : INTERVAL_NONE;
}

static void any_overlap_is_settled_by_rank_then_length_then_value(void **state)
{
	struct random random;

	(void)state;
	random_init(&random, 11, 0, 0, 0);
	for (int round = 0; round < 3000; round++) {
		struct interval intervals[MAX_INTERVALS];
		struct interval_map map = { 0 };
		const size_t n = (size_t)random_below(&random, MAX_INTERVALS + 1);
		const uint64_t ranks = random_between(&random, 1, 4);

		for (size_t i = 0; i < n; i++) {
			intervals[i] = (struct interval){
				.start = random_below(&random, MAX_ADDRESS),
				.rank = random_below(&random, ranks),
				.value = (uint32_t)i,
			};
			intervals[i].end = intervals[i].start + random_below(&random, 20);
			assert_true(interval_map_add(&map, intervals[i]));
		}
		assert_true(interval_map_build(&map));
		for (uint64_t address = 0; address < MAX_ADDRESS + 20; address++)
			assert_int_equal(interval_map_at(&map, address),
					 slow_at(intervals, n, address));
		for (size_t i = 1; i < map.n_spans; i++) {
			assert_true(map.spans[i - 1].start < map.spans[i].start);
			assert_true(map.spans[i - 1].value != map.spans[i].value);
		}
		interval_map_release(&map);
	}
}

static void the_ends_of_the_address_space_are_addresses_too(void **state)
{
	struct interval_map map = { 0 };

	(void)state;
	assert_int_equal(interval_map_at(&map, 0), INTERVAL_NONE);
	assert_true(interval_map_add(&map, (struct interval){ 0, 1, 0, 3 }));
	assert_true(interval_map_add(&map, (struct interval){ UINT64_MAX - 1, UINT64_MAX, 0, 4 }));
	assert_true(interval_map_add(&map, (struct interval){ 5, 5, 9, 5 }));
	assert_true(interval_map_build(&map));
	assert_int_equal(interval_map_at(&map, 0), 3);
	assert_int_equal(interval_map_at(&map, 1), INTERVAL_NONE);
	assert_int_equal(interval_map_at(&map, 5), INTERVAL_NONE);
	assert_int_equal(interval_map_at(&map, UINT64_MAX - 1), 4);
	assert_int_equal(interval_map_at(&map, UINT64_MAX), INTERVAL_NONE);
	interval_map_release(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_overlap_is_settled_by_rank_then_length_then_value),
		cmocka_unit_test(the_ends_of_the_address_space_are_addresses_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
