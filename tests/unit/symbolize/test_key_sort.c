/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/key_sort.h"

#include <stdlib.h>

#include "base/random.h"
#include "support/test.h"

static void check(uint64_t mask, size_t n)
{
	struct sort_key *keys = calloc(n + 1, sizeof(*keys));
	struct random random;

	random_init(&random, 7, mask, n, 0);
	for (size_t i = 0; i < n; i++)
		keys[i] = (struct sort_key){ random_u64(&random) & mask, (uint32_t)i };
	assert_true(key_sort(keys, n));
	for (size_t i = 1; i < n; i++) {
		assert_true(keys[i - 1].key <= keys[i].key);
		if (keys[i - 1].key == keys[i].key)
			assert_true(keys[i - 1].index < keys[i].index);
	}
	free(keys);
}

static void keys_of_any_width_are_sorted_and_equal_ones_keep_their_order(void **state)
{
	(void)state;
	check(UINT64_MAX, 5000);
	check(0xff, 5000);
	check(UINT64_C(0xff) << 56, 5000);
	check(UINT64_C(0x7ff) << 30, 3000);
	check(0, 100);
}

static void nothing_and_one_are_sorted(void **state)
{
	(void)state;
	check(UINT64_MAX, 0);
	check(UINT64_MAX, 1);
	check(UINT64_MAX, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_of_any_width_are_sorted_and_equal_ones_keep_their_order),
		cmocka_unit_test(nothing_and_one_are_sorted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
