/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/test.h"

#include "base/random.h"
#include "record/id_map.h"

static void an_empty_map_has_nothing(void **state)
{
	struct id_map map = { 0 };

	(void)state;
	assert_int_equal(id_map_get(&map, 1), ID_MAP_NONE);
	id_map_remove(&map, 1);
	id_map_release(&map);
}

static void the_last_value_put_is_found(void **state)
{
	struct id_map map = { 0 };

	(void)state;
	assert_true(id_map_put(&map, 7, 70));
	assert_true(id_map_put(&map, 7, 71));
	assert_int_equal(id_map_get(&map, 7), 71);
	assert_int_equal(map.n, 1);
	id_map_release(&map);
}

/* Against an array: 500 keys in a small table collide all the time. */
static void removal_loses_no_other_key(void **state)
{
	struct id_map map = { 0 };
	uint32_t truth[500];
	struct random random;

	(void)state;
	random_init(&random, 3, 0, 0, 0);
	for (int i = 0; i < 500; i++)
		truth[i] = ID_MAP_NONE;
	for (int step = 0; step < 50000; step++) {
		const uint32_t key = (uint32_t)random_below(&random, 500);

		if (random_below(&random, 2)) {
			truth[key] = (uint32_t)step;
			assert_true(id_map_put(&map, key, (uint32_t)step));
		} else {
			truth[key] = ID_MAP_NONE;
			id_map_remove(&map, key);
		}
		if (step % 100)
			continue;
		for (uint32_t i = 0; i < 500; i++)
			assert_int_equal(id_map_get(&map, i), truth[i]);
	}
	id_map_release(&map);
}

/* Hours of threads: the table follows the living, not the dead. */
static void keys_that_come_and_go_do_not_grow_the_table(void **state)
{
	struct id_map map = { 0 };

	(void)state;
	for (uint64_t key = 0; key < 1000000; key++) {
		assert_true(id_map_put(&map, key, 1));
		if (key >= 10)
			id_map_remove(&map, key - 10);
	}
	assert_int_equal(map.n, 10);
	assert_true(map.capacity <= 64);
	id_map_release(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_map_has_nothing),
		cmocka_unit_test(the_last_value_put_is_found),
		cmocka_unit_test(removal_loses_no_other_key),
		cmocka_unit_test(keys_that_come_and_go_do_not_grow_the_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
