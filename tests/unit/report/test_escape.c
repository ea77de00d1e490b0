/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <string.h>

#include "base/random.h"
#include "report/escape.h"
#include "support/test.h"

static void shown_as(const char *name, const char *expected, size_t columns)
{
	struct output output;
	size_t got;

	output_init(&output);
	got = escape_for_terminal(&output, name);
	assert_string_equal(output.text ? output.text : "", expected);
	assert_int_equal(got, columns);
	output_release(&output);
}

static void ordinary_names_are_left_alone(void **state)
{
	(void)state;
	shown_as("", "", 0);
	shown_as("std::vector<int>::push_back(int&&)", "std::vector<int>::push_back(int&&)", 34);
	shown_as("naïve-日", "naïve-日", 7);
	shown_as("</script>&amp;\"'", "</script>&amp;\"'", 16);
	shown_as("C:\\dir\\Foo", "C:\\dir\\Foo", 10);
}

static void controls_become_visible(void **state)
{
	(void)state;
	shown_as("a\nb\tc\rd", "a\\nb\\tc\\rd", 10);
	shown_as("\033[31m", "\\x1b[31m", 8);
	shown_as("\x7f", "\\x7f", 4);
	shown_as("\xc2\x85", "\\u{85}", 6); /* C1: next line */
}

static void a_backslash_that_would_look_like_an_escape_is_doubled(void **state)
{
	(void)state;
	shown_as("\\x1b", "\\\\x1b", 5);
	shown_as("\\n", "\\\\n", 3);
	shown_as("\\\\", "\\\\\\", 3);
}

static void bytes_that_are_no_utf8_are_shown_in_hex(void **state)
{
	(void)state;
	shown_as("\xff\xfe", "\\xff\\xfe", 8);
	shown_as("\xc0\xaf", "\\xc0\\xaf", 8);                    /* overlong */
	shown_as("\xed\xa0\x80", "\\xed\\xa0\\x80", 12);          /* surrogate */
	shown_as("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80", 16); /* above U+10FFFF */
	shown_as("\xe2\x82", "\\xe2\\x82", 8);                    /* cut */
}

static void invisible_layout_characters_become_visible(void **state)
{
	(void)state;
	shown_as("\u202egnp", "\\u{202e}gnp", 11);
	shown_as("a\u200bb", "a\\u{200b}b", 10);
	shown_as("\ufeff", "\\u{feff}", 8);
	shown_as("\u2066x", "\\u{2066}x", 9);
}

static void no_bytes_whatever_give_a_control_or_broken_utf8(void **state)
{
	struct random random;

	(void)state;
	random_init(&random, 11, 0, 0, 0);
	for (int round = 0; round < 20000; round++) {
		char name[9] = { 0 };
		struct output output, twice;

		for (size_t i = 0; i < 8; i++)
			name[i] = (char)random_below(&random, 256);
		output_init(&output);
		output_init(&twice);
		escape_for_terminal(&output, name);
		for (size_t i = 0; i < output.size; i++)
			assert_false(iscntrl((unsigned char)output.text[i]));
		/* what is valid stays what it is when only invalid bytes are escaped */
		if (output.size) {
			escape_invalid_utf8(&twice, output.text);
			assert_string_equal(output.text, twice.text);
		}
		output_release(&output);
		output_release(&twice);
	}
}

static void json_texts_keep_controls_and_lose_only_invalid_bytes(void **state)
{
	struct output output;

	(void)state;
	output_init(&output);
	escape_invalid_utf8(&output, "a\n\x1b\xffé");
	assert_string_equal(output.text, "a\n\x1b\\xffé");
	output_release(&output);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ordinary_names_are_left_alone),
		cmocka_unit_test(controls_become_visible),
		cmocka_unit_test(a_backslash_that_would_look_like_an_escape_is_doubled),
		cmocka_unit_test(bytes_that_are_no_utf8_are_shown_in_hex),
		cmocka_unit_test(invisible_layout_characters_become_visible),
		cmocka_unit_test(no_bytes_whatever_give_a_control_or_broken_utf8),
		cmocka_unit_test(json_texts_keep_controls_and_lose_only_invalid_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
