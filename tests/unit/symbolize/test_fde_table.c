/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The ranges of FDEs against those that readelf lists. */
#include "symbolize/fde_table.h"

#include <inttypes.h>

#include "fixture.h"

struct comparison {
	struct elf_file file;
	struct fde_table fdes;
	size_t n_found;
};

/* "00000018 0000000000000014 0000001c FDE cie=00000000 pc=00000000000010b0..00000000000010d2" */
static void readelf_line(void *state, char *text)
{
	struct comparison *comparison = state;
	char *pc = strstr(text, " FDE ") ? strstr(text, "pc=") : NULL, *end;
	const struct fde_range *range;
	uint64_t start;

	if (!pc)
		return;
	start = strtoull(pc + 3, &end, 16);
	range = fde_table_at(&comparison->fdes, start);
	assert_non_null(range);
	assert_int_equal(range->start, start);
	assert_int_equal(range->end, strtoull(end + 2, NULL, 16));
	comparison->n_found++;
}

static void compare(const char *name, size_t at_least)
{
	struct comparison comparison = { 0 };
	struct fixture fixture;
	char command[800];

	fixture_init(&fixture);
	fixture_build(&fixture, name);
	assert_int_equal(elf_file_open(&comparison.file, sys_real(), fixture_path(&fixture, name)),
			 SYMBOL_OK);
	assert_true(fde_table_read(&comparison.fdes, &comparison.file, NULL));
	assert_false(comparison.fdes.damaged);
	snprintf(command, sizeof(command), "readelf -wN -wf '%s' 2>/dev/null",
		 fixture_path(&fixture, name));
	assert_int_equal(fixture_run(command, readelf_line, &comparison), 0);
	assert_int_equal(comparison.n_found, comparison.fdes.n);
	assert_true(comparison.n_found >= at_least);
	for (size_t i = 1; i < comparison.fdes.n; i++)
		assert_true(comparison.fdes.ranges[i - 1].end <= comparison.fdes.ranges[i].start);
	fde_table_release(&comparison.fdes);
	elf_file_release(&comparison.file);
	fixture_release(&fixture);
}

static void the_fdes_of_eh_frame_are_those_of_readelf(void **state)
{
	(void)state;
	compare("shapes", 8);
	compare("shapes-static", 200);
	compare("shapes-stripped", 8);
}

static void the_fdes_of_an_aarch64_program_are_those_of_readelf(void **state)
{
	(void)state;
	compare("frames-aarch64", 200);
	compare("frames-aarch64-pac", 5);
}

static void the_fdes_of_debug_frame_are_those_of_readelf(void **state)
{
	(void)state;
	compare("frames-debug-frame", 5);
}

static void an_address_between_fdes_has_none(void **state)
{
	struct fde_range ranges[] = { { .start = 10, .end = 20 }, { .start = 30, .end = 40 } };
	const struct fde_table table = { .ranges = ranges, .n = 2 };
	const struct fde_table empty = { 0 };

	(void)state;
	assert_null(fde_table_at(&table, 9));
	assert_ptr_equal(fde_table_at(&table, 10), &ranges[0]);
	assert_ptr_equal(fde_table_at(&table, 19), &ranges[0]);
	assert_null(fde_table_at(&table, 20));
	assert_ptr_equal(fde_table_at(&table, 39), &ranges[1]);
	assert_null(fde_table_at(&table, 40));
	assert_ptr_equal(fde_table_after(&table, 10), &ranges[1]);
	assert_null(fde_table_after(&table, 30));
	assert_null(fde_table_at(&empty, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_fdes_of_eh_frame_are_those_of_readelf),
		cmocka_unit_test(the_fdes_of_an_aarch64_program_are_those_of_readelf),
		cmocka_unit_test(the_fdes_of_debug_frame_are_those_of_readelf),
		cmocka_unit_test(an_address_between_fdes_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
