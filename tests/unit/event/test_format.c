/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "event/format.h"

#include <stdio.h>
#include <string.h>

#include "support/test.h"

static struct perf_event_attr stored(const char *text, uint64_t value)
{
	struct perf_event_attr attr;
	struct event_format format;

	memset(&attr, 0, sizeof(attr));
	assert_true(event_format_parse(&format, event_slice_of(text)));
	assert_int_equal(event_format_store(&format, value, &attr), STATUS_OK);
	return attr;
}

static void bits_go_where_the_file_says(void **state)
{
	(void)state;
	assert_int_equal(stored("config:0-7\n", 0xab).config, 0xab);
	assert_int_equal(stored("config:8-15", 0xab).config, 0xab00);
	assert_int_equal(stored("config:23", 1).config, 1 << 23);
	assert_int_equal(stored("config1:0-63", ~0ull).config1, ~0ull);
	assert_int_equal(stored("config1:1", 1).config1, 2);
	assert_int_equal(stored("config2:4-7", 0xf).config2, 0xf0);
}

static void several_ranges_are_filled_from_the_lowest_bit_of_the_value(void **state)
{
	(void)state;
	assert_int_equal(stored("config:0-7,32-35", 0xabc).config, 0xa000000bcull);
	assert_int_equal(stored("config:32-35,0-7", 0xabc).config, 0xc000000abull);
	assert_int_equal(stored("config:0-7,21,63", 0x3ff).config, 0x80000000002000ffull);
	assert_int_equal(stored("config:63,0-62", ~0ull).config, ~0ull);
}

static void a_value_with_more_bits_than_the_term_is_refused(void **state)
{
	struct perf_event_attr attr;
	struct event_format format;

	(void)state;
	memset(&attr, 0, sizeof(attr));
	assert_true(event_format_parse(&format, event_slice_of("config:0-7,32-35")));
	assert_int_equal(event_format_maximum(&format), 0xfff);
	assert_int_equal(event_format_store(&format, 0x1000, &attr), STATUS_LIMIT);
	assert_int_equal(attr.config, 0);
	assert_int_equal(event_format_store(&format, 0xfff, &attr), STATUS_OK);
}

static void a_second_value_replaces_the_terms_bits_and_no_others(void **state)
{
	struct perf_event_attr attr;
	struct event_format format;

	(void)state;
	memset(&attr, 0, sizeof(attr));
	attr.config1 = 0xff00ff;
	assert_true(event_format_parse(&format, event_slice_of("config1:0-15")));
	assert_int_equal(event_format_store(&format, 3, &attr), STATUS_OK);
	assert_int_equal(event_format_store(&format, 30, &attr), STATUS_OK);
	assert_int_equal(attr.config1, 0xff001e);
}

static void config3_is_set_or_refused_but_never_dropped(void **state)
{
	struct perf_event_attr attr;
	struct event_format format;

	(void)state;
	memset(&attr, 0, sizeof(attr));
	assert_true(event_format_parse(&format, event_slice_of("config3:0-7")));
	assert_int_equal(event_format_store(&format, 0, &attr), STATUS_OK);
#ifdef PERF_ATTR_SIZE_VER8
	assert_int_equal(event_format_store(&format, 5, &attr), STATUS_OK);
	assert_int_equal(attr.config3, 5);
#else
	assert_int_equal(event_format_store(&format, 5, &attr), STATUS_UNSUPPORTED);
#endif
}

static void garbage_is_no_format(void **state)
{
	static const char *const texts[] = {
		"",
		"config",
		"config:",
		"config:x",
		"config:-1",
		"config:64",
		"config:0-64",
		"config:7-0",
		"config4:0",
		"Config:0",
		":0",
		"config:0-7,",
		"config:0-7,,8",
		"config:0-7,5",
		"config:0-7-9",
		"config: 0",
		"config:0x0-0x",
		"config:0-99999999999999999999",
	};
	struct event_format format;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (event_format_parse(&format, event_slice_of(texts[i])))
			fail_msg("'%s'", texts[i]);
}

static void sixty_four_single_bits_are_a_format(void **state)
{
	struct event_format format;
	char text[512] = "config:63";

	(void)state;
	for (int bit = 62; bit >= 0; bit--)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), ",%d", bit);
	assert_true(event_format_parse(&format, event_slice_of(text)));
	assert_int_equal(stored(text, 1).config, 1ull << 63);
	assert_int_equal(stored(text, 1ull << 63).config, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bits_go_where_the_file_says),
		cmocka_unit_test(several_ranges_are_filled_from_the_lowest_bit_of_the_value),
		cmocka_unit_test(a_value_with_more_bits_than_the_term_is_refused),
		cmocka_unit_test(a_second_value_replaces_the_terms_bits_and_no_others),
		cmocka_unit_test(config3_is_set_or_refused_but_never_dropped),
		cmocka_unit_test(garbage_is_no_format),
		cmocka_unit_test(sixty_four_single_bits_are_a_format),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
