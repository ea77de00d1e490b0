/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files are proven right before a name is taken from them. */
#include "symbolize/debug_search.h"

#include <errno.h>

#include "fixture.h"
#include "support/sys_fault.h"

static void run(const struct fixture *fixture, const char *format, ...) PRINTF_LIKE(2, 3);

static void run(const struct fixture *fixture, const char *format, ...)
{
	char command[2000];
	int used = snprintf(command, sizeof(command), "cd '%s' && ", fixture->dir);
	va_list args;

	va_start(args, format);
	vsnprintf(command + used, sizeof(command) - (size_t)used, format, args);
	va_end(args);
	assert_int_equal(fixture_run(command, NULL, NULL), 0);
}

struct build_id {
	uint8_t bytes[ELF_FILE_MAX_BUILD_ID];
	size_t size;
	char hex[2 * ELF_FILE_MAX_BUILD_ID + 1];
};

static struct build_id build_id_of(const struct fixture *fixture, const char *name)
{
	struct build_id id = { 0 };
	struct elf_file file;

	assert_int_equal(elf_file_open(&file, sys_real(), fixture_path(fixture, name)), SYMBOL_OK);
	id.size = file.build_id_size;
	memcpy(id.bytes, file.build_id, id.size);
	for (size_t i = 0; i < id.size; i++)
		sprintf(id.hex + 2 * i, "%02x", id.bytes[i]);
	elf_file_release(&file);
	return id;
}

/* Has the local function, which only the separate debug file names? */
static bool names_local(struct fixture *fixture, const char *name)
{
	fixture_open(fixture, NULL);
	return fixture_function(fixture_module(fixture, name), "shape_local") != NULL;
}

static void a_debug_file_is_found_by_build_id(void **state)
{
	struct fixture fixture;
	struct build_id id;

	(void)state;
	fixture_init(&fixture);
	fixture_build(&fixture, "separate");
	id = build_id_of(&fixture, "separate");
	assert_int_equal(id.size, 20);
	run(&fixture, "mv separate.debug elsewhere");
	assert_false(names_local(&fixture, "separate"));
	run(&fixture, "mkdir -p .build-id/%.2s && mv elsewhere .build-id/%.2s/%s.debug", id.hex,
	    id.hex, id.hex + 2);
	assert_true(names_local(&fixture, "separate"));
	fixture_release(&fixture);
}

static void a_debug_file_of_another_build_is_not_used(void **state)
{
	struct fixture fixture;
	struct build_id id;

	(void)state;
	fixture_init(&fixture);
	fixture_build(&fixture, "separate other");
	id = build_id_of(&fixture, "separate");
	run(&fixture,
	    "rm separate.debug && mkdir -p .build-id/%.2s && cp other .build-id/%.2s/%s.debug",
	    id.hex, id.hex, id.hex + 2);
	assert_false(names_local(&fixture, "separate"));
	/* nor beside the program, under the name that its debug link tells */
	run(&fixture,
	    "cp other separate.debug && objcopy --add-gnu-debuglink=separate.debug separate");
	assert_false(names_local(&fixture, "separate"));
	fixture_release(&fixture);
}

static void a_debug_link_is_followed_when_its_checksum_fits(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	fixture_build(&fixture, "linked");
	assert_int_equal(build_id_of(&fixture, "linked").size, 0);
	/* beside it, below .debug, below the debug directory */
	assert_true(names_local(&fixture, "linked"));
	run(&fixture, "mkdir .debug && mv linked.debug .debug/");
	assert_true(names_local(&fixture, "linked"));
	run(&fixture, "mkdir -p ./%s && mv .debug/linked.debug ./%s/", fixture.dir, fixture.dir);
	assert_true(names_local(&fixture, "linked"));
	fixture_release(&fixture);
}

static void a_debug_link_with_another_checksum_is_not_followed(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	fixture_build(&fixture, "linked");
	run(&fixture, "printf x >>linked.debug");
	assert_false(names_local(&fixture, "linked"));
	fixture_release(&fixture);
}

static enum symbol_miss miss_of(struct fixture *fixture, const struct module_identity *identity)
{
	return module_miss(symbolizer_module(fixture->symbolizer, identity));
}

static void a_program_of_another_build_gives_no_names(void **state)
{
	struct module_identity identity = { 0 };
	struct fixture fixture;
	struct build_id id, other;
	struct module *module;

	(void)state;
	fixture_init(&fixture);
	fixture_build(&fixture, "shapes other linked");
	fixture_open(&fixture, NULL);
	id = build_id_of(&fixture, "shapes");
	other = build_id_of(&fixture, "other");
	identity.path = fixture_path(&fixture, "shapes");
	identity.build_id = id.bytes;
	identity.build_id_size = id.size;
	assert_int_equal(miss_of(&fixture, &identity), SYMBOL_OK);
	assert_false(module_unverified(symbolizer_module(fixture.symbolizer, &identity)));
	identity.build_id = other.bytes;
	identity.build_id_size = other.size;
	module = symbolizer_module(fixture.symbolizer, &identity);
	assert_int_equal(module_miss(module), SYMBOL_BUILD_ID_MISMATCH);
	assert_non_null(strstr(module_remedy(module), other.hex));
	/* a file that has no build-id is not the one that had */
	identity.path = fixture_path(&fixture, "linked");
	assert_int_equal(miss_of(&fixture, &identity), SYMBOL_BUILD_ID_MISMATCH);
	fixture_release(&fixture);
}

static void without_a_build_id_the_inode_decides(void **state)
{
	struct module_identity identity = { 0 };
	struct fixture fixture;
	struct stat stat_buffer;

	(void)state;
	fixture_init(&fixture);
	fixture_build(&fixture, "linked");
	fixture_open(&fixture, NULL);
	identity.path = fixture_path(&fixture, "linked");
	assert_int_equal(stat(identity.path, &stat_buffer), 0);
	identity.device = stat_buffer.st_dev;
	identity.inode = stat_buffer.st_ino;
	assert_int_equal(miss_of(&fixture, &identity), SYMBOL_OK);
	assert_false(module_unverified(symbolizer_module(fixture.symbolizer, &identity)));
	identity.device++;
	assert_int_equal(miss_of(&fixture, &identity), SYMBOL_FILE_REPLACED);
	/* btrfs and overlayfs tell another device in maps than in stat: size and time stand in */
	identity.size = (uint64_t)stat_buffer.st_size;
	identity.mtime_ns = (uint64_t)stat_buffer.st_mtim.tv_sec * 1000000000u +
			    (uint64_t)stat_buffer.st_mtim.tv_nsec;
	assert_int_equal(miss_of(&fixture, &identity), SYMBOL_OK);
	identity.mtime_ns++;
	assert_int_equal(miss_of(&fixture, &identity), SYMBOL_FILE_REPLACED);
	identity.mtime_ns--;
	identity.size--;
	assert_int_equal(miss_of(&fixture, &identity), SYMBOL_FILE_REPLACED);
	identity.size++;
	identity.inode++;
	assert_int_equal(miss_of(&fixture, &identity), SYMBOL_FILE_REPLACED);
	fixture_release(&fixture);
}

static void a_file_that_nothing_proves_is_used_and_marked(void **state)
{
	struct module_identity identity = { 0 };
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	fixture_build(&fixture, "shapes");
	fixture_open(&fixture, NULL);
	identity.path = fixture_path(&fixture, "shapes");
	assert_int_equal(miss_of(&fixture, &identity), SYMBOL_OK);
	assert_true(module_unverified(symbolizer_module(fixture.symbolizer, &identity)));
	/* recorded elsewhere, the same path proves nothing at all */
	identity.foreign = true;
	assert_int_equal(miss_of(&fixture, &identity), SYMBOL_FILE_MISSING);
	fixture_release(&fixture);
}

static void a_foreign_file_is_used_with_a_build_id_or_below_symfs(void **state)
{
	struct symbolizer_options options = { .demangle = true };
	struct module_identity identity = { .path = "/bin/shapes-of-another-machine",
					    .foreign = true };
	struct fixture fixture;
	struct build_id id;

	(void)state;
	fixture_init(&fixture);
	fixture_build(&fixture, "shapes");
	run(&fixture, "mkdir bin && cp shapes bin/shapes-of-another-machine");
	id = build_id_of(&fixture, "shapes");
	options.symfs = fixture.dir;
	fixture_open(&fixture, &options);
	assert_int_equal(miss_of(&fixture, &identity), SYMBOL_OK);
	fixture_open(&fixture, NULL);
	assert_int_equal(miss_of(&fixture, &identity), SYMBOL_FILE_MISSING);
	identity.path = fixture_path(&fixture, "shapes");
	identity.build_id = id.bytes;
	identity.build_id_size = id.size;
	assert_int_equal(miss_of(&fixture, &identity), SYMBOL_OK);
	fixture_release(&fixture);
}

static void a_copy_that_the_recording_kept_wins_over_the_path(void **state)
{
	struct module_identity identity = { 0 };
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	fixture_build(&fixture, "shapes other");
	fixture_open(&fixture, NULL);
	identity.path = fixture_path(&fixture, "other");
	identity.copy = fixture_path(&fixture, "shapes");
	identity.inode = 12345;
	assert_non_null(
		fixture_function(symbolizer_module(fixture.symbolizer, &identity), "shape_hidden"));
	assert_null(
		fixture_function(symbolizer_module(fixture.symbolizer, &identity), "shape_other"));
	/* a copy that is gone leaves the path, which must prove itself */
	identity.copy = "/nowhere";
	assert_int_equal(miss_of(&fixture, &identity), SYMBOL_FILE_REPLACED);
	fixture_release(&fixture);
}

static void a_deleted_program_is_found_again_only_with_its_build_id(void **state)
{
	struct module_identity identity = { 0 };
	struct fixture fixture;
	struct build_id id;
	char path[600];

	(void)state;
	fixture_init(&fixture);
	fixture_build(&fixture, "shapes");
	fixture_open(&fixture, NULL);
	id = build_id_of(&fixture, "shapes");
	snprintf(path, sizeof(path), "%s (deleted)", fixture_path(&fixture, "shapes"));
	identity.path = path;
	identity.inode = 12345;
	assert_int_equal(miss_of(&fixture, &identity), SYMBOL_FILE_REPLACED);
	identity.build_id = id.bytes;
	identity.build_id_size = id.size;
	assert_int_equal(miss_of(&fixture, &identity), SYMBOL_OK);
	/* a file that is really called so is itself */
	run(&fixture, "cp shapes 'app (deleted)'");
	snprintf(path, sizeof(path), "%s", fixture_path(&fixture, "app (deleted)"));
	assert_int_equal(miss_of(&fixture, &identity), SYMBOL_OK);
	fixture_release(&fixture);
}

static void an_object_is_found_in_perfs_cache_by_build_id(void **state)
{
	struct symbolizer_options options = { .demangle = true };
	struct module_identity identity = { .path = "/gone/shapes", .foreign = true };
	struct fixture fixture;
	struct build_id id;

	(void)state;
	fixture_init(&fixture);
	fixture_build(&fixture, "shapes");
	id = build_id_of(&fixture, "shapes");
	run(&fixture, "mkdir -p .build-id/%.2s/%s && cp shapes .build-id/%.2s/%s/elf", id.hex,
	    id.hex + 2, id.hex, id.hex + 2);
	options.perf_cache = fixture.dir;
	identity.build_id = id.bytes;
	identity.build_id_size = id.size;
	fixture_open(&fixture, &options);
	assert_int_equal(miss_of(&fixture, &identity), SYMBOL_OK);
	fixture_release(&fixture);
}

static void each_way_for_a_file_to_be_unusable_has_its_own_reason(void **state)
{
	struct module_identity identity = { 0 };
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	fixture_build(&fixture, "shapes");
	fixture_open(&fixture, NULL);
	run(&fixture, "echo text >text; : >empty; mkfifo pipe; printf '\\177ELF' >cut; "
		      "printf '\\177ELF\\2\\1\\1' >damaged; head -c 200 /dev/zero >>damaged");
	identity.path = fixture_path(&fixture, "missing");
	assert_int_equal(miss_of(&fixture, &identity), SYMBOL_FILE_MISSING);
	identity.path = fixture_path(&fixture, "text");
	assert_int_equal(miss_of(&fixture, &identity), SYMBOL_NOT_ELF);
	identity.path = fixture_path(&fixture, "empty");
	assert_int_equal(miss_of(&fixture, &identity), SYMBOL_NOT_ELF);
	/* opening it must not wait for a writer */
	identity.path = fixture_path(&fixture, "pipe");
	assert_int_equal(miss_of(&fixture, &identity), SYMBOL_NOT_ELF);
	identity.path = fixture.dir;
	assert_int_equal(miss_of(&fixture, &identity), SYMBOL_NOT_ELF);
	identity.path = fixture_path(&fixture, "cut");
	assert_int_equal(miss_of(&fixture, &identity), SYMBOL_DAMAGED);
	identity.path = fixture_path(&fixture, "damaged");
	assert_int_equal(miss_of(&fixture, &identity), SYMBOL_DAMAGED);
	run(&fixture, "head -c 9000 shapes >shortened");
	identity.path = fixture_path(&fixture, "shortened");
	assert_int_equal(miss_of(&fixture, &identity), SYMBOL_DAMAGED);
	identity.path = "//anon";
	assert_int_equal(miss_of(&fixture, &identity), SYMBOL_ANONYMOUS);
	identity.path = "[heap]";
	assert_int_equal(miss_of(&fixture, &identity), SYMBOL_ANONYMOUS);
	identity.path = NULL;
	assert_int_equal(miss_of(&fixture, &identity), SYMBOL_ANONYMOUS);
	fixture_release(&fixture);
}

static void every_miss_has_words_and_most_have_a_remedy(void **state)
{
	const struct module_identity missing = { .path = "/nowhere/app" };
	const struct module_identity foreign = { .path = "/nowhere/app", .foreign = true };
	const struct module_identity anonymous = { .path = "//anon" };
	struct fixture fixture;

	(void)state;
	for (int miss = 0; miss < SYMBOL_N_MISSES; miss++)
		assert_true(strlen(symbol_miss_text((enum symbol_miss)miss)) > 3);
	fixture_init(&fixture);
	fixture_open(&fixture, NULL);
	assert_non_null(strstr(module_remedy(symbolizer_module(fixture.symbolizer, &missing)),
			       "/nowhere/app"));
	assert_non_null(
		strstr(module_remedy(symbolizer_module(fixture.symbolizer, &foreign)), "--symfs"));
	assert_non_null(strstr(module_remedy(symbolizer_module(fixture.symbolizer, &anonymous)),
			       "perf-PID.map"));
	fixture_release(&fixture);
}

static void paths_may_hold_any_byte(void **state)
{
	static const char *const names[] = { "with space", "new\nline",    "tab\t",  "latin1\351",
					     "'\"$;",      "\xe3\x83\x97", "[heap]", "-rf" };
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	fixture_build(&fixture, "shapes");
	fixture_open(&fixture, NULL);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct module_identity identity = { .path = fixture_path(&fixture,
									       names[i]) };
		/* a file must not look like the kernel's name of a mapping */
		const char *shown = names[i][0] == '[' ? identity.path : names[i];

		assert_int_equal(link(fixture_path(&fixture, "shapes"), identity.path), 0);
		assert_non_null(fixture_function(symbolizer_module(fixture.symbolizer, &identity),
						 "shape_local"));
		assert_string_equal(module_name(symbolizer_module(fixture.symbolizer, &identity)),
				    shown);
	}
	fixture_release(&fixture);
}

/* Whatever system call fails: a module with a reason, no descriptor left open, no crash. */
static void a_failing_system_call_leaves_a_module_with_a_reason(void **state)
{
	struct fixture fixture;
	unsigned int n;

	(void)state;
	fixture_init(&fixture);
	fixture_build(&fixture, "linked");
	for (n = 1;; n++) {
		const struct symbolizer_options options = { .demangle = true, .inlines = true };
		const struct module_identity identity = { .path = fixture_path(&fixture,
									       "linked") };
		struct sys_fault fault;
		struct symbolizer *symbolizer;
		struct module *module;
		struct frame frames[4];

		sys_fault_init(&fault, sys_real());
		sys_fault_plan(&fault, SYS_FAULT_ANY, n, EIO, SYS_FAULT_ONCE);
		assert_int_equal(symbolizer_new(&symbolizer, &fault.table, &options, NULL),
				 STATUS_OK);
		module = symbolizer_module(symbolizer, &identity);
		symbolizer_frames(symbolizer, module, (struct file_offset){ 0x1200 }, false, frames,
				  4);
		if (module_miss(module) != SYMBOL_OK)
			assert_int_equal(module_miss(module), SYMBOL_FILE_UNREADABLE);
		symbolizer_free(symbolizer);
		assert_int_equal(fault.open_fds, 0);
		if (!fault.fired)
			break;
	}
	assert_true(n > 6);
	fixture_release(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_debug_file_is_found_by_build_id),
		cmocka_unit_test(a_debug_file_of_another_build_is_not_used),
		cmocka_unit_test(a_debug_link_is_followed_when_its_checksum_fits),
		cmocka_unit_test(a_debug_link_with_another_checksum_is_not_followed),
		cmocka_unit_test(a_program_of_another_build_gives_no_names),
		cmocka_unit_test(without_a_build_id_the_inode_decides),
		cmocka_unit_test(a_file_that_nothing_proves_is_used_and_marked),
		cmocka_unit_test(a_foreign_file_is_used_with_a_build_id_or_below_symfs),
		cmocka_unit_test(a_copy_that_the_recording_kept_wins_over_the_path),
		cmocka_unit_test(a_deleted_program_is_found_again_only_with_its_build_id),
		cmocka_unit_test(an_object_is_found_in_perfs_cache_by_build_id),
		cmocka_unit_test(each_way_for_a_file_to_be_unusable_has_its_own_reason),
		cmocka_unit_test(every_miss_has_words_and_most_have_a_remedy),
		cmocka_unit_test(paths_may_hold_any_byte),
		cmocka_unit_test(a_failing_system_call_leaves_a_module_with_a_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
