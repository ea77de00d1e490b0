/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/selection.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static bool means(const char *const *words, const char *module, const char *name)
{
	struct selection selection;
	struct error error;
	bool result;

	selection_init(&selection);
	for (; *words; words++)
		assert_int_equal(selection_add(&selection, sys_real(), *words, &error), STATUS_OK);
	result = selection_matches(&selection, module, &name, 1);
	selection_release(&selection);
	return result;
}

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void a_glob_means_whole_names(void **state)
{
	(void)state;
	assert_true(means(WORDS("sqlite3_*"), "/lib/x.so", "sqlite3_step"));
	assert_false(means(WORDS("step"), "/lib/x.so", "sqlite3_step"));
}

static void a_regex_is_found_anywhere(void **state)
{
	(void)state;
	assert_true(means(WORDS("/_st[ae]p/"), "/lib/x.so", "sqlite3_step"));
	assert_false(means(WORDS("/^step/"), "/lib/x.so", "sqlite3_step"));
}

static void a_module_is_named_by_its_file_or_path(void **state)
{
	(void)state;
	assert_true(means(WORDS("x.so!f"), "/lib/x.so", "f"));
	assert_true(means(WORDS("/lib/*!f"), "/lib/x.so", "f"));
	assert_false(means(WORDS("y.so!f"), "/lib/x.so", "f"));
}

static void an_exclusion_wins_wherever_it_stands(void **state)
{
	(void)state;
	assert_false(means(WORDS("!f*", "*"), "/lib/x.so", "free"));
	assert_false(means(WORDS("*", "!f*"), "/lib/x.so", "free"));
	assert_true(means(WORDS("*", "!y.so!f*"), "/lib/x.so", "free"));
}

static void a_demangled_name_is_meant_without_its_parameters(void **state)
{
	(void)state;
	assert_true(means(WORDS("ns::f"), "/lib/x.so", "ns::f(int, char)"));
	assert_true(means(WORDS("ns::f(int*"), "/lib/x.so", "ns::f(int, char)"));
	assert_false(means(WORDS("ns::g"), "/lib/x.so", "ns::f(int, char)"));
}

static void a_bad_regex_is_the_users_mistake(void **state)
{
	struct selection selection;
	struct error error;

	(void)state;
	selection_init(&selection);
	assert_int_equal(selection_add(&selection, sys_real(), "/(/", &error), STATUS_USAGE);
	assert_int_equal(selection_add(&selection, sys_real(), "x!", &error), STATUS_USAGE);
	assert_int_equal(selection.n, 0);
	selection_release(&selection);
}

static void modules_that_no_word_means_are_skipped(void **state)
{
	struct selection selection;

	(void)state;
	selection_init(&selection);
	assert_int_equal(selection_add(&selection, sys_real(), "x.so!*", NULL), STATUS_OK);
	assert_int_equal(selection_add(&selection, sys_real(), "!y.so!*", NULL), STATUS_OK);
	assert_false(selection_skips_module(&selection, "/lib/x.so"));
	assert_true(selection_skips_module(&selection, "/lib/y.so"));
	selection_release(&selection);
}

/* The only word of a selection. */
static void one_word(struct selection *selection, const char *word)
{
	selection_init(selection);
	assert_int_equal(selection_add(selection, sys_real(), word, NULL), STATUS_OK);
}

static void a_number_behind_a_name_means_a_point_and_no_function(void **state)
{
	const char *const name = "f", *const operators = "operator+";
	struct selection selection;

	(void)state;
	one_word(&selection, "x.so!f+0x10");
	assert_int_equal(selection.words[0].kind, SELECTION_OFFSET);
	assert_int_equal(selection.words[0].offset, 16);
	assert_true(selection_means_offset(&selection.words[0], "/lib/x.so", &name, 1));
	assert_false(selection_means_offset(&selection.words[0], "/lib/y.so", &name, 1));
	assert_false(selection_matches(&selection, "/lib/x.so", &name, 1));
	/* the module is one to look at */
	assert_true(selection_means(&selection, "/lib/x.so", "f"));
	selection_release(&selection);
	one_word(&selection, "operator+");
	assert_int_equal(selection.words[0].kind, SELECTION_FUNCTIONS);
	assert_true(selection_matches(&selection, "/lib/x.so", &operators, 1));
	selection_release(&selection);
	one_word(&selection, "f+10x");
	assert_int_equal(selection.words[0].kind, SELECTION_FUNCTIONS);
	selection_release(&selection);
}

static void one_colon_means_marks_two_are_a_name(void **state)
{
	struct selection selection;
	const char *const name = "ns::f";

	(void)state;
	one_word(&selection, "assay:iter*");
	assert_true(selection_means_mark(&selection.words[0], "/bin/x", "assay", "iteration"));
	assert_false(selection_means_mark(&selection.words[0], "/bin/x", "assay", "work"));
	assert_false(selection_means_mark(&selection.words[0], "/bin/x", "other", "iteration"));
	assert_false(selection_means(&selection, "/bin/x", "iteration"));
	selection_release(&selection);
	one_word(&selection, "ns::f");
	assert_true(selection_matches(&selection, "/bin/x", &name, 1));
	selection_release(&selection);
}

static void points_cannot_be_taken_away(void **state)
{
	struct selection selection;
	struct error error;

	(void)state;
	selection_init(&selection);
	assert_int_equal(selection_add(&selection, sys_real(), "!f+1", &error), STATUS_USAGE);
	assert_int_equal(selection_add(&selection, sys_real(), "!assay:*", &error), STATUS_USAGE);
	assert_int_equal(selection.n, 0);
	selection_release(&selection);
}

static void a_number_behind_a_file_means_its_line(void **state)
{
	struct selection selection;

	(void)state;
	one_word(&selection, "src/work.c:12");
	assert_int_equal(selection.words[0].kind, SELECTION_LINE);
	assert_int_equal(selection.words[0].line, 12);
	assert_true(selection_means_file(&selection.words[0], "/bin/x", "/home/me/src/work.c"));
	assert_true(selection_means_file(&selection.words[0], "/bin/x", "src/work.c"));
	assert_false(selection_means_file(&selection.words[0], "/bin/x", "/home/me/mysrc/work.c"));
	assert_false(selection_means_file(&selection.words[0], "/bin/x", "work.c"));
	assert_false(selection_means(&selection, "/bin/x", "src/work.c"));
	selection_release(&selection);
	one_word(&selection, "x.so!*.c:3");
	assert_true(selection_means_file(&selection.words[0], "/lib/x.so", "/home/me/a.c"));
	assert_false(selection_means_file(&selection.words[0], "/lib/y.so", "/home/me/a.c"));
	selection_release(&selection);
}

/* The two ends of a region, NULL: it is none. */
static void region_is(const char *text, const char *begin, const char *end)
{
	struct selection selection;
	struct error error;

	selection_init(&selection);
	if (!begin) {
		assert_int_equal(selection_add_region(&selection, text, &error), STATUS_USAGE);
		selection_release(&selection);
		return;
	}
	assert_int_equal(selection_add_region(&selection, text, &error), STATUS_OK);
	assert_int_equal(selection.n, 2);
	assert_string_equal(selection.words[0].text, begin);
	assert_string_equal(selection.words[1].text, end);
	assert_int_equal(selection.words[0].role, SELECTION_BEGIN);
	assert_int_equal(selection.words[1].role, SELECTION_END);
	assert_int_equal(selection.words[1].region, 0);
	assert_string_equal(selection.regions[0], text);
	assert_true(selection.has_include);
	selection_release(&selection);
}

static void two_words_with_two_dots_between_are_a_region(void **state)
{
	(void)state;
	region_is("a..b", "a", "b");
	region_is("../src/a.c:3..b", "../src/a.c:3", "b");
	region_is("x/../a.c:3..assay:end", "x/../a.c:3", "assay:end");
	region_is("f+0x10..m.so!g", "f+0x10", "m.so!g");
	region_is("a", NULL, NULL);
	region_is("a..", NULL, NULL);
	region_is("..b", NULL, NULL);
	region_is("a..!b", NULL, NULL);
	region_is("@a..b", NULL, NULL);
}

static void an_end_of_a_region_is_not_probed_itself(void **state)
{
	struct selection selection;
	const char *const name = "a";

	(void)state;
	selection_init(&selection);
	assert_int_equal(selection_add_region(&selection, "a..b", NULL), STATUS_OK);
	assert_false(selection_matches(&selection, "/bin/x", &name, 1));
	assert_true(selection_means_end(&selection.words[0], "/bin/x", &name, 1));
	assert_false(selection_means_end(&selection.words[1], "/bin/x", &name, 1));
	/* the module is one to look at */
	assert_true(selection_means(&selection, "/bin/x", "a"));
	selection_release(&selection);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_glob_means_whole_names),
		cmocka_unit_test(a_regex_is_found_anywhere),
		cmocka_unit_test(a_module_is_named_by_its_file_or_path),
		cmocka_unit_test(an_exclusion_wins_wherever_it_stands),
		cmocka_unit_test(a_demangled_name_is_meant_without_its_parameters),
		cmocka_unit_test(a_bad_regex_is_the_users_mistake),
		cmocka_unit_test(modules_that_no_word_means_are_skipped),
		cmocka_unit_test(a_number_behind_a_name_means_a_point_and_no_function),
		cmocka_unit_test(one_colon_means_marks_two_are_a_name),
		cmocka_unit_test(points_cannot_be_taken_away),
		cmocka_unit_test(a_number_behind_a_file_means_its_line),
		cmocka_unit_test(two_words_with_two_dots_between_are_a_region),
		cmocka_unit_test(an_end_of_a_region_is_not_probed_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
