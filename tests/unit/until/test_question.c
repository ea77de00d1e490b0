/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/test.h"

#include <string.h>

#include "until/question.h"

static struct until_question parsed(const char *word)
{
	struct until_question question;
	struct error error;

	if (until_question_parse(&question, word, &error) != STATUS_OK)
		fail_msg("%s", error.text);
	return question;
}

static void the_three_questions_are_understood(void **state)
{
	struct until_question question = parsed("top=5");

	(void)state;
	assert_int_equal(question.kind, ESTIMATE_UNTIL_ORDER);
	assert_int_equal(question.top_k, 5);
	assert_string_equal(question.text, "top=5");
	question = parsed("top=12:set");
	assert_int_equal(question.kind, ESTIMATE_UNTIL_SET);
	assert_int_equal(question.top_k, 12);
	assert_string_equal(question.text, "top=12:set");
	question = parsed("share=±0.5%");
	assert_int_equal(question.kind, ESTIMATE_UNTIL_SHARE);
	assert_true(question.half_width > 0.00499 && question.half_width < 0.00501);
	assert_string_equal(question.text, "share=±0.5%");
}

static void the_sign_of_a_share_may_be_typed_on_any_keyboard(void **state)
{
	static const char *const words[] = { "share=+-2%", "share=+/-2%", "share=2%" };

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		assert_string_equal(parsed(words[i]).text, "share=±2%");
}

static void anything_else_is_refused_and_named(void **state)
{
	static const char *const words[] = { "",          "top",       "top=",        "top=0",
					     "top=101",   "top=-1",    "top= 5",      "top=5:order",
					     "top=5 ",    "share=",    "share=0%",    "share=0.5",
					     "share=-1%", "share=60%", "share=1e-1%", "share=nan%",
					     "Top=5",     "share=±%",  "top=0x5" };

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		struct until_question question;
		struct error error;

		assert_int_equal(until_question_parse(&question, words[i], &error), STATUS_USAGE);
		assert_non_null(strstr(error.text, words[i]));
		assert_non_null(strstr(error.text, "top=K"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_three_questions_are_understood),
		cmocka_unit_test(the_sign_of_a_share_may_be_typed_on_any_keyboard),
		cmocka_unit_test(anything_else_is_refused_and_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
