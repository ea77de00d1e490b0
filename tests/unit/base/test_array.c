/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

#include "support/test.h"

struct thing {
	uint64_t number;
	char letter;
};

static void an_empty_array_grows_and_keeps_what_is_in_it(void **state)
{
	struct thing *things = NULL;
	size_t n = 0, capacity = 0;

	(void)state;
	for (uint64_t i = 0; i < 10000; i++) {
		assert_true(array_reserve(&things, &capacity, n + 1));
		things[n++] = (struct thing){ i, 'x' };
	}
	assert_true(capacity >= n);
	for (uint64_t i = 0; i < n; i++)
		assert_true(things[i].number == i && things[i].letter == 'x');
	free(things);
}

/* n additions move the elements O(log n) times, so that filling is linear. */
static void capacity_doubles(void **state)
{
	size_t capacity = 0, changes = 0;
	int *numbers = NULL;

	(void)state;
	for (size_t n = 1; n <= 1 << 20; n++) {
		const size_t before = capacity;

		assert_true(array_reserve(&numbers, &capacity, n));
		changes += capacity != before;
	}
	assert_int_equal(capacity, 1 << 20);
	assert_int_equal(changes, 18); /* 8 = 2^3 ... 2^20 */
	free(numbers);
}

static void enough_room_changes_nothing(void **state)
{
	size_t capacity = 0;
	int *numbers = NULL, *before;

	(void)state;
	assert_true(array_reserve(&numbers, &capacity, 100));
	assert_int_equal(capacity, 128);
	before = numbers;
	assert_true(array_reserve(&numbers, &capacity, 128));
	assert_true(array_reserve(&numbers, &capacity, 0));
	assert_ptr_equal(numbers, before);
	assert_int_equal(capacity, 128);
	free(numbers);
}

static void sizes_that_overflow_are_refused_and_the_array_stays(void **state)
{
	static const size_t wanted[] = { SIZE_MAX, SIZE_MAX / 2 + 2,
					 SIZE_MAX / sizeof(struct thing) + 1 };
	struct thing *things = NULL;
	size_t capacity = 0;

	(void)state;
	assert_true(array_reserve(&things, &capacity, 1));
	things[0].number = 42;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		struct thing *before = things;

		assert_false(array_reserve(&things, &capacity, wanted[i]));
		assert_ptr_equal(things, before);
		assert_int_equal(capacity, 8);
		assert_int_equal(things[0].number, 42);
	}
	free(things);
}

static void the_arguments_are_evaluated_once(void **state)
{
	struct {
		int *numbers;
		size_t capacity;
	} rows[2] = { 0 };
	size_t row = 0, wanted = 1;

	(void)state;
	assert_true(array_reserve(&rows[row++].numbers, &rows[0].capacity, wanted++));
	assert_int_equal(row, 1);
	assert_int_equal(wanted, 2);
	assert_non_null(rows[0].numbers);
	assert_null(rows[1].numbers);
	free(rows[0].numbers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_array_grows_and_keeps_what_is_in_it),
		cmocka_unit_test(capacity_doubles),
		cmocka_unit_test(enough_room_changes_nothing),
		cmocka_unit_test(sizes_that_overflow_are_refused_and_the_array_stays),
		cmocka_unit_test(the_arguments_are_evaluated_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
