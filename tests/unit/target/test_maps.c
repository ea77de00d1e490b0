/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/test.h"

#include <string.h>
#include <sys/mman.h>

#include "target/maps.h"

static void a_line_has_its_fields(void **state)
{
	const char *at =
		"7f5b6c021000-7f5b6c200000 r-xp 00001000 fe:01 1234567   /usr/lib/a b.so\n";
	struct map map;

	(void)state;
	assert_true(maps_next(&at, &map));
	assert_int_equal(map.start, 0x7f5b6c021000);
	assert_int_equal(map.end, 0x7f5b6c200000);
	assert_int_equal(map.offset, 0x1000);
	assert_int_equal(map.protection, PROT_READ | PROT_EXEC);
	assert_int_equal(map.flags, MAP_PRIVATE);
	assert_int_equal(map.major, 0xfe);
	assert_int_equal(map.minor, 1);
	assert_int_equal(map.inode, 1234567);
	assert_string_equal(map.path, "/usr/lib/a b.so");
	assert_false(maps_next(&at, &map));
}

static void memory_without_a_file_has_no_path(void **state)
{
	const char *at = "1000-2000 rwxs 00000000 00:00 0 \n3000-4000 ---p 00000000 00:00 0";
	struct map map;

	(void)state;
	assert_true(maps_next(&at, &map));
	assert_string_equal(map.path, "");
	assert_int_equal(map.flags, MAP_SHARED);
	assert_true(maps_next(&at, &map));
	assert_int_equal(map.protection, 0);
}

static void a_newline_in_a_path_is_one_again(void **state)
{
	const char *at = "1000-2000 r-xp 00000000 08:01 5 /tmp/new\\012line (deleted)\n";
	struct map map;

	(void)state;
	assert_true(maps_next(&at, &map));
	assert_string_equal(map.path, "/tmp/new\nline (deleted)");
}

static void lines_of_another_format_are_passed_over(void **state)
{
	const char *at = "\nnonsense\n1000 2000\n1000-2000 r-x 0 08:01 5 /short\n"
			 "1000-2000 r-xp 00000000 08:01 5 /good\nzzz";
	struct map map;

	(void)state;
	assert_true(maps_next(&at, &map));
	assert_string_equal(map.path, "/good");
	assert_false(maps_next(&at, &map));
}

static void a_path_of_any_length_is_bounded(void **state)
{
	static char line[3 * PATH_MAX] = "1000-2000 r-xp 00000000 08:01 5 ";
	const char *at = line;
	struct map map;

	(void)state;
	memset(line + strlen(line), 'x', 2 * PATH_MAX);
	assert_true(maps_next(&at, &map));
	assert_int_equal(strlen(map.path), PATH_MAX - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_has_its_fields),
		cmocka_unit_test(memory_without_a_file_has_no_path),
		cmocka_unit_test(a_newline_in_a_path_is_one_again),
		cmocka_unit_test(lines_of_another_format_are_passed_over),
		cmocka_unit_test(a_path_of_any_length_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
