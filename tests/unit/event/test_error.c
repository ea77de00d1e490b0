/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "event/grammar.h"
#include "support/test.h"

static void a_refusal_gives_the_position_counted_from_one(void **state)
{
	struct error error;
	struct event_grammar g = { .text = "cs,bad", .error = &error };

	(void)state;
	assert_int_equal(event_refuse(&g, STATUS_USAGE, (struct event_slice){ g.text + 3, 3 },
				      "no %s", "luck"),
			 STATUS_USAGE);
	assert_string_equal(error.text, "no luck (character 4 of 'cs,bad')");
	assert_int_equal(error.offset, 3);
	event_refuse_more(&g, ": try %d", 7);
	assert_string_equal(error.text, "no luck (character 4 of 'cs,bad'): try 7");
}

static void control_bytes_are_shown_as_question_marks(void **state)
{
	struct event_shown shown;

	(void)state;
	assert_string_equal(event_show(&shown, event_slice_of("a\x1b[2J\n\x7f"
							      "b")),
			    "a?[2J??b");
	assert_string_equal(event_show(&shown, event_slice_of("f\xc3\xbc")), "f\xc3\xbc");
}

static void long_words_are_cut_with_dots(void **state)
{
	struct event_shown shown;
	char word[1000];

	(void)state;
	memset(word, 'w', sizeof(word));
	event_show(&shown, (struct event_slice){ word, sizeof(word) });
	assert_int_equal(strlen(shown.text), sizeof(shown.text) - 1);
	assert_string_equal(shown.text + strlen(shown.text) - 4, "w...");
}

static void of_a_long_text_the_part_round_the_word_is_shown(void **state)
{
	struct error error;
	char text[2001];
	struct event_grammar g = { .text = text, .error = &error };

	(void)state;
	memset(text, 'x', 2000);
	text[2000] = '\0';
	memcpy(text + 1500, "HERE", 4);
	event_refuse(&g, STATUS_USAGE, (struct event_slice){ text + 1500, 4 }, "no");
	assert_non_null(strstr(error.text, "HERE"));
	assert_non_null(strstr(error.text, "character 1501 of"));
	assert_int_equal(error.offset, 1500);
}

static void without_an_error_object_only_the_status_is_given(void **state)
{
	struct event_grammar g = { .text = "x" };
	struct event_near near;

	(void)state;
	assert_int_equal(event_refuse(&g, STATUS_LIMIT, event_slice_of(g.text), "no"),
			 STATUS_LIMIT);
	event_refuse_more(&g, "more");
	event_near_init(&near, event_slice_of("abc"));
	event_near_offer(&near, "abd");
	event_near_tell(&g, &near);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_refusal_gives_the_position_counted_from_one),
		cmocka_unit_test(control_bytes_are_shown_as_question_marks),
		cmocka_unit_test(long_words_are_cut_with_dots),
		cmocka_unit_test(of_a_long_text_the_part_round_the_word_is_shown),
		cmocka_unit_test(without_an_error_object_only_the_status_is_given),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
