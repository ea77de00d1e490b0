/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "event/paranoid.h"

#include "unit/event/kernel.h"

static int nothing_opens(const struct kernel *kernel, const struct perf_event_attr *attr)
{
	(void)kernel;
	(void)attr;
	return EACCES;
}

static void the_level_is_read_with_its_sign(void **state)
{
	static const struct {
		const char *text;
		int level;
	} files[] = { { "-1\n", -1 }, { "0\n", 0 }, { "2\n", 2 }, { "3\n", 3 }, { "4", 4 } };
	struct kernel kernel;

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		int level = 99;

		kernel_init(&kernel, nothing_opens, files[i].text);
		assert_true(event_paranoid(&kernel.sys, &level));
		assert_int_equal(level, files[i].level);
		assert_int_equal(kernel.n_open, 0);
	}
}

static void what_cannot_be_read_counts_as_the_kernels_default(void **state)
{
	static const char *const files[] = { NULL, "", "\n", "x\n", "99999999999999999999\n" };
	struct kernel kernel;

	(void)state;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		int level = 99;

		kernel_init(&kernel, nothing_opens, files[i]);
		assert_false(event_paranoid(&kernel.sys, &level));
		assert_int_equal(level, 2);
	}
}

static void each_level_has_its_own_meaning(void **state)
{
	(void)state;
	for (int a = -1; a <= 3; a++)
		for (int b = -1; b < a; b++)
			assert_string_not_equal(event_paranoid_means(a), event_paranoid_means(b));
	assert_string_equal(event_paranoid_means(4), event_paranoid_means(3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_level_is_read_with_its_sign),
		cmocka_unit_test(what_cannot_be_read_counts_as_the_kernels_default),
		cmocka_unit_test(each_level_has_its_own_meaning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
