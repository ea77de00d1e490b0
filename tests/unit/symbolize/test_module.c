/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The model of real files, against nm and objdump. */
#include <inttypes.h>

#include "fixture.h"

struct comparison {
	struct module *module;
	size_t n_same, n_other;
	bool only_names; /* compare functions by name, not by their best alias */
};

/* "0000000000001139 000000000000000b T main" */
static void nm_line(void *state, char *text)
{
	struct comparison *comparison = state;
	char *address = strtok(text, " "), *size = strtok(NULL, " ");
	char *type = strtok(NULL, " "), *name = strtok(NULL, " ");
	const struct function *function;
	struct elf_vaddr last;

	if (!name || !strchr("tTwWi", type[0]))
		return;
	function = module_function_at(comparison->module,
				      (struct elf_vaddr){ strtoull(address, NULL, 16) });
	assert_non_null(function);
	assert_int_equal(function->start.value, strtoull(address, NULL, 16));
	assert_true(function->from_symbol);
	last.value = function->start.value + strtoull(size, NULL, 16) - 1;
	assert_true(last.value < function->end.value);
	name[strcspn(name, "@")] = '\0';
	if (!strcmp(function->name, name))
		comparison->n_same++;
	else
		comparison->n_other++;
}

/* Every sized symbol of nm starts a function that is at least as long; most go by the same name, the
 * others are aliases. */
static void compare_with_nm(struct fixture *fixture, const char *name, const char *nm_options,
			    const char *nm_of, size_t at_least)
{
	struct comparison comparison = { .module = fixture_module(fixture, name) };
	char command[1000];

	snprintf(command, sizeof(command), "nm --defined-only -S %s '%s'", nm_options,
		 fixture_path(fixture, nm_of));
	assert_int_equal(fixture_run(command, nm_line, &comparison), 0);
	assert_true(comparison.n_same >= at_least);
	/* aliases of shapes.c: three more names of one function */
	if (at_least < 100)
		assert_true(comparison.n_other <= 4);
}

static void compare_built(const char *name, const char *nm_options, const char *nm_of,
			  size_t at_least)
{
	struct fixture fixture;

	fixture_init(&fixture);
	fixture_build(&fixture, name);
	compare_with_nm(&fixture, name, nm_options, nm_of, at_least);
	fixture_release(&fixture);
}

static void functions_of_programs_of_every_layout_are_those_of_nm(void **state)
{
	(void)state;
	compare_built("shapes", "", "shapes", 7);
	compare_built("shapes-nopie", "", "shapes-nopie", 7);
	compare_built("shapes-static", "", "shapes-static", 500);
	compare_built("shapes-static-pie", "", "shapes-static-pie", 500);
}

static void functions_of_an_aarch64_program_are_those_of_nm(void **state)
{
	(void)state;
	compare_built("shapes-aarch64", "", "shapes-aarch64", 7);
}

static void a_stripped_library_has_its_dynamic_symbols(void **state)
{
	(void)state;
	compare_built("libshapes.so", "-D", "libshapes.so", 3);
}

static void symbols_in_gnu_debugdata_are_read(void **state)
{
	(void)state;
	compare_built("mini", "", "mini.full", 7);
}

static void a_stripped_program_keeps_the_bounds_of_its_functions(void **state)
{
	struct fixture fixture;
	struct module *whole, *stripped;
	const struct function *functions;
	size_t n, n_checked = 0;

	(void)state;
	fixture_init(&fixture);
	fixture_build(&fixture, "shapes shapes-stripped");
	whole = fixture_module(&fixture, "shapes");
	stripped = fixture_module(&fixture, "shapes-stripped");
	functions = module_functions(whole, &n);
	for (size_t i = 0; i < n; i++) {
		const struct function *function = module_function_at(stripped, functions[i].start);
		char name[64];

		if (strncmp(functions[i].name, "shape_", 6))
			continue;
		assert_non_null(function);
		assert_int_equal(function->start.value, functions[i].start.value);
		assert_int_equal(function->end.value, functions[i].end.value);
		assert_null(function->symbol);
		snprintf(name, sizeof(name), "shapes-stripped+%#" PRIx64, function->start.value);
		assert_string_equal(function->name, name);
		n_checked++;
	}
	assert_true(n_checked >= 6);
	assert_non_null(strstr(module_remedy(stripped), "-dbgsym"));
	assert_null(module_remedy(whole));
	fixture_release(&fixture);
}

static void without_section_headers_the_program_headers_lead_to_the_fdes(void **state)
{
	struct fixture fixture;
	const struct function *with, *without;
	size_t n_with, n_without, n_fdes = 0;

	(void)state;
	fixture_init(&fixture);
	fixture_build(&fixture, "shapes-stripped shapes-headless");
	with = module_functions(fixture_module(&fixture, "shapes-stripped"), &n_with);
	without = module_functions(fixture_module(&fixture, "shapes-headless"), &n_without);
	for (size_t i = 0; i < n_with; i++)
		for (size_t k = 0; k < n_without && with[i].from_fde; k++)
			n_fdes += with[i].start.value == without[k].start.value &&
				  with[i].end.value == without[k].end.value;
	assert_true(n_fdes >= 8);
	fixture_release(&fixture);
}

/* "0000000000001030 <puts@plt>:" */
static void objdump_line(void *state, char *text)
{
	struct comparison *comparison = state;
	char *name = strchr(text, '<'), *end = strstr(text, "@plt>:");
	const struct function *function;

	if (!name || !end || !strncmp(name, "<*ABS*", 6))
		return;
	end[4] = '\0';
	function = module_function_at(comparison->module,
				      (struct elf_vaddr){ strtoull(text, NULL, 16) });
	assert_non_null(function);
	assert_string_equal(function->name, name + 1);
	assert_true(function->stub);
	comparison->n_same++;
}

static void stubs_of(const char *name, const char *objdump, size_t at_least)
{
	struct comparison comparison = { 0 };
	struct fixture fixture;
	char command[1000];

	fixture_init(&fixture);
	fixture_build(&fixture, name);
	comparison.module = fixture_module(&fixture, name);
	snprintf(command, sizeof(command), "%s -d -j .plt -j .plt.sec -j .plt.got '%s' 2>/dev/null",
		 objdump, fixture_path(&fixture, name));
	fixture_run(command, objdump_line, &comparison);
	assert_true(comparison.n_same >= at_least);
	fixture_release(&fixture);
}

static void stubs_of_the_plt_are_named_as_objdump_names_them(void **state)
{
	(void)state;
#ifdef __x86_64__
	stubs_of("shapes", "objdump", 5);
	stubs_of("shapes-ibt", "objdump", 5);
	stubs_of("shapes-now", "objdump", 1);
	stubs_of("libshapes.so", "objdump", 5);
#else
	SKIP("x86-64 only");
#endif
}

static void stubs_of_an_aarch64_plt_are_named(void **state)
{
	(void)state;
	stubs_of("shapes-aarch64", "aarch64-linux-gnu-objdump", 5);
}

/* unit: the length of a nop. Offsets are those that labels.S explains. */
static void labels_check(const char *name, uint64_t unit)
{
	static const struct {
		const char *at;
		int units;
		const char *expected; /* NULL: no function; "+": an FDE without a symbol */
	} places[] = {
		{ "unsized_in_fde", 0, "unsized_in_fde" },
		{ "unsized_in_fde", 7, "unsized_in_fde" },
		{ "unsized_in_fde", 8, NULL },
		{ "unsized_bare", -1, NULL },
		{ "unsized_bare", 0, "unsized_bare" },
		{ "unsized_bare", 7, "unsized_bare" },
		{ "outer", 0, "outer" },
		{ "outer", 3, "outer" },
		{ "outer", 4, "inner" },
		{ "outer", 7, "inner" },
		{ "outer", 8, "outer" },
		{ "outer", 10, "outer" },
		{ "outer", 15, "outer" },
		{ "short_size", 0, "short_size" },
		{ "short_size", 7, "short_size" },
		{ "short_size", 8, "+" },
		{ "short_size", 15, "+" },
		{ "alias_b", 0, "alias_b" },
		{ "alias_b", 7, "alias_b" },
		{ "labels_end", 0, "labels_end" },
		{ "labels_end", 1, NULL },
	};
	struct fixture fixture;
	struct module *module;

	fixture_init(&fixture);
	fixture_build(&fixture, name);
	module = fixture_module(&fixture, name);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const struct function *base = fixture_function(module, places[i].at);
		const struct function *function;

		assert_non_null(base);
		function = module_function_at(
			module,
			(struct elf_vaddr){ base->start.value + (uint64_t)places[i].units * unit });
		if (!places[i].expected)
			/* padding and what the C runtime adds may follow */
			assert_true(!function || strstr(function->name, "_fini"));
		else if (!strcmp(places[i].expected, "+"))
			assert_true(function && !function->symbol && function->from_fde);
		else
			assert_string_equal(function->name, places[i].expected);
	}
	assert_int_equal(fixture_function(module, "alias_b")->n_aliases, 2);
	fixture_release(&fixture);
}

static void hand_written_code_gets_names_only_where_it_has_them(void **state)
{
	(void)state;
#ifdef __x86_64__
	labels_check("labels", 1);
#else
	labels_check("labels", 4);
#endif
}

static void hand_written_32_bit_code_is_read(void **state)
{
	(void)state;
	labels_check("labels-i386", 1);
}

static void hand_written_aarch64_code_is_read_on_any_host(void **state)
{
	(void)state;
	labels_check("labels-aarch64", 4);
}

static void a_cold_piece_points_at_its_function(void **state)
{
	const struct function *piece;
	struct fixture fixture;
	struct module *module;

	(void)state;
	fixture_init(&fixture);
	fixture_build(&fixture, "shapes");
	module = fixture_module(&fixture, "shapes");
	piece = fixture_function(module, "shape_split.cold");
	if (!piece) {
		fixture_release(&fixture);
		SKIP("this gcc splits no cold part off");
	}
	assert_string_equal(module_function_parent(module, piece)->name, "shape_split");
	assert_ptr_equal(module_function_parent(module, module_function_parent(module, piece)),
			 module_function_parent(module, piece));
	fixture_release(&fixture);
}

/* "  LOAD           0x001000 0x0000000000046000 0x... 0x000010 0x000010 R E 0x1000" */
struct loads {
	uint64_t offset[16], vaddr[16], size[16];
	size_t n, n_moved;
};

static void readelf_load(void *state, char *text)
{
	struct loads *loads = state;
	char *word = strtok(text, " ");
	bool executable;

	if (!word || strcmp(word, "LOAD"))
		return;
	loads->offset[loads->n] = strtoull(strtok(NULL, " "), NULL, 16);
	loads->vaddr[loads->n] = strtoull(strtok(NULL, " "), NULL, 16);
	strtok(NULL, " ");
	loads->size[loads->n] = strtoull(strtok(NULL, " "), NULL, 16);
	strtok(NULL, " ");
	strtok(NULL, " ");
	word = strtok(NULL, " ");
	executable = word && word[0] == 'E';
	if (!executable)
		return;
	loads->n_moved += loads->offset[loads->n] != loads->vaddr[loads->n];
	loads->n++;
}

static void layout_check(const char *recipe, const char *file, size_t n_segments)
{
	static const char *const symbols[] = { "layout_first", "layout_second" };
	struct loads loads = { 0 };
	struct fixture fixture;
	struct module *module;
	struct frame frame;
	char command[1000];

	fixture_init(&fixture);
	fixture_build(&fixture, recipe);
	snprintf(command, sizeof(command), "readelf -lW '%s'", fixture_path(&fixture, file));
	assert_int_equal(fixture_run(command, readelf_load, &loads), 0);
	assert_int_equal(loads.n, n_segments);
	assert_true(loads.n_moved >= 1);
	module = fixture_module(&fixture, file);
	for (size_t i = 0; i < 2; i++) {
		const struct function *function = fixture_function(module, symbols[i]);
		struct file_offset offset = { 0 };
		struct elf_vaddr vaddr;

		assert_non_null(function);
		for (size_t k = 0; k < loads.n; k++)
			if (function->start.value - loads.vaddr[k] < loads.size[k])
				offset.value =
					function->start.value - loads.vaddr[k] + loads.offset[k];
		assert_true(module_vaddr(module, offset, &vaddr));
		assert_int_equal(vaddr.value, function->start.value);
		symbolizer_frames(fixture.symbolizer, module, offset, false, &frame, 1);
		assert_string_equal(frame.name, symbols[i]);
	}
	fixture_release(&fixture);
}

static void addresses_that_differ_from_file_offsets_are_translated(void **state)
{
	(void)state;
	layout_check("layout", "liblayout.so", 3);
	layout_check("layout-static", "layout-static", 2);
}

static void the_layout_of_lld_is_translated(void **state)
{
	(void)state;
	layout_check("layout-lld", "liblayout-lld.so", 1);
}

static void an_offset_outside_all_executable_segments_has_no_address(void **state)
{
	struct fixture fixture;
	struct elf_vaddr vaddr;

	(void)state;
	fixture_init(&fixture);
	fixture_build(&fixture, "shapes");
	assert_false(module_vaddr(fixture_module(&fixture, "shapes"),
				  (struct file_offset){ UINT64_C(1) << 40 }, &vaddr));
	fixture_release(&fixture);
}

static void equal_identities_are_one_module_and_others_are_not(void **state)
{
	const uint8_t id[] = { 1, 2, 3 };
	struct module_identity identity = { .path = "/nowhere/a" };
	struct module *first;
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	fixture_open(&fixture, NULL);
	first = symbolizer_module(fixture.symbolizer, &identity);
	for (int i = 0; i < 200; i++) {
		struct module_identity many = { .path = "/nowhere/many", .inode = (uint64_t)i + 1 };

		assert_ptr_not_equal(symbolizer_module(fixture.symbolizer, &many), first);
	}
	assert_ptr_equal(symbolizer_module(fixture.symbolizer, &identity), first);
	identity.build_id = id;
	identity.build_id_size = 3;
	assert_ptr_not_equal(symbolizer_module(fixture.symbolizer, &identity), first);
	assert_string_equal(module_name(first), "a");
	assert_string_equal(module_path(first), "/nowhere/a");
	fixture_release(&fixture);
}

static void the_vdso_of_this_machine_is_named(void **state)
{
	struct fixture fixture;
	struct module *module;
	const struct function *functions;
	size_t n, found = 0;

	(void)state;
	fixture_init(&fixture);
	fixture_open(&fixture, NULL);
	module = symbolizer_vdso(fixture.symbolizer, false);
	if (module_miss(module) == SYMBOL_FILE_MISSING) {
		fixture_release(&fixture);
		SKIP("this kernel maps no vdso");
	}
	functions = module_functions(module, &n);
	for (size_t i = 0; i < n; i++)
		found += !strcmp(functions[i].name, "__vdso_clock_gettime") ||
			 !strcmp(functions[i].name, "__kernel_clock_gettime");
	assert_int_equal(found, 1);
	assert_int_equal(module_miss(symbolizer_vdso(fixture.symbolizer, true)),
			 SYMBOL_FILE_MISSING);
	fixture_release(&fixture);
}

static void a_file_is_never_named_like_a_pseudo_path(void **state)
{
	struct module_identity odd = { .path = "/tmp/[heap]/[vdso]" },
			       plain = { .path = "/tmp/a b" };
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	fixture_open(&fixture, NULL);
	assert_string_equal(module_name(symbolizer_module(fixture.symbolizer, &odd)),
			    "/tmp/[heap]/[vdso]");
	assert_string_equal(module_name(symbolizer_module(fixture.symbolizer, &plain)), "a b");
	fixture_release(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_of_programs_of_every_layout_are_those_of_nm),
		cmocka_unit_test(functions_of_an_aarch64_program_are_those_of_nm),
		cmocka_unit_test(a_stripped_library_has_its_dynamic_symbols),
		cmocka_unit_test(symbols_in_gnu_debugdata_are_read),
		cmocka_unit_test(a_stripped_program_keeps_the_bounds_of_its_functions),
		cmocka_unit_test(without_section_headers_the_program_headers_lead_to_the_fdes),
		cmocka_unit_test(stubs_of_the_plt_are_named_as_objdump_names_them),
		cmocka_unit_test(stubs_of_an_aarch64_plt_are_named),
		cmocka_unit_test(hand_written_code_gets_names_only_where_it_has_them),
		cmocka_unit_test(hand_written_32_bit_code_is_read),
		cmocka_unit_test(hand_written_aarch64_code_is_read_on_any_host),
		cmocka_unit_test(a_cold_piece_points_at_its_function),
		cmocka_unit_test(addresses_that_differ_from_file_offsets_are_translated),
		cmocka_unit_test(the_layout_of_lld_is_translated),
		cmocka_unit_test(an_offset_outside_all_executable_segments_has_no_address),
		cmocka_unit_test(equal_identities_are_one_module_and_others_are_not),
		cmocka_unit_test(the_vdso_of_this_machine_is_named),
		cmocka_unit_test(a_file_is_never_named_like_a_pseudo_path),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
