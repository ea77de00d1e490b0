/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Jump tables of AArch64, as both compilers make them; where they lead was seen when the code ran. */
#include "code/trail_aarch64.h"
#include "object.h"
#include "switches_aarch64.h"

#define FIXED 0x400000u /* where the code was linked to */

static bool has_no_table(const char *name)
{
	return !strcmp(name, "s_pointer") || !strcmp(name, "s_virtual");
}

/* The code at the address it was linked to, or as a shared object whose words of data are relocated. */
static void switches_make(struct object *object, const struct switches *switches, uint16_t type)
{
	uint64_t word;

	object_init(object, EM_AARCH64, type);
	object_code(object, switches->text, switches->n_text * 4);
	object_data(object, switches->data, switches->n_data);
	for (size_t i = 0; i < switches->n_functions; i++)
		object_symbol(object, switches->functions[i].name,
			      switches->functions[i].start - FIXED + object->base,
			      switches->functions[i].size, STB_GLOBAL);
	for (size_t i = 0; type == ET_DYN && i + 8 <= switches->n_data; i += 8) {
		memcpy(&word, switches->data + i, sizeof(word));
		if (word >= FIXED + TEXT && word < FIXED + TEXT + switches->n_text * 4)
			object_relative(object, DATA + i, word - FIXED);
	}
}

/* The indirect jumps of the function, by kind. */
static void jumps_count(const struct code_module *module, uint64_t start, size_t n[3])
{
	const uint32_t function = code_module_function_at(module, start);

	memset(n, 0, 3 * sizeof(*n));
	for (size_t i = 0; i < module->n_indirects; i++)
		if (module->indirects[i].function == function)
			n[module->indirects[i].kind]++;
}

static void function_check(const struct code_module *module, const struct switches *switches,
			   const char *name, uint64_t start)
{
	struct code_plan plan;
	size_t n[3];

	jumps_count(module, start, n);
	if (n[CODE_INDIRECT_OPEN] ||
	    !(has_no_table(name) ? n[CODE_INDIRECT_POINTER] : n[CODE_INDIRECT_TABLE]))
		fail_msg("%s %s: %zu open, %zu tables, %zu pointers", switches->name, name, n[0],
			 n[1], n[2]);
	assert_int_equal(
		code_plan_make(&plan, module, code_module_function_at(module, start), NULL),
		CODE_PLANNED);
	for (uint32_t i = 0; i < plan.n_sites; i++)
		if (plan.sites[i].kind == CODE_SITE_TAIL_INDIRECT)
			assert_true(plan.sites[i].leaves && has_no_table(name));
	code_plan_release(&plan);
}

static void switches_check(const struct switches *switches, uint16_t type)
{
	struct code_module *module;
	struct object object;
	size_t n;

	switches_make(&object, switches, type);
	module = object_open(&object);
	for (size_t i = 0; i < switches->n_functions; i++)
		if (!strncmp(switches->functions[i].name, "s_", 2))
			function_check(module, switches, switches->functions[i].name,
				       switches->functions[i].start - FIXED + object.base);
	for (size_t i = 0; i < switches->n_jumps; i++) {
		const uint64_t at = switches->jumps[i].at - FIXED + object.base;

		if (code_module_indirect(module, at) == CODE_INDIRECT_TABLE)
			assert_true(code_module_is_target(module, switches->jumps[i].to - FIXED +
									  object.base));
	}
	for (size_t i = 0; i < module->n_functions; i++)
		assert_false(code_module_functions(module, &n)[i].unknown_jump);
	code_module_close(module);
	object_release(&object);
}

static void tables_of_both_compilers_are_decoded(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(all_switches) / sizeof(all_switches[0]); i++) {
		switches_check(&all_switches[i], ET_EXEC);
		switches_check(&all_switches[i], ET_DYN);
	}
}

/* cmp w0, #2; b.hi 9f; adrp x1, DATA; add x1, x1, #0; ldrb w1, [x1, w0, uxtw]; adr x2, 1f; add x1, x2, w1, sxtb #2; br x1
 * 1: ret; nop; ret; nop; ret; 9: ret */
enum { CMP, HI, ADRP, ADD, LOAD, ADR, SUM, BR, CASES, LAST = CASES + 5 };

static const uint32_t plain[] = {
	0x7100081f, 0x54000188, 0xf0000001, 0x91000021, 0x38604821, 0x10000062, 0x8b218841,
	0xd61f0020, 0xd65f03c0, 0xd503201f, 0xd65f03c0, 0xd503201f, 0xd65f03c0, 0xd65f03c0,
};

#define N_PLAIN (sizeof(plain) / sizeof(plain[0]))

/* How the jump of `plain` is classified with one word changed, by a table of three entries. */
static enum code_indirect_kind kind_with(unsigned int at, uint32_t word, const uint8_t entries[3],
					 bool *unknown)
{
	struct code_module *module;
	struct object object;
	uint32_t words[N_PLAIN];
	enum code_indirect_kind kind;
	size_t n;

	memcpy(words, plain, sizeof(words));
	words[at] = word;
	object_init(&object, EM_AARCH64, ET_DYN);
	FUNCTION(&object, "plain", words);
	object_data(&object, entries, 3);
	module = object_open(&object);
	kind = code_module_indirect(module, TEXT + BR * 4);
	*unknown = code_module_functions(module, &n)[0].unknown_jump;
	code_module_close(module);
	object_release(&object);
	return kind;
}

static const uint8_t inside[] = { 0, 2, 4 };

static void a_table_is_known_only_with_its_bound(void **state)
{
	bool unknown;

	(void)state;
	assert_int_equal(kind_with(CMP, plain[CMP], inside, &unknown), CODE_INDIRECT_TABLE);
	assert_false(unknown);
	/* nop; cmp w1, #2; cmn x0, #2 */
	static const uint32_t compares[] = { 0xd503201f, 0x7100083f, 0xb100081f };

	for (size_t i = 0; i < sizeof(compares) / sizeof(compares[0]); i++) {
		assert_int_equal(kind_with(CMP, compares[i], inside, &unknown), CODE_INDIRECT_OPEN);
		assert_true(unknown);
	}
	/* b.lo: below is what leaves; b.hi into the middle: it does not bound what comes there */
	assert_int_equal(kind_with(HI, 0x54000183, inside, &unknown), CODE_INDIRECT_OPEN);
	assert_int_equal(kind_with(HI, 0x54000068, inside, &unknown), CODE_INDIRECT_OPEN);
	/* b.hs: one entry fewer */
	assert_int_equal(kind_with(HI, 0x54000182, inside, &unknown), CODE_INDIRECT_TABLE);
}

static void a_table_is_known_only_when_all_of_it_stays_inside(void **state)
{
	static const uint8_t behind[] = { 0, 2, 6 }, before[] = { 0, 0xf0, 4 };
	bool unknown;

	(void)state;
	assert_int_equal(kind_with(CMP, plain[CMP], behind, &unknown), CODE_INDIRECT_OPEN);
	assert_true(unknown);
	assert_int_equal(kind_with(CMP, plain[CMP], before, &unknown), CODE_INDIRECT_OPEN);
	/* the third is not reached: b.hs */
	assert_int_equal(kind_with(HI, 0x54000182, behind, &unknown), CODE_INDIRECT_TABLE);
}

static void what_only_looks_like_a_table_is_unknown(void **state)
{
	/* ldrb w1, [x1, x0]: the upper half was not compared; ldrb w1, [x1, #1]; ldrh w1, [x1, w0, uxtw] */
	static const uint32_t loads[] = { 0x38606821, 0x39400421, 0x78604821 };
	bool unknown;

	(void)state;
	for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++)
		assert_int_equal(kind_with(LOAD, loads[i], inside, &unknown), CODE_INDIRECT_OPEN);
	/* add x1, x2, w3, sxtb #2; sub; and what would set the base anew: mov x1, x3 */
	assert_int_equal(kind_with(SUM, 0x8b238841, inside, &unknown), CODE_INDIRECT_OPEN);
	assert_int_equal(kind_with(SUM, 0xcb218841, inside, &unknown), CODE_INDIRECT_OPEN);
	assert_true(unknown);
	assert_int_equal(kind_with(ADD, 0xaa0303e1, inside, &unknown), CODE_INDIRECT_OPEN);
	assert_int_equal(kind_with(ADR, 0xaa0303e2, inside, &unknown), CODE_INDIRECT_OPEN);
	assert_int_equal(kind_with(BR, 0xd61f0060, inside, &unknown), CODE_INDIRECT_POINTER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_of_both_compilers_are_decoded),
		cmocka_unit_test(a_table_is_known_only_with_its_bound),
		cmocka_unit_test(a_table_is_known_only_when_all_of_it_stays_inside),
		cmocka_unit_test(what_only_looks_like_a_table_is_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
