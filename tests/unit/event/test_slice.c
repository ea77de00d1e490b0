/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "event/grammar.h"
#include "support/test.h"

static void numbers_are_decimal_or_hexadecimal_and_fit_64_bits(void **state)
{
	static const struct {
		const char *text;
		uint64_t value;
	} good[] = { { "0", 0 },
		     { "017", 17 },
		     { "0x1F", 31 },
		     { "0Xff", 255 },
		     { "18446744073709551615", ~0ull },
		     { "0xffffffffffffffff", ~0ull },
		     { "0x0000000000000000001", 1 } };
	static const char *const bad[] = { "",
					   "-1",
					   "+1",
					   "1 ",
					   " 1",
					   "0x",
					   "x1",
					   "1a",
					   "0xg",
					   "1_0",
					   "18446744073709551616",
					   "0x10000000000000000" };
	uint64_t value;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_true(event_slice_number(event_slice_of(good[i].text), &value));
		assert_true(value == good[i].value);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (event_slice_number(event_slice_of(bad[i]), &value))
			fail_msg("'%s'", bad[i]);
}

static void nothing_outside_of_the_slice_counts(void **state)
{
	const struct event_slice slice = { "12,34:", 2 };
	struct event_slice head, rest;
	uint64_t value;

	(void)state;
	assert_true(event_slice_number(slice, &value));
	assert_int_equal(value, 12);
	assert_false(event_slice_split(slice, ',', &head, &rest));
	assert_int_equal(head.n, 2);
	assert_int_equal(rest.n, 0);
	assert_ptr_equal(rest.at, slice.at + 2);
	assert_false(event_slice_is(slice, "12,"));
	assert_false(event_slice_has_glob((struct event_slice){ "ab*", 2 }));
}

static void a_split_gives_what_is_before_and_after_the_first(void **state)
{
	struct event_slice head, rest;

	(void)state;
	assert_true(event_slice_split(event_slice_of("a:b:c"), ':', &head, &rest));
	assert_true(event_slice_is(head, "a"));
	assert_true(event_slice_is(rest, "b:c"));
	assert_true(event_slice_split(event_slice_of(":"), ':', &head, &rest));
	assert_int_equal(head.n + rest.n, 0);
}

static void blanks_are_trimmed_at_both_ends_only(void **state)
{
	(void)state;
	assert_true(event_slice_is(event_slice_trim(event_slice_of(" \ta b\n")), "a b"));
	assert_int_equal(event_slice_trim(event_slice_of(" \n")).n, 0);
}

static void a_word_that_could_leave_its_folder_is_no_file_name(void **state)
{
	static const char *const bad[] = {
		"", ".", "..", "../a", "a/b", "/a", ".hidden", "12345678"
	};
	char name[8];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (event_slice_file_name(event_slice_of(bad[i]), name, sizeof(name)))
			fail_msg("'%s'", bad[i]);
	assert_false(event_slice_file_name((struct event_slice){ "a\0b", 3 }, name, sizeof(name)));
	assert_true(event_slice_file_name(event_slice_of("a.b-c_1"), name, sizeof(name)));
	assert_string_equal(name, "a.b-c_1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_decimal_or_hexadecimal_and_fit_64_bits),
		cmocka_unit_test(nothing_outside_of_the_slice_counts),
		cmocka_unit_test(a_split_gives_what_is_before_and_after_the_first),
		cmocka_unit_test(blanks_are_trimmed_at_both_ends_only),
		cmocka_unit_test(a_word_that_could_leave_its_folder_is_no_file_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
