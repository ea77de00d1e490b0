/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/status.h"

#include <errno.h>
#include <string.h>

#include "support/test.h"

static void setting_an_error_fills_every_field_and_returns_its_status(void **state)
{
	struct error error = { STATUS_OK, 7, 7, "old" };

	(void)state;
	assert_int_equal(error_set(&error, STATUS_NOT_FOUND, "no process %d", 42),
			 STATUS_NOT_FOUND);
	assert_int_equal(error.status, STATUS_NOT_FOUND);
	assert_int_equal(error.os_errno, 0);
	assert_true(error.offset == ERROR_NO_OFFSET);
	assert_string_equal(error.text, "no process 42");
}

static void a_failed_call_keeps_its_errno_and_ends_with_its_words(void **state)
{
	struct error error;

	(void)state;
	assert_int_equal(error_set_errno(&error, STATUS_IO, ENOSPC, "cannot write %s", "f"),
			 STATUS_IO);
	assert_int_equal(error.os_errno, ENOSPC);
	assert_string_equal(error.text, "cannot write f: No space left on device");
}

static void bad_input_keeps_its_offset_and_ends_with_it(void **state)
{
	struct error error;

	(void)state;
	assert_int_equal(error_set_corrupt(&error, 0x1f0, "record %d is cut", 3), STATUS_CORRUPT);
	assert_int_equal(error.offset, 0x1f0);
	assert_string_equal(error.text, "record 3 is cut (at offset 0x1f0)");
}

static void a_prefix_goes_in_front_and_changes_nothing_else(void **state)
{
	struct error error;

	(void)state;
	error_set_errno(&error, STATUS_IO, EIO, "cannot read");
	error_prefix(&error, "%s, block %d", "perf.data", 3);
	assert_string_equal(error.text, "perf.data, block 3: cannot read: Input/output error");
	assert_int_equal(error.os_errno, EIO);
	assert_int_equal(error.status, STATUS_IO);
}

static void without_an_error_object_only_the_status_is_returned(void **state)
{
	(void)state;
	assert_int_equal(error_set(NULL, STATUS_LIMIT, "x"), STATUS_LIMIT);
	assert_int_equal(error_set_errno(NULL, STATUS_IO, EIO, "x"), STATUS_IO);
	assert_int_equal(error_set_corrupt(NULL, 1, "x"), STATUS_CORRUPT);
	error_prefix(NULL, "x");
}

static void an_argument_may_be_the_text_that_is_replaced(void **state)
{
	struct error error;

	(void)state;
	error_set(&error, STATUS_IO, "inner");
	error_set(&error, STATUS_IO, "outer: %s; again: %s", error.text, error.text);
	assert_string_equal(error.text, "outer: inner; again: inner");
	error_prefix(&error, "<%s>", error.text);
	assert_string_equal(error.text, "<outer: inner; again: inner>: outer: inner; again: inner");
}

static void a_text_that_is_too_long_is_cut_and_terminated(void **state)
{
	struct error error;
	char words[3000];

	(void)state;
	memset(words, 'w', sizeof(words) - 1);
	words[sizeof(words) - 1] = '\0';
	error_set_corrupt(&error, 1, "%s", words);
	assert_int_equal(strlen(error.text), sizeof(error.text) - 1);
	error_prefix(&error, "%s", words);
	assert_int_equal(strlen(error.text), sizeof(error.text) - 1);
	assert_non_null(strstr(error.text, "w: w"));
}

/* Every shift of a text of 2, 3 and 4 byte characters against the end of the buffer. */
static void a_text_is_cut_between_utf8_characters(void **state)
{
	static const char *const characters[] = { "\xc3\xbc", "\xe2\x82\xac", "\xf0\x9f\x90\x9d" };
	struct error error;

	(void)state;
	for (size_t which = 0; which < 3; which++)
		for (size_t shift = 0; shift < 4; shift++) {
			const size_t n = strlen(characters[which]);
			char words[2048] = "xxxx";
			size_t used;

			for (used = shift; used + n < sizeof(words); used += n)
				memcpy(words + used, characters[which], n);
			words[used] = '\0';
			error_set(&error, STATUS_IO, "%s", words);
			used = strlen(error.text);
			assert_in_range(used, sizeof(error.text) - n, sizeof(error.text) - 1);
			assert_int_equal((used - shift) % n, 0);
			error.text[0] = '\0';
			error_prefix(&error, "%s", words);
			assert_int_equal((strlen(error.text) - 2 - shift) % n, 0);
		}
}

static void control_characters_are_shown_as_question_marks(void **state)
{
	struct error error;

	(void)state;
	error_set(&error, STATUS_IO, "a%sb",
		  "\n\t\x1b[2J\x7f\xc2\x9b"
		  "31m");
	assert_string_equal(error.text, "a???[2J???31mb");
	error_prefix(&error, "c\ne");
	assert_string_equal(error.text, "c?e: a???[2J???31mb");
	error_set(&error, STATUS_IO, "%s", "\xc2\xa0\xc3\xbc\xe2\x82\xac");
	assert_string_equal(error.text, "\xc2\xa0\xc3\xbc\xe2\x82\xac");
}

static void an_errno_maps_to_the_outcome_that_callers_branch_on(void **state)
{
	static const struct {
		int os_errno;
		enum status status;
	} pairs[] = {
		{ EPERM, STATUS_PERMISSION },
		{ EACCES, STATUS_PERMISSION },
		{ ENOENT, STATUS_NOT_FOUND },
		{ ESRCH, STATUS_NOT_FOUND },
		{ ENOMEM, STATUS_NO_MEMORY },
		{ ENOSYS, STATUS_UNSUPPORTED },
		{ EOPNOTSUPP, STATUS_UNSUPPORTED },
		{ EIO, STATUS_IO },
		{ EINVAL, STATUS_IO },
		{ 0, STATUS_IO },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		assert_int_equal(status_from_errno(pairs[i].os_errno), pairs[i].status);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(setting_an_error_fills_every_field_and_returns_its_status),
		cmocka_unit_test(a_failed_call_keeps_its_errno_and_ends_with_its_words),
		cmocka_unit_test(bad_input_keeps_its_offset_and_ends_with_it),
		cmocka_unit_test(a_prefix_goes_in_front_and_changes_nothing_else),
		cmocka_unit_test(without_an_error_object_only_the_status_is_returned),
		cmocka_unit_test(an_argument_may_be_the_text_that_is_replaced),
		cmocka_unit_test(a_text_that_is_too_long_is_cut_and_terminated),
		cmocka_unit_test(a_text_is_cut_between_utf8_characters),
		cmocka_unit_test(control_characters_are_shown_as_question_marks),
		cmocka_unit_test(an_errno_maps_to_the_outcome_that_callers_branch_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
