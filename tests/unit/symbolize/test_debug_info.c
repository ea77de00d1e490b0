/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inlined frames and lines against those of addr2line -i, all over the program. */
#include "symbolize/debug_info.h"

#include <inttypes.h>

#include "fixture.h"
#include "symbolize/symbolizer_state.h"

#define MAX_ADDRESSES (1u << 16)

struct line_frame {
	char name[512];
	char place[512]; /* "stl_vector.h:733", without directories */
};

struct comparison {
	struct symbolizer *symbolizer;
	struct module *module;
	uint64_t address;
	struct line_frame theirs[SYMBOLIZER_MAX_INLINES];
	size_t n_theirs;
	bool place_next;
	bool files_wrong, names_differ; /* what the tool is known not to do as we do */
	size_t n_compared, n_inlined, deepest;
};

/* C++ takes its time to build: each binary is built once for all tests that only read it. */
static struct fixture shared;

static int shared_make(void **state)
{
	(void)state;
	fixture_init(&shared);
	return 0;
}

static int shared_remove(void **state)
{
	(void)state;
	fixture_release(&shared);
	return 0;
}

static struct module *shared_module(const char *name)
{
	char reason[256];

	if (access(fixture_path(&shared, name), F_OK) && !fixture_try_build(&shared, name, reason))
		SKIP("%s: %s", name, reason);
	fixture_open(&shared, NULL);
	return fixture_module(&shared, name);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Up to the first bracket: addr2line and we may print template arguments and clones otherwise. */
static size_t plain_length(const char *name)
{
	return strcspn(name, "(<[.");
}

/* Addresses are file offsets here: the recipes make programs whose text lies at equal ones. */
static void address_compare(struct comparison *comparison)
{
	struct frame frames[SYMBOLIZER_MAX_INLINES];
	size_t n;

	n = symbolizer_frames(comparison->symbolizer, comparison->module,
			      (struct file_offset){ comparison->address }, false, frames,
			      SYMBOLIZER_MAX_INLINES);
	/* PLT stubs, padding and the C runtime's start code have no lines */
	if (!frames[0].file || !frames[0].function)
		return;
	if (n != comparison->n_theirs)
		print_message("at %#" PRIx64 ": %zu frames, addr2line has %zu\n",
			      comparison->address, n, comparison->n_theirs);
	assert_int_equal(n, comparison->n_theirs);
	for (size_t i = 0; i < n; i++) {
		char place[512];
		const struct line_frame *theirs = &comparison->theirs[i];

		snprintf(place, sizeof(place), "%.400s:%u", base_name(frames[i].file),
			 frames[i].line);
		/* binutils 2.40 takes the wrong entry of DWARF 5's file table at times */
		if (comparison->files_wrong)
			assert_string_equal(strrchr(place, ':'), strrchr(theirs->place, ':'));
		else
			assert_string_equal(place, theirs->place);
		assert_int_equal(frames[i].inlined, i + 1 < n);
		/* addr2line names the innermost frame by the ELF symbol when it has no linkage name */
		if (i && i + 1 < n && !comparison->names_differ)
			assert_memory_equal(frames[i].name, theirs->name,
					    plain_length(theirs->name));
	}
	comparison->n_compared++;
	comparison->n_inlined += n > 1;
	if (n > comparison->deepest)
		comparison->deepest = n;
}

/* "0x0000000000001234", then per frame two lines: its name and "path:line[ (discriminator 3)]". */
static void addr2line_line(void *state, char *text)
{
	struct comparison *comparison = state;
	struct line_frame *frame = &comparison->theirs[comparison->n_theirs];

	if (!strncmp(text, "0x", 2)) {
		if (comparison->n_theirs)
			address_compare(comparison);
		comparison->address = strtoull(text, NULL, 16);
		comparison->n_theirs = 0;
	} else if (!text[0]) {
		return; /* llvm's separates addresses */
	} else if (!comparison->place_next) {
		snprintf(frame->name, sizeof(frame->name), "%.500s", text);
		comparison->place_next = true;
	} else {
		text[strcspn(text, " ")] = '\0';
		snprintf(frame->place, sizeof(frame->place), "%.500s", base_name(text));
		comparison->place_next = false;
		assert_true(++comparison->n_theirs < SYMBOLIZER_MAX_INLINES);
	}
}

static void addresses_write(struct module *module)
{
	FILE *file = fopen(fixture_path(&shared, "addresses"), "w");
	const struct function *functions;
	size_t n, written = 0;

	assert_non_null(file);
	functions = module_functions(module, &n);
	for (size_t i = 0; i < n; i++)
		for (uint64_t at = functions[i].start.value;
		     at < functions[i].end.value && written < MAX_ADDRESSES; at += 3, written++)
			fprintf(file, "%#" PRIx64 "\n", at);
	/* so that the last address is compared as well */
	fprintf(file, "0\n");
	fclose(file);
}

static void compare(const char *name, const char *tool, bool files_wrong, size_t deepest)
{
	struct comparison comparison = {
		.files_wrong = files_wrong,
		.names_differ = strstr(tool, "llvm") != NULL,
	};
	char command[1500];

	comparison.module = shared_module(name);
	comparison.symbolizer = shared.symbolizer;
	addresses_write(comparison.module);
	snprintf(command, sizeof(command), "%s -a -i -f -C -e '%s' <'%s'", tool,
		 fixture_path(&shared, name), fixture_path(&shared, "addresses"));
	assert_int_equal(fixture_run(command, addr2line_line, &comparison), 0);
	print_message("# %s: %zu addresses compared, %zu of them inlined, up to %zu deep\n", name,
		      comparison.n_compared, comparison.n_inlined, comparison.deepest);
	assert_true(comparison.n_compared > 50);
	assert_true(comparison.deepest >= deepest);
}

static void inlined_cpp_frames_are_those_of_addr2line(void **state)
{
	(void)state;
	compare("inlines", "addr2line", true, 6);
}

static void inlined_frames_of_dwarf_4_are_those_of_addr2line(void **state)
{
	(void)state;
	compare("inlines-dwarf4", "addr2line", false, 6);
}

static void compressed_sections_are_read(void **state)
{
	(void)state;
	compare("inlines-zlib", "addr2line", true, 6);
}

static void frames_across_units_of_link_time_optimisation_are_those_of_addr2line(void **state)
{
	(void)state;
	compare("inlines-lto", "addr2line", true, 6);
}

static void inlined_aarch64_frames_are_those_of_addr2line(void **state)
{
	(void)state;
	compare("shapes-aarch64", "aarch64-linux-gnu-addr2line", true, 2);
}

static void inlined_frames_of_clang_are_those_of_llvm_addr2line(void **state)
{
	(void)state;
	if (fixture_run("command -v llvm-addr2line-14 >/dev/null", NULL, NULL))
		SKIP("llvm-addr2line-14 is not installed; addr2line reads clang's DWARF 5 in part");
	compare("inlines-clang", "llvm-addr2line-14", false, 6);
}

/* The chain at some address must be exactly these names, innermost first. */
static void chain_is_somewhere(const char *name, const char *const *chain,
			       const char *innermost_file)
{
	struct module *module;
	const struct function *functions;
	size_t n, found = 0, depth = 0;

	while (chain[depth])
		depth++;
	module = shared_module(name);
	functions = module_functions(module, &n);
	for (size_t i = 0; i < n; i++)
		for (uint64_t at = functions[i].start.value; at < functions[i].end.value; at++) {
			struct frame frames[SYMBOLIZER_MAX_INLINES];
			size_t same = 0;

			if (symbolizer_frames(shared.symbolizer, module, (struct file_offset){ at },
					      false, frames, SYMBOLIZER_MAX_INLINES) != depth)
				continue;
			while (same < depth && !strcmp(frames[same].name, chain[same]))
				same++;
			if (same == depth && frames[0].file && frames[0].line &&
			    !strcmp(base_name(frames[0].file), innermost_file))
				found++;
		}
	assert_true(found > 0);
}

static void functions_without_a_linkage_name_are_named_too(void **state)
{
	static const char *const chain[] = { "square", "cube", "main", NULL };

	(void)state;
	chain_is_somewhere("inlines", chain, "inlines.cc");
}

static void split_dwarf_is_read_from_its_dwo_files(void **state)
{
	static const char *const a[] = { "split_inlined", "split_a", NULL };
	static const char *const b[] = { "split_inlined_too", "split_b", NULL };

	(void)state;
	chain_is_somewhere("split", a, "split_a.c");
	chain_is_somewhere("split", b, "split_b.c");
	chain_is_somewhere("split-dwarf4", a, "split_a.c");
}

static void a_supplementary_file_of_dwz_is_read(void **state)
{
	static const char *const a[] = { "split_inlined", "split_a", NULL };

	(void)state;
	chain_is_somewhere("dwz", a, "split_a.c");
}

static void a_supplementary_file_of_another_build_is_not_read(void **state)
{
	struct fixture fixture;
	struct module *module;
	const struct function *function;
	struct frame frames[8];
	char command[800];

	(void)state;
	fixture_init(&fixture);
	fixture_build(&fixture, "dwz other");
	snprintf(command, sizeof(command), "cd '%s' && cp other dwz.common", fixture.dir);
	assert_int_equal(fixture_run(command, NULL, NULL), 0);
	module = fixture_module(&fixture, "dwz");
	function = fixture_function(module, "split_b");
	assert_non_null(function);
	assert_int_equal(symbolizer_frames(fixture.symbolizer, module,
					   (struct file_offset){ function->start.value }, false,
					   frames, 8),
			 1);
	assert_string_equal(frames[0].name, "split_b");
	assert_null(frames[0].file);
	fixture_release(&fixture);
}

static void debug_information_in_a_separate_file_is_used(void **state)
{
	struct fixture fixture;
	struct module *module;
	const struct function *function;
	struct frame frames[8];

	(void)state;
	fixture_init(&fixture);
	fixture_build(&fixture, "linked");
	module = fixture_module(&fixture, "linked");
	function = fixture_function(module, "shape_local");
	assert_non_null(function);
	symbolizer_frames(fixture.symbolizer, module, (struct file_offset){ function->start.value },
			  false, frames, 8);
	assert_non_null(frames[0].file);
	assert_string_equal(base_name(frames[0].file), "shapes.c");
	assert_true(frames[0].line > 0);
	fixture_release(&fixture);
}

/* A call that is the last thing a function does returns to what follows it: the next function. */
static void a_return_address_belongs_to_the_call_before_it(void **state)
{
	struct fixture fixture;
	struct module *module;
	const struct function *function;
	struct frame frames[8];
	struct file_offset end;

	(void)state;
	fixture_init(&fixture);
	fixture_build(&fixture, "shapes");
	module = fixture_module(&fixture, "shapes");
	function = fixture_function(module, "shape_calls");
	assert_non_null(function);
	end.value = function->end.value;
	symbolizer_frames(fixture.symbolizer, module, end, false, frames, 8);
	assert_string_not_equal(frames[0].name, "shape_calls");
	symbolizer_frames(fixture.symbolizer, module, end, true, frames, 8);
	assert_string_equal(frames[0].name, "shape_calls");
	fixture_release(&fixture);
}

static void with_little_room_the_outer_frames_are_kept(void **state)
{
	struct module *module;
	const struct function *function;
	size_t n_deep = 0;

	(void)state;
	module = shared_module("inlines");
	function = fixture_function(module, "main");
	assert_non_null(function);
	for (uint64_t at = function->start.value; at < function->end.value; at++) {
		struct frame all[SYMBOLIZER_MAX_INLINES], some[2];
		const struct file_offset offset = { at };
		const size_t n = symbolizer_frames(shared.symbolizer, module, offset, false, all,
						   SYMBOLIZER_MAX_INLINES);

		if (n < 3)
			continue;
		n_deep++;
		assert_int_equal(
			symbolizer_frames(shared.symbolizer, module, offset, false, some, 2), 2);
		for (size_t i = 0; i < 2; i++) {
			assert_string_equal(some[i].name, all[n - 2 + i].name);
			assert_int_equal(some[i].line, all[n - 2 + i].line);
			assert_int_equal(some[i].inlined, all[n - 2 + i].inlined);
		}
		assert_int_equal(
			symbolizer_frames(shared.symbolizer, module, offset, false, some, 1), 1);
		assert_string_equal(some[0].name, "main");
	}
	assert_true(n_deep > 0);
}

static void without_inlines_only_the_function_is_given(void **state)
{
	const struct symbolizer_options options = { .demangle = false };
	struct module *module;
	const struct function *function;
	struct frame frames[8];

	(void)state;
	shared_module("inlines");
	fixture_open(&shared, &options);
	module = fixture_module(&shared, "inlines");
	function = fixture_function(module, "main");
	for (uint64_t at = function->start.value; at < function->end.value; at++) {
		assert_int_equal(symbolizer_frames(shared.symbolizer, module,
						   (struct file_offset){ at }, false, frames, 8),
				 1);
		assert_null(frames[0].file);
	}
}

/* Two programs in turn, with room for neither beside the other: the same answers, opened again and again. */
static void debug_information_that_was_closed_to_make_room_is_opened_again(void **state)
{
	const struct symbolizer_options options = {
		.inlines = true,
		.demangle = true,
		.debug_dir = shared.dir,
	};
	struct module *modules[2];
	const struct function *mains[2];

	(void)state;
	shared_module("inlines");
	shared_module("inlines-dwarf4");
	fixture_open(&shared, &options);
	shared.symbolizer->debug_limit = 1;
	modules[0] = fixture_module(&shared, "inlines");
	modules[1] = fixture_module(&shared, "inlines-dwarf4");
	for (size_t i = 0; i < 2; i++)
		mains[i] = fixture_function(modules[i], "main");
	for (uint64_t round = 0; round < 10; round++)
		for (size_t i = 0; i < 2; i++) {
			struct frame frames[SYMBOLIZER_MAX_INLINES];
			const struct file_offset at = { mains[i]->start.value + round };
			size_t n = symbolizer_frames(shared.symbolizer, modules[i], at, false,
						     frames, SYMBOLIZER_MAX_INLINES);

			assert_string_equal(frames[n - 1].name, "main");
			assert_string_equal(base_name(frames[n - 1].file), "inlines.cc");
			assert_non_null(modules[i]->info);
			assert_null(modules[1 - i]->info);
		}
}

static void rust_names_are_readable_in_symbols_and_inlined_frames(void **state)
{
	struct module *module;
	const struct function *functions;
	size_t n, weigh = 0, mangled = 0;

	(void)state;
	module = shared_module("rust-v0");
	functions = module_functions(module, &n);
	for (size_t i = 0; i < n; i++) {
		weigh += strstr(functions[i].name, "shop::weigh") != NULL;
		mangled += !strncmp(functions[i].name, "_R", 2);
	}
	assert_int_equal(weigh, 1);
	assert_int_equal(mangled, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inlined_cpp_frames_are_those_of_addr2line),
		cmocka_unit_test(inlined_frames_of_dwarf_4_are_those_of_addr2line),
		cmocka_unit_test(compressed_sections_are_read),
		cmocka_unit_test(
			frames_across_units_of_link_time_optimisation_are_those_of_addr2line),
		cmocka_unit_test(inlined_aarch64_frames_are_those_of_addr2line),
		cmocka_unit_test(inlined_frames_of_clang_are_those_of_llvm_addr2line),
		cmocka_unit_test(functions_without_a_linkage_name_are_named_too),
		cmocka_unit_test(split_dwarf_is_read_from_its_dwo_files),
		cmocka_unit_test(a_supplementary_file_of_dwz_is_read),
		cmocka_unit_test(a_supplementary_file_of_another_build_is_not_read),
		cmocka_unit_test(debug_information_in_a_separate_file_is_used),
		cmocka_unit_test(a_return_address_belongs_to_the_call_before_it),
		cmocka_unit_test(with_little_room_the_outer_frames_are_kept),
		cmocka_unit_test(without_inlines_only_the_function_is_given),
		cmocka_unit_test(debug_information_that_was_closed_to_make_room_is_opened_again),
		cmocka_unit_test(rust_names_are_readable_in_symbols_and_inlined_frames),
	};

	return cmocka_run_group_tests(tests, shared_make, shared_remove);
}
