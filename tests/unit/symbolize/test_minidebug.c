/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/minidebug.h"

#include "fixture.h"

static enum symbol_miss open_inner(const struct fixture *fixture, const char *name)
{
	struct elf_file file, inner;
	enum symbol_miss miss;

	assert_int_equal(elf_file_open(&file, sys_real(), fixture_path(fixture, name)), SYMBOL_OK);
	miss = minidebug_open(&inner, &file);
	if (miss == SYMBOL_OK) {
		assert_int_equal(inner.machine, file.machine);
		elf_file_release(&inner);
	}
	elf_file_release(&file);
	return miss;
}

static void section_replace(const struct fixture *fixture, const char *make)
{
	char command[1500];

	snprintf(command, sizeof(command),
		 "cd '%s' && (%s) >section && objcopy --remove-section .gnu_debugdata mini changed "
		 "&& "
		 "objcopy --add-section .gnu_debugdata=section changed",
		 fixture->dir, make);
	assert_int_equal(fixture_run(command, NULL, NULL), 0);
}

static void the_object_inside_is_opened(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	fixture_build(&fixture, "mini shapes");
	assert_int_equal(open_inner(&fixture, "mini"), SYMBOL_OK);
	assert_int_equal(open_inner(&fixture, "shapes"), SYMBOL_STRIPPED);
	fixture_release(&fixture);
}

static void a_section_that_cannot_be_unpacked_is_damaged(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	fixture_build(&fixture, "mini");
	section_replace(&fixture, "head -c 100 mini.symbols.xz");
	assert_int_equal(open_inner(&fixture, "changed"), SYMBOL_DAMAGED);
	section_replace(&fixture, "echo this is no xz file");
	assert_int_equal(open_inner(&fixture, "changed"), SYMBOL_DAMAGED);
	section_replace(&fixture, "echo not an ELF file | xz");
	assert_int_equal(open_inner(&fixture, "changed"), SYMBOL_NOT_ELF);
	section_replace(&fixture, "printf '\\177ELF' | xz");
	assert_int_equal(open_inner(&fixture, "changed"), SYMBOL_DAMAGED);
	fixture_release(&fixture);
}

/* Ten million to one: a small section must not become a large allocation. */
static void a_section_that_unpacks_to_too_much_is_damaged(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_init(&fixture);
	fixture_build(&fixture, "mini");
	section_replace(&fixture, "head -c 300000000 /dev/zero | xz -0");
	assert_int_equal(open_inner(&fixture, "changed"), SYMBOL_DAMAGED);
	fixture_release(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_object_inside_is_opened),
		cmocka_unit_test(a_section_that_cannot_be_unpacked_is_damaged),
		cmocka_unit_test(a_section_that_unpacks_to_too_much_is_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
