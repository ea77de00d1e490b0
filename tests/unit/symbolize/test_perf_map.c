/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/perf_map.h"

#include "base/random.h"
#include "fixture.h"
#include "support/tree.h"

struct map {
	char *text;
	struct function_model model;
};

static void map_make(struct map *map, const char *text)
{
	map->text = strdup(text);
	assert_non_null(map->text);
	assert_true(perf_map_parse(map->text, strlen(text), &map->model));
}

static void map_release(struct map *map)
{
	function_model_release(&map->model);
	free(map->text);
}

static const char *at(const struct map *map, uint64_t address)
{
	const uint32_t index = function_model_at(&map->model, address);

	return index == FUNCTION_NONE ? "-" : map->model.functions[index].symbol;
}

/* What runtimes write, in one file. */
static void every_form_of_a_line_is_understood_and_junk_is_skipped(void **state)
{
	struct map map;

	(void)state;
	map_make(&map,
		 "10000 10000 whole_area\n"
		 "10600 20 old_name\n"
		 "10100 20 int Foo.bar(java.lang.Object, long) [tier 4]\n"
		 "10000 20 plain\n"
		 "0x10200 0x20 hex_prefixed\n"
		 "10A00 20 UPPER_hex\n"
		 "0000000000010400 00000020 crlf_line\r\n"
		 "\n# comment\nnot a map line\n10900\n10900 20\n10900 20 \n"
		 "123456789abcdef01 20 too_wide\nffffffffffffffff 20 wraps\n10900 zz no_size\n"
		 "10500 20 LazyCompile:~<script>alert('x')</script>;a b /srv/app.js:1:2\n"
		 "10600 20 new_name\n"
		 "10700 0 zero_size\n"
		 "10800 20 last_line_without_newline");
	assert_string_equal(at(&map, 0x10000), "plain");
	assert_string_equal(at(&map, 0x10110), "int Foo.bar(java.lang.Object, long) [tier 4]");
	assert_string_equal(at(&map, 0x10200), "hex_prefixed");
	assert_string_equal(at(&map, 0x10a1f), "UPPER_hex");
	assert_string_equal(at(&map, 0x10400), "crlf_line");
	assert_string_equal(at(&map, 0x10505),
			    "LazyCompile:~<script>alert('x')</script>;a b /srv/app.js:1:2");
	assert_string_equal(at(&map, 0x10600), "new_name");
	assert_string_equal(at(&map, 0x10700), "zero_size");
	assert_string_equal(at(&map, 0x107ff), "zero_size");
	assert_string_equal(at(&map, 0x1081f), "last_line_without_newline");
	assert_string_equal(at(&map, 0x10900), "whole_area");
	assert_string_equal(at(&map, 0x1ffff), "whole_area");
	assert_string_equal(at(&map, 0x20000), "-");
	assert_string_equal(at(&map, 0xffff), "-");
	map_release(&map);
}

static void an_unsized_entry_ends_at_the_next_start_or_with_its_page(void **state)
{
	struct map map;

	(void)state;
	map_make(&map, "1000 0 a\n2000 100 b\n8000 0 c\n9100 0 d\n9000 140 around\n");
	assert_string_equal(at(&map, 0x1fff), "a");
	assert_string_equal(at(&map, 0x2100), "-");
	assert_string_equal(at(&map, 0x8fff), "c");
	assert_string_equal(at(&map, 0x90ff), "around");
	assert_string_equal(at(&map, 0x913f), "d");
	assert_string_equal(at(&map, 0x9140), "-");
	map_release(&map);
	map_make(&map, "1000 0 alone\n");
	assert_string_equal(at(&map, 0x1fff), "alone");
	assert_string_equal(at(&map, 0x2000), "-");
	map_release(&map);
}

static void a_function_that_was_replaced_altogether_is_not_listed(void **state)
{
	struct map map;

	(void)state;
	map_make(&map, "2000 20 later\n1000 20 old\n1000 20 new\n");
	assert_int_equal(map.model.n, 2);
	assert_string_equal(map.model.functions[0].symbol, "new");
	assert_string_equal(map.model.functions[1].symbol, "later");
	map_release(&map);
}

static void an_empty_map_names_nothing(void **state)
{
	struct map map;

	(void)state;
	map_make(&map, "");
	assert_string_equal(at(&map, 0x1000), "-");
	map_release(&map);
	map_make(&map, "\n\n\r\n");
	assert_int_equal(map.model.n, 0);
	map_release(&map);
}

static void a_name_keeps_any_byte_and_is_cut_where_it_grows_too_long(void **state)
{
	char *text = malloc(PERF_MAP_MAX_NAME + 100);
	struct map map;

	(void)state;
	map_make(&map, "1000 10 caf\xe9 \x01\x7f\tx\n");
	assert_string_equal(at(&map, 0x1000), "caf\xe9 \x01\x7f\tx");
	map_release(&map);
	strcpy(text, "1000 10 ");
	memset(text + 8, 'n', PERF_MAP_MAX_NAME + 50);
	text[PERF_MAP_MAX_NAME + 58] = '\0';
	map_make(&map, text);
	assert_int_equal(strlen(at(&map, 0x1000)), PERF_MAP_MAX_NAME);
	map_release(&map);
	free(text);
}

static const char *name_of(struct symbolizer *symbolizer, uint32_t pid, uint64_t address,
			   enum symbol_miss *miss)
{
	struct frame frame;

	symbolizer_frames(symbolizer, symbolizer_perf_map(symbolizer, pid),
			  (struct file_offset){ address }, false, &frame, 1);
	*miss = frame.miss;
	return frame.name;
}

static void the_maps_of_a_recording_are_read_before_those_in_tmp(void **state)
{
	struct symbolizer_options options = { .demangle = true };
	struct symbolizer *symbolizer;
	enum symbol_miss miss;
	struct tree tree;

	(void)state;
	tree_make(&tree, NULL, 0);
	/* no process has this number: it is above the largest that Linux allows */
	tree_write(&tree, "perf-4194999.map", "1000 20 kept@here\n");
	options.map_dir = tree.root;
	assert_int_equal(symbolizer_new(&symbolizer, sys_real(), &options, NULL), STATUS_OK);
	/* '@' is no symbol version here */
	assert_string_equal(name_of(symbolizer, 4194999, 0x1010, &miss), "kept@here");
	assert_int_equal(miss, SYMBOL_OK);
	name_of(symbolizer, 4194999, 0x5000, &miss);
	assert_int_equal(miss, SYMBOL_NO_COVER);
	name_of(symbolizer, 4194998, 0x1010, &miss);
	assert_int_equal(miss, SYMBOL_ANONYMOUS);
	symbolizer_free(symbolizer);
	tree_remove(&tree);
}

static void a_foreign_recording_has_maps_only_where_the_user_points(void **state)
{
	struct symbolizer_options options = { .demangle = true };
	struct symbolizer *symbolizer;
	struct frame frame;
	char path[64];
	FILE *local;
	struct tree tree;

	(void)state;
	tree_make(&tree, NULL, 0);
	tree_write(&tree, "tmp/perf-4194997.map", "1000 20 pointed_at\n");
	snprintf(path, sizeof(path), "/tmp/perf-%u.map", 4194996u);
	local = fopen(path, "w");
	assert_non_null(local);
	fputs("1000 20 local\n", local);
	fclose(local);
	options.symfs = tree.root;
	assert_int_equal(symbolizer_new(&symbolizer, sys_real(), &options, NULL), STATUS_OK);
	symbolizer_frames(symbolizer, symbolizer_perf_map_of(symbolizer, 4194997, true),
			  (struct file_offset){ 0x1000 }, false, &frame, 1);
	assert_string_equal(frame.name, "pointed_at");
	symbolizer_frames(symbolizer, symbolizer_perf_map_of(symbolizer, 4194996, true),
			  (struct file_offset){ 0x1000 }, false, &frame, 1);
	assert_string_equal(frame.name, "[unknown]");
	symbolizer_frames(symbolizer, symbolizer_perf_map_of(symbolizer, 4194996, false),
			  (struct file_offset){ 0x1000 }, false, &frame, 1);
	assert_string_equal(frame.name, "local");
	symbolizer_free(symbolizer);
	unlink(path);
	tree_remove(&tree);
}

static void a_map_of_somebody_else_or_a_link_is_not_read(void **state)
{
	struct tree tree;
	char path[600], link[600], *text;
	size_t size;

	(void)state;
	if (geteuid())
		SKIP("only root can give a file away");
	tree_make(&tree, NULL, 0);
	tree_write(&tree, "perf-4194999.map", "1000 20 foreign\n");
	snprintf(path, sizeof(path), "%s/perf-4194999.map", tree.root);
	snprintf(link, sizeof(link), "%s/perf-4194998.map", tree.root);
	assert_int_equal(perf_map_read(sys_real(), tree.root, 4194999, false, &text, &size),
			 SYMBOL_OK);
	free(text);
	assert_int_equal(chown(path, 12345, 12345), 0);
	assert_int_equal(perf_map_read(sys_real(), tree.root, 4194999, false, &text, &size),
			 SYMBOL_FILE_UNREADABLE);
	assert_int_equal(chown(path, 0, 0), 0);
	assert_int_equal(symlink(path, link), 0);
	assert_int_equal(perf_map_read(sys_real(), tree.root, 4194998, false, &text, &size),
			 SYMBOL_FILE_UNREADABLE);
	assert_int_equal(unlink(link), 0);
	assert_int_equal(mkdir(link, 0700), 0);
	assert_int_equal(perf_map_read(sys_real(), tree.root, 4194998, false, &text, &size),
			 SYMBOL_FILE_UNREADABLE);
	tree_remove(&tree);
}

static void any_map_gives_functions_that_hold_their_addresses(void **state)
{
	struct random random;

	(void)state;
	random_init(&random, 3, 0, 0, 0);
	for (int round = 0; round < 300; round++) {
		char text[4096];
		size_t used = 0;
		struct map map;

		text[0] = '\0';
		for (uint64_t n = random_below(&random, 60); n; n--)
			used += (size_t)snprintf(text + used, sizeof(text) - used,
						 "%llx %llx n%llu\n",
						 (unsigned long long)random_below(&random, 0x100),
						 (unsigned long long)random_below(&random, 0x20),
						 (unsigned long long)n);
		map_make(&map, text);
		for (size_t i = 1; i < map.model.n; i++)
			assert_true(map.model.functions[i - 1].start.value <=
				    map.model.functions[i].start.value);
		for (uint64_t address = 0; address < 0x200; address++) {
			const uint32_t index = function_model_at(&map.model, address);

			if (index == FUNCTION_NONE)
				continue;
			assert_true(address >= map.model.functions[index].start.value);
			assert_true(address < map.model.functions[index].end.value);
		}
		map_release(&map);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_form_of_a_line_is_understood_and_junk_is_skipped),
		cmocka_unit_test(an_unsized_entry_ends_at_the_next_start_or_with_its_page),
		cmocka_unit_test(a_function_that_was_replaced_altogether_is_not_listed),
		cmocka_unit_test(an_empty_map_names_nothing),
		cmocka_unit_test(a_name_keeps_any_byte_and_is_cut_where_it_grows_too_long),
		cmocka_unit_test(the_maps_of_a_recording_are_read_before_those_in_tmp),
		cmocka_unit_test(a_foreign_recording_has_maps_only_where_the_user_points),
		cmocka_unit_test(a_map_of_somebody_else_or_a_link_is_not_read),
		cmocka_unit_test(any_map_gives_functions_that_hold_their_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
