/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/kallsyms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

static const char text[] = "ffffffff81000000 T _text\n"
			   "ffffffff81000000 T _stext\n"
			   "ffffffff81000040 t first_local\n"
			   "ffffffff81000080 T __write\n"
			   "ffffffff81000080 W write_it\n"
			   "ffffffff81000080 t aaa\n"
			   "ffffffff810000c0 T last_before_data\n"
			   "ffffffff81000100 D some_data\n"
			   "ffffffff81000140 t f.cold\n"
			   "ffffffff81000180 T f\n"
			   "ffffffff810001c0 T _etext\n"
			   "ffffffffc0200000 t mod_b\t[nf_tables]\n"
			   "ffffffffc0100000 t mod_a\t[ext4]\n"
			   "ffffffffc0100100 t mod_a_last\t[ext4]\n";

static void parse(struct kallsyms *kallsyms, const char *from, size_t size, size_t piece)
{
	kallsyms_init(kallsyms);
	for (size_t at = 0; at < size; at += piece)
		assert_true(
			kallsyms_feed(kallsyms, from + at, size - at < piece ? size - at : piece));
	assert_true(kallsyms_finish(kallsyms));
}

static const char *at(struct kallsyms *kallsyms, uint64_t address)
{
	static char found[128];
	const char *module = NULL;
	const struct function *function = kallsyms_function_at(kallsyms, address, &module);

	if (!function)
		return "-";
	assert_true(address >= function->start.value && address < function->end.value);
	snprintf(found, sizeof(found), "%s%s", function->symbol, module ? module : "");
	return found;
}

static void check_all(struct kallsyms *kallsyms)
{
	assert_string_equal(at(kallsyms, 0xffffffff80ffffff), "-");
	assert_string_equal(at(kallsyms, 0xffffffff81000000), "_text");
	assert_string_equal(at(kallsyms, 0xffffffff8100003f), "_text");
	assert_string_equal(at(kallsyms, 0xffffffff81000040), "first_local");
	/* global and weak before local, then fewer underscores */
	assert_string_equal(at(kallsyms, 0xffffffff81000080), "write_it");
	assert_string_equal(at(kallsyms, 0xffffffff810000ff), "last_before_data");
	assert_string_equal(at(kallsyms, 0xffffffff81000100), "-");
	assert_string_equal(at(kallsyms, 0xffffffffc0100000), "mod_a[ext4]");
	assert_string_equal(at(kallsyms, 0xffffffffc01000ff), "mod_a[ext4]");
	/* the last one of a module ends with its page, not with the next module */
	assert_string_equal(at(kallsyms, 0xffffffffc0100fff), "mod_a_last[ext4]");
	assert_string_equal(at(kallsyms, 0xffffffffc0101000), "-");
	assert_string_equal(at(kallsyms, 0xffffffffc0200000), "mod_b[nf_tables]");
	assert_string_equal(at(kallsyms, UINT64_MAX), "-");
}

static void functions_reach_to_the_next_symbol_of_any_kind(void **state)
{
	struct kallsyms kallsyms;

	(void)state;
	parse(&kallsyms, text, sizeof(text) - 1, sizeof(text));
	check_all(&kallsyms);
	assert_int_equal(kallsyms.text_start, 0xffffffff81000000);
	assert_int_equal(kallsyms.stext_start, 0xffffffff81000000);
	kallsyms_release(&kallsyms);
}

static void the_text_may_come_in_pieces_of_any_size(void **state)
{
	struct kallsyms kallsyms;

	(void)state;
	for (size_t piece = 1; piece < 100; piece += 7) {
		parse(&kallsyms, text, sizeof(text) - 1, piece);
		check_all(&kallsyms);
		kallsyms_release(&kallsyms);
	}
	/* without the last newline */
	parse(&kallsyms, text, sizeof(text) - 2, 16);
	check_all(&kallsyms);
	kallsyms_release(&kallsyms);
}

static void aliases_are_counted_and_pieces_linked(void **state)
{
	struct kallsyms kallsyms;
	const struct function *function;
	const char *module;

	(void)state;
	parse(&kallsyms, text, sizeof(text) - 1, sizeof(text));
	function = kallsyms_function_at(&kallsyms, 0xffffffff81000080, &module);
	assert_int_equal(function->n_aliases, 2);
	function = kallsyms_function_at(&kallsyms, 0xffffffff81000140, &module);
	assert_string_equal(function->symbol, "f.cold");
	assert_string_equal(kallsyms_function(&kallsyms, function->parent)->symbol, "f");
	assert_null(kallsyms_function(&kallsyms, 1000));
	kallsyms_release(&kallsyms);
}

static void addresses_that_are_all_zero_are_known_as_hidden(void **state)
{
	static const char hidden[] = "0000000000000000 T _text\n0000000000000000 t f\n";
	struct kallsyms kallsyms;

	(void)state;
	parse(&kallsyms, hidden, sizeof(hidden) - 1, 8);
	assert_true(kallsyms_hidden(&kallsyms));
	assert_string_equal(at(&kallsyms, 0), "-");
	kallsyms_release(&kallsyms);
	parse(&kallsyms, text, sizeof(text) - 1, 8);
	assert_false(kallsyms_hidden(&kallsyms));
	kallsyms_release(&kallsyms);
	parse(&kallsyms, "", 0, 1);
	assert_false(kallsyms_hidden(&kallsyms));
	assert_int_equal(kallsyms.n, 0);
	kallsyms_release(&kallsyms);
}

static void a_shift_moves_the_kernel_and_drops_its_modules(void **state)
{
	struct kallsyms kallsyms;

	(void)state;
	parse(&kallsyms, text, sizeof(text) - 1, sizeof(text));
	kallsyms_shift(&kallsyms, 0x1000000);
	assert_string_equal(at(&kallsyms, 0xffffffff82000040), "first_local");
	assert_string_equal(at(&kallsyms, 0xffffffff81000040), "-");
	assert_string_equal(at(&kallsyms, 0xffffffffc1100000), "-");
	kallsyms_release(&kallsyms);
}

static void lines_that_are_no_symbols_are_skipped(void **state)
{
	char long_line[3000];
	struct kallsyms kallsyms;

	(void)state;
	memset(long_line, 'x', sizeof(long_line));
	long_line[sizeof(long_line) - 1] = '\n';
	kallsyms_init(&kallsyms);
	assert_true(kallsyms_feed(&kallsyms, long_line, sizeof(long_line)));
	assert_true(kallsyms_feed(&kallsyms, "\n \nnonsense\n12345\n1 T\nzz T f\n", 29));
	assert_true(kallsyms_feed(&kallsyms, "11111111111111111 T too_wide\n", 29));
	assert_true(kallsyms_feed(&kallsyms, "1000 TT two_letters\n-5 T minus\n", 31));
	assert_true(kallsyms_feed(&kallsyms, "ffff000008080000 T good\r\n", 25));
	assert_true(kallsyms_feed(&kallsyms, "ffff000008080000 t $x\n", 22));
	assert_true(kallsyms_finish(&kallsyms));
	assert_string_equal(at(&kallsyms, 0xffff000008080000), "good");
	assert_int_equal(kallsyms.n, 2);
	kallsyms_release(&kallsyms);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_reach_to_the_next_symbol_of_any_kind),
		cmocka_unit_test(the_text_may_come_in_pieces_of_any_size),
		cmocka_unit_test(aliases_are_counted_and_pieces_linked),
		cmocka_unit_test(addresses_that_are_all_zero_are_known_as_hidden),
		cmocka_unit_test(a_shift_moves_the_kernel_and_drops_its_modules),
		cmocka_unit_test(lines_that_are_no_symbols_are_skipped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
