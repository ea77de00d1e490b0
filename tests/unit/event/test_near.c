/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "event/grammar.h"
#include "support/test.h"

static bool near_to(const char *word, const char *name)
{
	struct event_near near;

	event_near_init(&near, event_slice_of(word));
	event_near_offer(&near, name);
	return near.n == 1;
}

static void one_change_in_three_letters_is_near(void **state)
{
	(void)state;
	assert_true(near_to("cyc", "cy"));
	assert_true(near_to("cycels", "cycles"));
	assert_true(near_to("cyclse", "cycles"));
	assert_true(near_to("CYCLE", "cycles"));
	assert_true(near_to("faluts", "faults"));
	assert_false(near_to("cat", "dog"));
	assert_false(near_to("xy", "ab"));
	assert_false(near_to("cycles", "instructions"));
	assert_false(near_to("", "a"));
}

static void swapped_neighbours_count_as_one_change(void **state)
{
	struct event_near near;

	(void)state;
	event_near_init(&near, event_slice_of("dmumy"));
	event_near_offer(&near, "dummy");
	assert_int_equal(near.best[0].distance, 1);
	event_near_init(&near, event_slice_of("abcdef"));
	event_near_offer(&near, "abdce");
	assert_int_equal(near.best[0].distance, 2);
}

static void at_most_four_changes_are_near_however_long_the_word(void **state)
{
	(void)state;
	assert_true(near_to("aaaaaaaaaaaaaaaaaaaaaaaa", "bbbbaaaaaaaaaaaaaaaaaaaa"));
	assert_false(near_to("aaaaaaaaaaaaaaaaaaaaaaaa", "bbbbbaaaaaaaaaaaaaaaaaaa"));
}

static void the_nearest_three_are_kept_nearest_first(void **state)
{
	static const char *const names[] = { "abcdefgxyz", "abcdefghxy", "abcdefghix", "abcdefghij",
					     "abcdefghi" };
	struct event_near near;

	(void)state;
	event_near_init(&near, event_slice_of("abcdefghij"));
	for (size_t i = 0; i < 5; i++)
		event_near_offer(&near, names[i]);
	assert_int_equal(near.n, 3);
	assert_string_equal(near.best[0].name, "abcdefghij");
	assert_int_equal(near.best[0].distance, 0);
	assert_int_equal(near.best[1].distance, 1);
	assert_int_equal(near.best[2].distance, 1);
}

static void a_name_offered_twice_is_kept_once(void **state)
{
	struct event_near near;

	(void)state;
	event_near_init(&near, event_slice_of("cycels"));
	event_near_offer(&near, "cycles");
	event_near_offer(&near, "cycles");
	assert_int_equal(near.n, 1);
}

static void words_that_are_too_long_get_no_suggestion(void **state)
{
	char word[200];

	(void)state;
	memset(word, 'a', sizeof(word));
	word[199] = '\0';
	assert_false(near_to(word, word));
	word[48] = '\0';
	assert_true(near_to(word, word));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_change_in_three_letters_is_near),
		cmocka_unit_test(swapped_neighbours_count_as_one_change),
		cmocka_unit_test(at_most_four_changes_are_near_however_long_the_word),
		cmocka_unit_test(the_nearest_three_are_kept_nearest_first),
		cmocka_unit_test(a_name_offered_twice_is_kept_once),
		cmocka_unit_test(words_that_are_too_long_get_no_suggestion),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
