/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each rule of the function model, on symbols and FDEs put together by hand. */
#include "symbolize/function_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "support/test.h"
#include "symbolize/module.h"

#define SECTION_END 0x10000

struct built {
	struct raw_symbol symbols[64];
	struct symbol_table table;
	struct fde_range ranges[64];
	struct fde_table fdes;
	struct function_model model;
};

static void symbol(struct built *built, uint64_t start, uint64_t size, const char *name,
		   uint8_t binding, uint8_t type)
{
	built->symbols[built->table.n++] = (struct raw_symbol){
		.start = start,
		.size = size,
		.limit = SECTION_END,
		.name = name,
		.binding = binding,
		.type = type,
	};
}

static void function(struct built *built, uint64_t start, uint64_t size, const char *name)
{
	symbol(built, start, size, name, STB_GLOBAL, STT_FUNC);
}

static void local_of(struct built *built, uint64_t start, uint64_t size, const char *name,
		     uint32_t file_group)
{
	symbol(built, start, size, name, STB_LOCAL, STT_FUNC);
	built->symbols[built->table.n - 1].file_group = file_group;
}

static void fde(struct built *built, uint64_t start, uint64_t end)
{
	built->ranges[built->fdes.n++] = (struct fde_range){ .start = start, .end = end };
}

static void build(struct built *built)
{
	built->table.symbols = built->symbols;
	built->fdes.ranges = built->ranges;
	assert_true(function_model_build(&built->model, &built->table, &built->fdes));
}

/* "-" for a gap, "+0x40" for an FDE that starts there, else the name. */
static const char *at(const struct built *built, uint64_t address)
{
	static char text[32];
	const uint32_t index = function_model_at(&built->model, address);
	const struct function *found;

	if (index == FUNCTION_NONE)
		return "-";
	found = &built->model.functions[index];
	if (found->symbol)
		return found->symbol;
	snprintf(text, sizeof(text), "+%#llx", (unsigned long long)found->start.value);
	return text;
}

static void an_address_outside_every_symbol_and_fde_has_no_function(void **state)
{
	struct built built = { 0 };

	(void)state;
	function(&built, 0x100, 0x10, "f");
	function(&built, 0x200, 0x10, "g");
	build(&built);
	assert_string_equal(at(&built, 0xff), "-");
	assert_string_equal(at(&built, 0x100), "f");
	assert_string_equal(at(&built, 0x10f), "f");
	assert_string_equal(at(&built, 0x110), "-");
	assert_string_equal(at(&built, 0x1ff), "-");
	assert_string_equal(at(&built, 0x210), "-");
	function_model_release(&built.model);
}

static void an_fde_without_a_symbol_is_a_function_of_its_own(void **state)
{
	struct built built = { 0 };

	(void)state;
	function(&built, 0x100, 0x10, "f");
	fde(&built, 0x100, 0x110);
	fde(&built, 0x110, 0x180);
	build(&built);
	assert_string_equal(at(&built, 0x10f), "f");
	assert_string_equal(at(&built, 0x110), "+0x110");
	assert_string_equal(at(&built, 0x17f), "+0x110");
	assert_string_equal(at(&built, 0x180), "-");
	/* the FDE that f covers is no function beside it */
	assert_int_equal(built.model.n, 2);
	assert_true(built.model.functions[1].from_fde);
	function_model_release(&built.model);
}

static void an_unsized_symbol_ends_at_the_next_symbol_or_the_end_of_its_fde(void **state)
{
	struct built built = { 0 };

	(void)state;
	function(&built, 0x100, 0, "by_symbol");
	function(&built, 0x140, 0x10, "next");
	function(&built, 0x200, 0, "by_fde");
	function(&built, 0x300, 0, "by_next_fde");
	function(&built, 0xff00, 0, "by_section");
	fde(&built, 0x200, 0x220);
	fde(&built, 0x330, 0x340);
	build(&built);
	assert_string_equal(at(&built, 0x13f), "by_symbol");
	assert_string_equal(at(&built, 0x150), "-");
	assert_string_equal(at(&built, 0x21f), "by_fde");
	assert_string_equal(at(&built, 0x220), "-");
	assert_string_equal(at(&built, 0x32f), "by_next_fde");
	assert_string_equal(at(&built, 0x330), "+0x330");
	assert_string_equal(at(&built, SECTION_END - 1), "by_section");
	assert_string_equal(at(&built, SECTION_END), "-");
	assert_true(built.model.functions[0].size_was_zero);
	function_model_release(&built.model);
}

static void a_smaller_symbol_wins_inside_a_larger_one_which_goes_on_after_it(void **state)
{
	struct built built = { 0 };

	(void)state;
	function(&built, 0x100, 0x100, "outer");
	function(&built, 0x140, 0x20, "inner");
	function(&built, 0x148, 0x8, "innermost");
	function(&built, 0x180, 0, "entry");
	build(&built);
	assert_string_equal(at(&built, 0x13f), "outer");
	assert_string_equal(at(&built, 0x140), "inner");
	assert_string_equal(at(&built, 0x14f), "innermost");
	assert_string_equal(at(&built, 0x150), "inner");
	assert_string_equal(at(&built, 0x160), "outer");
	/* an unsized function inside ends with what encloses it */
	assert_string_equal(at(&built, 0x1ff), "entry");
	assert_string_equal(at(&built, 0x200), "-");
	function_model_release(&built.model);
}

static void a_local_label_inside_a_function_is_no_function(void **state)
{
	struct built built = { 0 };

	(void)state;
	function(&built, 0x100, 0x40, "f");
	symbol(&built, 0x110, 0, "loop", STB_LOCAL, STT_NOTYPE);
	symbol(&built, 0x120, 0, "entry", STB_GLOBAL, STT_NOTYPE);
	symbol(&built, 0x140, 0, "outside", STB_LOCAL, STT_NOTYPE);
	build(&built);
	assert_string_equal(at(&built, 0x110), "f");
	assert_string_equal(at(&built, 0x120), "entry");
	assert_string_equal(at(&built, 0x140), "outside");
	function_model_release(&built.model);
}

static void aliases_share_one_function_under_their_best_name(void **state)
{
	struct built built = { 0 };

	(void)state;
	local_of(&built, 0x100, 0x20, "a", 1);
	symbol(&built, 0x100, 0x20, "write", STB_WEAK, STT_FUNC);
	function(&built, 0x100, 0x20, "__write");
	function(&built, 0x100, 0x30, "__libc_write");
	function(&built, 0x100, 0x20, "__write"); /* dynsym says it again */
	symbol(&built, 0x100, 0, "b", STB_GLOBAL, STT_NOTYPE);
	function(&built, 0x200, 0x20, "shorter");
	function(&built, 0x200, 0x20, "short_");
	symbol(&built, 0x200, 0x20, "weak", STB_WEAK, STT_FUNC);
	build(&built);
	assert_int_equal(built.model.n, 2);
	assert_string_equal(built.model.functions[0].symbol, "write");
	assert_int_equal(built.model.functions[0].end.value, 0x130);
	assert_int_equal(built.model.functions[0].n_aliases, 4);
	assert_string_equal(built.model.functions[1].symbol, "short_");
	assert_int_equal(built.model.functions[1].n_aliases, 2);
	function_model_release(&built.model);
}

static void a_size_that_is_too_short_reaches_to_the_end_of_the_fde(void **state)
{
	struct built built = { 0 };

	(void)state;
	function(&built, 0x100, 0x8, "f");
	fde(&built, 0x100, 0x140);
	function(&built, 0x200, 0x8, "g");
	function(&built, 0x220, 0x8, "h");
	fde(&built, 0x200, 0x240);
	function(&built, 0x310, 0x8, "late");
	fde(&built, 0x300, 0x340);
	build(&built);
	assert_string_equal(at(&built, 0x13f), "f");
	assert_string_equal(at(&built, 0x21f), "g");
	assert_string_equal(at(&built, 0x227), "h");
	/* what is left of an FDE belongs to the FDE, not to the last symbol in it */
	assert_string_equal(at(&built, 0x228), "+0x200");
	assert_string_equal(at(&built, 0x300), "+0x300");
	assert_string_equal(at(&built, 0x310), "late");
	assert_string_equal(at(&built, 0x318), "+0x300");
	function_model_release(&built.model);
}

static void a_symbol_goes_on_over_fdes_that_start_inside_it(void **state)
{
	struct built built = { 0 };

	(void)state;
	function(&built, 0x100, 0x80, "f");
	fde(&built, 0x100, 0x120);
	fde(&built, 0x120, 0x1a0);
	build(&built);
	assert_string_equal(at(&built, 0x120), "f");
	assert_string_equal(at(&built, 0x17f), "f");
	assert_string_equal(at(&built, 0x180), "+0x120");
	function_model_release(&built.model);
}

static uint32_t index_of(const struct built *built, uint64_t address)
{
	return function_model_at(&built->model, address);
}

static void pieces_belong_to_the_function_they_were_split_off(void **state)
{
	struct built built = { 0 };

	(void)state;
	function(&built, 0x100, 0x10, "f");
	function(&built, 0x110, 0x10, "f.cold");
	function(&built, 0x120, 0x10, "f.part.0");
	function(&built, 0x130, 0x10, "f.part.0.cold");
	function(&built, 0x140, 0x10, "f.constprop.0");
	function(&built, 0x150, 0x10, "f.constprop.0.cold");
	function(&built, 0x160, 0x10, "f.cold.7");
	function(&built, 0x170, 0x10, "gone.cold");
	function(&built, 0x180, 0x10, ".cold");
	build(&built);
	assert_int_equal(function_model_whole(&built.model, index_of(&built, 0x110)),
			 index_of(&built, 0x100));
	assert_int_equal(function_model_whole(&built.model, index_of(&built, 0x120)),
			 index_of(&built, 0x100));
	assert_int_equal(function_model_whole(&built.model, index_of(&built, 0x130)),
			 index_of(&built, 0x100));
	assert_int_equal(function_model_whole(&built.model, index_of(&built, 0x140)),
			 index_of(&built, 0x140));
	assert_int_equal(function_model_whole(&built.model, index_of(&built, 0x150)),
			 index_of(&built, 0x140));
	assert_int_equal(function_model_whole(&built.model, index_of(&built, 0x160)),
			 index_of(&built, 0x100));
	assert_int_equal(function_model_whole(&built.model, index_of(&built, 0x170)),
			 index_of(&built, 0x170));
	assert_int_equal(function_model_whole(&built.model, index_of(&built, 0x180)),
			 index_of(&built, 0x180));
	function_model_release(&built.model);
}

static void a_piece_of_a_name_that_several_files_use_goes_by_its_file(void **state)
{
	struct built built = { 0 };

	(void)state;
	local_of(&built, 0x100, 0x10, "f", 1);
	local_of(&built, 0x200, 0x10, "f", 2);
	local_of(&built, 0x300, 0x10, "f.cold", 2);
	local_of(&built, 0x400, 0x10, "f.cold", 3);
	build(&built);
	assert_int_equal(function_model_whole(&built.model, index_of(&built, 0x300)),
			 index_of(&built, 0x200));
	/* no f in that file, two in others: nobody's */
	assert_int_equal(function_model_whole(&built.model, index_of(&built, 0x400)),
			 index_of(&built, 0x400));
	function_model_release(&built.model);
}

/* Whatever the tables say: spans ascend, functions ascend, and each address lies in its function. */
static void any_tables_give_an_ordered_model_whose_functions_hold_their_addresses(void **state)
{
	struct random random;

	(void)state;
	random_init(&random, 5, 0, 0, 0);
	for (int round = 0; round < 500; round++) {
		static const char *const names[] = { "a", "b", "_c", "d.cold", "d" };
		struct built built = { 0 };
		uint64_t edge = 0;

		for (uint64_t n = random_below(&random, 40); n; n--)
			symbol(&built, random_below(&random, 0x200), random_below(&random, 0x40),
			       names[random_below(&random, 5)], (uint8_t)random_below(&random, 3),
			       random_below(&random, 2) ? STT_FUNC : STT_NOTYPE);
		for (uint64_t n = random_below(&random, 20); n; n--) {
			const uint64_t start = edge + random_below(&random, 0x20);

			edge = start + random_between(&random, 1, 0x20);
			fde(&built, start, edge);
		}
		build(&built);
		for (size_t i = 1; i < built.model.n; i++)
			assert_true(built.model.functions[i - 1].start.value <=
				    built.model.functions[i].start.value);
		for (uint64_t address = 0; address < 0x300; address++) {
			const uint32_t index = index_of(&built, address);

			if (index == FUNCTION_NONE) {
				/* then no FDE holds it either */
				assert_null(fde_table_at(&built.fdes, address));
				continue;
			}
			assert_true(index < built.model.n);
			assert_true(address >= built.model.functions[index].start.value);
			assert_true(address < built.model.functions[index].end.value);
		}
		function_model_release(&built.model);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_outside_every_symbol_and_fde_has_no_function),
		cmocka_unit_test(an_fde_without_a_symbol_is_a_function_of_its_own),
		cmocka_unit_test(an_unsized_symbol_ends_at_the_next_symbol_or_the_end_of_its_fde),
		cmocka_unit_test(a_smaller_symbol_wins_inside_a_larger_one_which_goes_on_after_it),
		cmocka_unit_test(a_local_label_inside_a_function_is_no_function),
		cmocka_unit_test(aliases_share_one_function_under_their_best_name),
		cmocka_unit_test(a_size_that_is_too_short_reaches_to_the_end_of_the_fde),
		cmocka_unit_test(a_symbol_goes_on_over_fdes_that_start_inside_it),
		cmocka_unit_test(pieces_belong_to_the_function_they_were_split_off),
		cmocka_unit_test(a_piece_of_a_name_that_several_files_use_goes_by_its_file),
		cmocka_unit_test(
			any_tables_give_an_ordered_model_whose_functions_hold_their_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
