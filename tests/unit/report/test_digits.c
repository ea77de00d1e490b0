/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "report/digits.h"
#include "support/test.h"

/* The examples of the rule's own text: 0.827 +- 0.119 -> .12 (two digits), +- 0.367 -> .4 (one),
 * +- 0.98 -> 1.0 (two after rounding up). */
static void decimals_follow_the_particle_data_groups_rule(void **state)
{
	(void)state;
	assert_int_equal(digits_decimals(0.119), 2);
	assert_int_equal(digits_decimals(0.367), 1);
	assert_int_equal(digits_decimals(0.98), 1);
	assert_int_equal(digits_decimals(1.15), 1);
	assert_int_equal(digits_decimals(3.54), 1);
	assert_int_equal(digits_decimals(3.56), 0);
	assert_int_equal(digits_decimals(4.1), 0);
	assert_int_equal(digits_decimals(9.6), 0);
	assert_int_equal(digits_decimals(25), 0);
	assert_int_equal(digits_decimals(0.01), 3);
	assert_int_equal(digits_decimals(0.04), 2);
}

static void decimals_have_a_maximum_and_a_value_for_no_interval(void **state)
{
	(void)state;
	assert_int_equal(digits_decimals(1e-9), DIGITS_MAX_DECIMALS);
	assert_int_equal(digits_decimals(0), 1);
	assert_int_equal(digits_decimals((double)NAN), 1);
	assert_int_equal(digits_decimals((double)INFINITY), 1);
	assert_int_equal(digits_decimals(-1), 1);
}

/* The unit of the last digit never exceeds the half-width (no digit too few to see the interval), and
 * is at least a 36th of it (no digit too many). */
static void the_last_digit_is_neither_finer_nor_coarser_than_the_interval(void **state)
{
	(void)state;
	for (double h = 0.002; h < 9; h *= 1.01) {
		const double unit = pow(10, -digits_decimals(h));

		assert_true(unit <= h * 1.06);
		assert_true(unit * 36 >= h);
	}
}

static void without_an_interval_the_binomial_one_decides(void **state)
{
	(void)state;
	assert_true(fabs(digits_fallback_half_width(0.5, 100) - 9.8) < 1e-9);
	assert_true(digits_fallback_half_width(0, 10) == 10);
	assert_true(digits_fallback_half_width(0.3, 0) == 100);
}

static void durations_read_naturally(void **state)
{
	char text[32];

	(void)state;
	assert_string_equal(digits_duration(0, text, sizeof(text)), "0 ns");
	assert_string_equal(digits_duration(20e3, text, sizeof(text)), "20 us");
	assert_string_equal(digits_duration(12.34e9, text, sizeof(text)), "12.3 s");
	assert_string_equal(digits_duration(200e9, text, sizeof(text)), "3 min 20 s");
	assert_string_equal(digits_duration(7500e9, text, sizeof(text)), "2 h 5 min");
	assert_string_equal(digits_about(6861e9, text, sizeof(text)), "1.9 h");
	assert_string_equal(digits_about(12.3e9, text, sizeof(text)), "12 s");
	assert_string_equal(digits_about(80e9, text, sizeof(text)), "80 s");
	assert_string_equal(digits_about(0.3e9, text, sizeof(text)), "300 ms");
}

static void short_numbers_have_three_digits_and_no_exponent(void **state)
{
	char text[32];

	(void)state;
	assert_string_equal(digits_short(497.31, text, sizeof(text)), "497");
	assert_string_equal(digits_short(0.01234, text, sizeof(text)), "0.0123");
	assert_string_equal(digits_short(12345678, text, sizeof(text)), "12345678");
	assert_string_equal(digits_short((double)NAN, text, sizeof(text)), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(decimals_follow_the_particle_data_groups_rule),
		cmocka_unit_test(decimals_have_a_maximum_and_a_value_for_no_interval),
		cmocka_unit_test(the_last_digit_is_neither_finer_nor_coarser_than_the_interval),
		cmocka_unit_test(without_an_interval_the_binomial_one_decides),
		cmocka_unit_test(durations_read_naturally),
		cmocka_unit_test(short_numbers_have_three_digits_and_no_exponent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
