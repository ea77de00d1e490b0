/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/random.h"
#include "profile/maps.h"
#include "support/test.h"

static void put(struct maps *maps, uint32_t *root, uint64_t start, uint64_t end, uint32_t mapping)
{
	assert_int_equal(maps_put(maps, root, start, end, mapping, NULL), STATUS_OK);
}

static uint32_t at(const struct maps *maps, uint32_t root, uint64_t address)
{
	const struct maps_segment *segment = maps_find(maps, root, address);

	return segment ? segment->mapping : UINT32_MAX;
}

static void an_empty_space_maps_nothing(void **state)
{
	struct maps maps;

	(void)state;
	maps_init(&maps);
	assert_null(maps_find(&maps, MAPS_EMPTY, 0x1000));
	assert_null(maps_overlap(&maps, MAPS_EMPTY, 0, UINT64_MAX));
	maps_release(&maps);
}

static void a_mapping_over_the_middle_of_another_leaves_both_its_ends(void **state)
{
	struct maps maps;
	uint32_t root = MAPS_EMPTY;

	(void)state;
	maps_init(&maps);
	put(&maps, &root, 0x1000, 0x9000, 1);
	put(&maps, &root, 0x3000, 0x5000, 2);
	assert_int_equal(at(&maps, root, 0x2fff), 1);
	assert_int_equal(at(&maps, root, 0x3000), 2);
	assert_int_equal(at(&maps, root, 0x4fff), 2);
	assert_int_equal(at(&maps, root, 0x5000), 1);
	assert_int_equal(at(&maps, root, 0x9000), UINT32_MAX);
	assert_int_equal(maps_find(&maps, root, 0x5000)->start, 0x5000);
	maps_release(&maps);
}

static void a_frozen_root_stays_what_it_was(void **state)
{
	struct maps maps;
	uint32_t parent = MAPS_EMPTY, child;

	(void)state;
	maps_init(&maps);
	for (uint32_t i = 0; i < 100; i++)
		put(&maps, &parent, 0x1000 * i, 0x1000 * i + 0x800, i);
	maps_freeze(&maps);
	child = parent;
	put(&maps, &child, 0x1000, 0x63000, 1000);
	put(&maps, &parent, 0x2000, 0x3000, 2000);
	assert_int_equal(at(&maps, child, 0x2000), 1000);
	assert_int_equal(at(&maps, parent, 0x2000), 2000);
	assert_int_equal(at(&maps, parent, 0x5000), 5);
	assert_int_equal(at(&maps, parent, 0x5800), UINT32_MAX);
	assert_int_equal(at(&maps, child, 0x5800), 1000);
	maps_release(&maps);
}

static void overlap_gives_the_lowest_segment_that_shares_a_byte(void **state)
{
	struct maps maps;
	uint32_t root = MAPS_EMPTY;

	(void)state;
	maps_init(&maps);
	put(&maps, &root, 10, 20, 1);
	put(&maps, &root, 30, 40, 2);
	put(&maps, &root, 50, 60, 3);
	assert_null(maps_overlap(&maps, root, 20, 30));
	assert_int_equal(maps_overlap(&maps, root, 19, 60)->mapping, 1);
	assert_int_equal(maps_overlap(&maps, root, 20, 51)->mapping, 2);
	assert_int_equal(maps_overlap(&maps, root, 59, 1000)->mapping, 3);
	maps_release(&maps);
}

/* Against a table of bytes, over many random puts and with all earlier roots checked again. */
#define BYTES 256
#define STEPS 400

static void random_puts_agree_with_a_table_of_bytes_at_every_earlier_root(void **state)
{
	static uint32_t model[STEPS][BYTES];
	uint32_t roots[STEPS], root = MAPS_EMPTY, now[BYTES];
	struct random random;
	struct maps maps;

	(void)state;
	random_init(&random, 7, 0, 0, 0);
	maps_init(&maps);
	for (size_t i = 0; i < BYTES; i++)
		now[i] = UINT32_MAX;
	for (uint32_t step = 0; step < STEPS; step++) {
		const uint64_t start = random_below(&random, BYTES - 1);
		const uint64_t end = random_between(&random, start + 1, BYTES);

		put(&maps, &root, start, end, step);
		for (uint64_t i = start; i < end; i++)
			now[i] = step;
		memcpy(model[step], now, sizeof(now));
		roots[step] = root;
		maps_freeze(&maps);
	}
	for (uint32_t step = 0; step < STEPS; step++)
		for (uint64_t i = 0; i < BYTES; i++)
			assert_int_equal(at(&maps, roots[step], i), model[step][i]);
	maps_release(&maps);
}

/* Ascending, descending and alternating order: the worst for a tree that does not balance. A walk of
 * 100000 lookups in a list-like tree of 100000 would not end. */
static void order_of_mapping_does_not_make_lookups_slow(void **state)
{
	(void)state;
	for (int order = 0; order < 3; order++) {
		struct maps maps;
		uint32_t root = MAPS_EMPTY;

		maps_init(&maps);
		for (uint32_t i = 0; i < 100000; i++) {
			const uint64_t place = order == 0   ? i
					       : order == 1 ? 100000 - i
					       : i & 1      ? i
							    : 200000 - i;

			put(&maps, &root, place * 16, place * 16 + 8, i);
		}
		for (uint32_t i = 0; i < 100000; i++)
			assert_int_equal(at(&maps, root,
					    16ull * (order == 0   ? i
						     : order == 1 ? 100000 - i
						     : i & 1      ? i
								  : 200000 - i)),
					 i);
		/* without freezing, putting onto free addresses reuses its nodes */
		assert_true(maps.n_nodes <= 100001);
		maps_release(&maps);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_space_maps_nothing),
		cmocka_unit_test(a_mapping_over_the_middle_of_another_leaves_both_its_ends),
		cmocka_unit_test(a_frozen_root_stays_what_it_was),
		cmocka_unit_test(overlap_gives_the_lowest_segment_that_shares_a_byte),
		cmocka_unit_test(random_puts_agree_with_a_table_of_bytes_at_every_earlier_root),
		cmocka_unit_test(order_of_mapping_does_not_make_lookups_slow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
