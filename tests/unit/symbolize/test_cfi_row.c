/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows of the unwind table against those that readelf interprets from the same file. */
#include "symbolize/cfi_row.h"

#include <inttypes.h>

#include "fixture.h"

#define MAX_COLUMNS    40
#define RETURN_ADDRESS (-1)
#define VECTOR         (-2) /* not followed */

struct comparison {
	struct elf_file file;
	struct fde_table fdes;
	int columns[MAX_COLUMNS]; /* register of each column after the CFA */
	int n_columns;
	bool in_cie;
	size_t n_rows, n_expressions;
};

static int register_number(uint16_t machine, const char *name)
{
	static const char *const x86_64[] = { "rax", "rdx", "rcx", "rbx", "rsi", "rdi",
					      "rbp", "rsp", "r8",  "r9",  "r10", "r11",
					      "r12", "r13", "r14", "r15" };

	if (!strcmp(name, "ra"))
		return RETURN_ADDRESS;
	if (machine == EM_AARCH64 && name[0] == 'v')
		return VECTOR;
	if (machine == EM_AARCH64)
		return !strcmp(name, "sp") ? 31 : atoi(name + 1);
	for (int i = 0; i < 16; i++)
		if (!strcmp(name, x86_64[i]))
			return i;
	fail_msg("readelf names a register %s", name);
	return -1;
}

/* "   LOC           CFA      rbx   ra" */
static void header_line(struct comparison *comparison, char *text)
{
	char *save, *word = strtok_r(text, " ", &save);

	comparison->n_columns = 0;
	word = strtok_r(NULL, " ", &save);
	assert_string_equal(word, "CFA");
	while ((word = strtok_r(NULL, " ", &save)) && comparison->n_columns < MAX_COLUMNS)
		comparison->columns[comparison->n_columns++] =
			register_number(comparison->file.machine, word);
}

/* Of a register: u and s say nothing new, c-8 is at CFA - 8, v+8 its value, exp an expression. */
static void rule_check(const struct cfi_rule *rule, const char *word)
{
	if (!strcmp(word, "u")) {
		/* readelf calls a register that nothing was said of undefined too */
		assert_true(rule->kind == CFI_UNDEFINED || rule->kind == CFI_SAME);
	} else if (!strcmp(word, "s")) {
		assert_int_equal(rule->kind, CFI_SAME);
	} else if (word[0] == 'c') {
		assert_int_equal(rule->kind, CFI_AT_CFA);
		assert_int_equal(rule->offset, strtoll(word + 1, NULL, 10));
	} else if (!strcmp(word, "exp")) {
		assert_int_equal(rule->kind, CFI_AT_EXPRESSION);
	} else if (!strcmp(word, "vexp")) {
		assert_int_equal(rule->kind, CFI_IS_EXPRESSION);
	} else {
		/* "r9 (r9)", "r1 (rdx)": the number is DWARF's */
		assert_int_equal(rule->kind, CFI_REGISTER);
		assert_int_equal(word[0], 'r');
		assert_int_equal(rule->reg, atoi(word + 1));
	}
}

static void cfa_check(const struct comparison *comparison, const struct cfi_row *row, char *word)
{
	char *sign = strpbrk(word, "+-");

	if (!strcmp(word, "exp")) {
		assert_int_equal(row->cfa.kind, CFI_IS_EXPRESSION);
		return;
	}
	assert_non_null(sign);
	assert_int_equal(row->cfa.kind, CFI_CFA_PLUS);
	assert_int_equal(row->cfa.offset, strtoll(sign, NULL, 10));
	*sign = '\0';
	assert_int_equal(row->cfa_register, register_number(comparison->file.machine, word));
}

/* "0000000000003b90 rsp+8    u     c-8" */
static void row_line(struct comparison *comparison, char *text)
{
	char *save, *word = strtok_r(text, " ", &save);
	const uint64_t vaddr = strtoull(word, NULL, 16);
	const struct fde_range *range = fde_table_at(&comparison->fdes, vaddr);
	struct cfi_row row;

	/* readelf prints a row after the last instruction of an FDE too, which no address has */
	if (!range)
		return;
	assert_true(cfi_row_at(&row, &comparison->file, &comparison->fdes, range, vaddr));
	word = strtok_r(NULL, " ", &save);
	comparison->n_expressions += !strcmp(word, "exp");
	cfa_check(comparison, &row, word);
	for (int i = 0; i < comparison->n_columns; i++) {
		const int reg = comparison->columns[i];

		word = strtok_r(NULL, " ", &save);
		assert_non_null(word);
		if (word[0] == '(')
			word = strtok_r(NULL, " ", &save);
		assert_non_null(word);
		if (reg == VECTOR)
			continue;
		rule_check(&row.rules[reg == RETURN_ADDRESS ? row.return_column : reg], word);
	}
	comparison->n_rows++;
}

static void readelf_line(void *state, char *text)
{
	struct comparison *comparison = state;

	if (strstr(text, " CIE "))
		comparison->in_cie = true;
	else if (strstr(text, " FDE "))
		comparison->in_cie = false;
	else if (!strncmp(text, "   LOC", 6))
		header_line(comparison, text);
	else if (!comparison->in_cie && strspn(text, "0123456789abcdef") == 16 && text[16] == ' ')
		row_line(comparison, text);
}

static void compare(const char *path, struct comparison *comparison)
{
	char command[700];

	memset(comparison, 0, sizeof(*comparison));
	assert_int_equal(elf_file_open(&comparison->file, sys_real(), path), SYMBOL_OK);
	assert_true(fde_table_read(&comparison->fdes, &comparison->file, NULL));
	snprintf(command, sizeof(command), "readelf -wN -wF '%s' 2>/dev/null", path);
	assert_int_equal(fixture_run(command, readelf_line, comparison), 0);
	fde_table_release(&comparison->fdes);
	elf_file_release(&comparison->file);
}

static void compare_built(const char *name, size_t at_least)
{
	struct comparison comparison;
	struct fixture fixture;

	fixture_init(&fixture);
	fixture_build(&fixture, name);
	compare(fixture_path(&fixture, name), &comparison);
	assert_true(comparison.n_rows >= at_least);
	fixture_release(&fixture);
}

static void rows_of_a_static_program_are_those_of_readelf(void **state)
{
	(void)state;
	compare_built("shapes-static", 1000);
}

static void rows_of_frames_with_saved_registers_are_those_of_readelf(void **state)
{
	(void)state;
	compare_built("frames", 20);
}

static void rows_out_of_debug_frame_are_those_of_readelf(void **state)
{
	(void)state;
	compare_built("frames-debug-frame", 10);
}

static void rows_of_aarch64_are_those_of_readelf(void **state)
{
	(void)state;
	compare_built("frames-aarch64", 1000);
}

static void rows_of_the_c_library_are_those_of_readelf(void **state)
{
	static const char *const paths[] = { "/lib/x86_64-linux-gnu/libc.so.6",
					     "/lib/aarch64-linux-gnu/libc.so.6" };
	struct comparison comparison;

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		if (access(paths[i], R_OK))
			continue;
		compare(paths[i], &comparison);
		assert_true(comparison.n_rows > 10000);
		return;
	}
	SKIP("no C library at the usual place");
}

static void signed_return_addresses_do_not_stop_the_interpreter(void **state)
{
	struct fixture fixture;
	struct elf_file file;
	struct fde_table fdes;
	struct cfi_row row;

	(void)state;
	fixture_init(&fixture);
	fixture_build(&fixture, "frames-aarch64-pac");
	assert_int_equal(
		elf_file_open(&file, sys_real(), fixture_path(&fixture, "frames-aarch64-pac")),
		SYMBOL_OK);
	assert_true(fde_table_read(&fdes, &file, NULL));
	assert_true(fdes.n >= 5);
	for (size_t i = 0; i < fdes.n; i++)
		for (uint64_t at = fdes.ranges[i].start; at < fdes.ranges[i].end; at += 4)
			assert_true(cfi_row_at(&row, &file, &fdes, &fdes.ranges[i], at));
	fde_table_release(&fdes);
	elf_file_release(&file);
	fixture_release(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_of_a_static_program_are_those_of_readelf),
		cmocka_unit_test(rows_of_frames_with_saved_registers_are_those_of_readelf),
		cmocka_unit_test(rows_out_of_debug_frame_are_those_of_readelf),
		cmocka_unit_test(rows_of_aarch64_are_those_of_readelf),
		cmocka_unit_test(rows_of_the_c_library_are_those_of_readelf),
		cmocka_unit_test(signed_return_addresses_do_not_stop_the_interpreter),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
