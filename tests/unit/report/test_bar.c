/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "report/bar.h"
#include "report/text.h"
#include "support/test.h"

static void bar_is(double lo, double share, double hi, double scale, const char *expected)
{
	struct output output;

	output_init(&output);
	bar_draw(&output, lo, share, hi, scale, false);
	assert_string_equal(output.text, expected);
	assert_int_equal(strlen(output.text), BAR_WIDTH);
	output_release(&output);
}

static void an_interval_is_solid_up_to_lo_and_bracketed_to_hi(void **state)
{
	(void)state;
	bar_is(0.5, 0.75, 1, 1, "============[-----|----]");
	bar_is(0, 0.1, 0.25, 1, "[-|---]                 ");
}

static void a_narrow_interval_is_one_mark(void **state)
{
	(void)state;
	bar_is(0.50, 0.505, 0.51, 1, "============|           ");
	bar_is(0.999, 1, 1, 1, "=======================|");
}

static void without_an_interval_the_bar_is_plain(void **state)
{
	(void)state;
	bar_is(1, 0.5, 0, 1, "=============           ");
	bar_is(1, 0, 0, 1, "                        ");
}

static void degenerate_scales_draw_nothing_wild(void **state)
{
	(void)state;
	bar_is(0, 0, 0, 0, "|                       ");
	bar_is(0, 5, 10, 1, "[----------------------]");
}

static void prose_is_wrapped_between_words_and_escaped(void **state)
{
	struct output output;

	(void)state;
	output_init(&output);
	text_wrap(&output, "one two  three\nfour five", 0, 2, 10);
	assert_string_equal(output.text, "one two\n  three\\nfour\n  five");
	output_release(&output);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_interval_is_solid_up_to_lo_and_bracketed_to_hi),
		cmocka_unit_test(a_narrow_interval_is_one_mark),
		cmocka_unit_test(without_an_interval_the_bar_is_plain),
		cmocka_unit_test(degenerate_scales_draw_nothing_wild),
		cmocka_unit_test(prose_is_wrapped_between_words_and_escaped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
