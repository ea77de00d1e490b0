/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "code/module.h"

#include "object.h"

static const uint8_t plain[] = {
	0x53,                         /* push %rbx */
	0x48, 0x89, 0xfb,             /* mov %rdi,%rbx */
	0x48, 0x83, 0xc3, 0x01,       /* add $0x1,%rbx */
	0x48, 0x89, 0xd8,             /* mov %rbx,%rax */
	0x5b,                         /* pop %rbx */
	0xc3,                         /* ret */
	0x66, 0x0f, 0x1f, 0x04, 0x00, /* nopw (%rax,%rax,1) */
};

static void functions_names_and_bytes_are_found(void **state)
{
	struct code_module *module;
	struct object object;
	const char *names[4];
	uint64_t first, second;
	size_t n;

	(void)state;
	object_init(&object, EM_X86_64, ET_DYN);
	first = FUNCTION(&object, "first", plain);
	object_symbol(&object, "first_alias", first, sizeof(plain), STB_WEAK);
	second = FUNCTION(&object, "second", plain);
	module = object_open(&object);
	assert_int_equal(code_module_machine(module), EM_X86_64);
	code_module_functions(module, &n);
	assert_int_equal(n, 2);
	assert_int_equal(code_module_function_at(module, first + 3), 0);
	assert_int_equal(code_module_function_at(module, second), 1);
	assert_int_equal(code_module_function_at(module, second + sizeof(plain)), UINT32_MAX);
	assert_int_equal(code_module_functions(module, &n)[0].n_aliases, 1);
	assert_int_equal(code_module_names_at(module, first, names, 4), 2);
	assert_string_equal(names[0], "first");
	assert_string_equal(names[1], "first_alias");
	assert_memory_equal(code_module_bytes(module, second, sizeof(plain)), plain, sizeof(plain));
	assert_null(code_module_bytes(module, second, sizeof(plain) + 1));
	assert_null(code_module_bytes(module, object.base + DATA, 1));
	code_module_close(module);
	object_release(&object);
}

static const uint8_t calls[] = {
	0xe8, 0x0b, 0x00, 0x00, 0x00, /* call 0x10 */
	0x85, 0xc0,                   /* test %eax,%eax */
	0x74, 0x02,                   /* je 0xb */
	0x31, 0xc0,                   /* xor %eax,%eax */
	0xc3,                         /* ret */
	0x90,                         /* nop */
};

static void targets_are_jumps_calls_and_what_follows_calls(void **state)
{
	struct code_module *module;
	struct object object;
	uint64_t at;

	(void)state;
	object_init(&object, EM_X86_64, ET_DYN);
	at = FUNCTION(&object, "calls", calls);
	FUNCTION(&object, "callee", plain);
	module = object_open(&object);
	assert_true(code_module_is_target(module, at + 5));    /* behind the call */
	assert_true(code_module_is_target(module, at + 11));   /* of je */
	assert_true(code_module_is_target(module, at + 0x10)); /* of the call */
	assert_false(code_module_is_target(module, at + 7));
	assert_false(code_module_is_target(module, at + 9));
	code_module_close(module);
	object_release(&object);
}

/* switch by a relative table at DATA: lea is completed by the test */
static const uint8_t table_switch[] = {
	0x83, 0xff, 0x02,                         /* cmp $0x2,%edi */
	0x77, 0x23,                               /* ja 0x28 */
	0x48, 0x8d, 0x15, 0x00, 0x00, 0x00, 0x00, /* lea 0x0(%rip),%rdx */
	0x48, 0x63, 0x04, 0xba,                   /* movslq (%rdx,%rdi,4),%rax */
	0x48, 0x01, 0xd0,                         /* add %rdx,%rax */
	0x3e, 0xff, 0xe0,                         /* notrack jmp *%rax */
	0xb8, 0x01, 0x00, 0x00, 0x00,             /* mov $0x1,%eax */
	0xc3,                                     /* ret */
	0xb8, 0x02, 0x00, 0x00, 0x00,             /* mov $0x2,%eax */
	0xc3,                                     /* ret */
	0xb8, 0x03, 0x00, 0x00, 0x00,             /* mov $0x3,%eax */
	0xc3,                                     /* ret */
	0x31, 0xc0,                               /* xor %eax,%eax */
	0xc3,                                     /* ret */
};

#define SWITCH_LEA  5u  /* offset of lea */
#define SWITCH_JUMP 19u /* of jmp */
#define SWITCH_CASE 22u /* of the first case; each takes 6 bytes */

static uint64_t switch_make(struct object *object, const int32_t *entries, size_t n)
{
	const uint64_t at = FUNCTION(object, "switch", table_switch);
	const uint64_t table = object->base + DATA;
	const uint32_t displacement = (uint32_t)(table - (at + SWITCH_LEA + 7));

	memcpy(object->image + (at - object->base) + SWITCH_LEA + 3, &displacement, 4);
	for (size_t i = 0; i < n; i++) {
		const int32_t relative = (int32_t)(at + (uint64_t)entries[i] - table);

		object_data(object, &relative, sizeof(relative));
	}
	return at;
}

static void entries_of_a_bounded_table_are_targets_and_the_jump_is_no_exit(void **state)
{
	static const int32_t entries[] = { SWITCH_CASE, SWITCH_CASE + 6, SWITCH_CASE + 12 };
	struct code_module *module;
	struct code_plan plan;
	struct object object;
	uint64_t at;
	size_t n;

	(void)state;
	object_init(&object, EM_X86_64, ET_DYN);
	at = switch_make(&object, entries, 3);
	module = object_open(&object);
	for (int i = 0; i < 3; i++)
		assert_true(code_module_is_target(module, at + SWITCH_CASE + 6 * (unsigned int)i));
	assert_false(code_module_functions(module, &n)[0].unknown_jump);
	assert_int_equal(object_plan(&plan, module, at), CODE_PLANNED);
	assert_int_equal(plan.n_exits, 4);
	for (uint32_t i = 0; i < plan.n_sites; i++)
		assert_int_not_equal(plan.sites[i].address, at + SWITCH_JUMP);
	code_plan_release(&plan);
	code_module_close(module);
	object_release(&object);
}

static void a_table_whose_entries_are_no_code_makes_the_jump_unknown(void **state)
{
	static const int32_t entries[] = { SWITCH_CASE, SWITCH_CASE + 1, SWITCH_CASE + 12 };
	struct code_module *module;
	struct object object;
	size_t n;

	(void)state;
	object_init(&object, EM_X86_64, ET_DYN);
	switch_make(&object, entries, 3);
	module = object_open(&object);
	assert_true(code_module_functions(module, &n)[0].unknown_jump);
	code_module_close(module);
	object_release(&object);
}

static void a_table_is_read_on_where_its_bound_may_be_too_low(void **state)
{
	static const int32_t entries[] = { SWITCH_CASE, SWITCH_CASE, SWITCH_CASE + 6,
					   SWITCH_CASE + 12 };
	struct code_module *module;
	struct object object;
	uint64_t at;

	(void)state;
	object_init(&object, EM_X86_64, ET_DYN);
	at = switch_make(&object, entries, 4);
	module = object_open(&object);
	assert_true(code_module_is_target(module, at + SWITCH_CASE + 12));
	code_module_close(module);
	object_release(&object);
}

static const uint8_t computed[] = {
	0x48, 0x8d, 0x15, 0x05, 0x00, 0x00, 0x00, /* lea 0x5(%rip),%rdx */
	0x48, 0x01, 0xfa,                         /* add %rdi,%rdx */
	0xff, 0xe2,                               /* jmp *%rdx */
	0xb8, 0x01, 0x00, 0x00, 0x00,             /* mov $0x1,%eax */
	0xc3,                                     /* ret */
	0xb8, 0x02, 0x00, 0x00, 0x00,             /* mov $0x2,%eax */
	0xc3,                                     /* ret */
};

static void a_jump_to_a_computed_address_is_unknown(void **state)
{
	struct code_module *module;
	struct object object;
	size_t n;

	(void)state;
	object_init(&object, EM_X86_64, ET_DYN);
	FUNCTION(&object, "computed", computed);
	module = object_open(&object);
	assert_true(code_module_functions(module, &n)[0].unknown_jump);
	code_module_close(module);
	object_release(&object);
}

static const uint8_t through_memory[] = {
	0x48, 0x8b, 0x47, 0x18,       /* mov 0x18(%rdi),%rax */
	0xff, 0xe0,                   /* jmp *%rax */
	0xb8, 0x01, 0x00, 0x00, 0x00, /* mov $0x1,%eax */
	0xc3,                         /* ret */
};

static void relocated_words_and_a_virtual_jump_are_known(void **state)
{
	static const uint8_t word[8] = { 0 };
	struct code_module *module;
	struct object object;
	uint64_t at, place;
	size_t n;

	(void)state;
	object_init(&object, EM_X86_64, ET_DYN);
	at = FUNCTION(&object, "virtual", through_memory);
	place = object_data(&object, word, sizeof(word));
	object_relative(&object, place, at + 6);
	module = object_open(&object);
	assert_false(code_module_functions(module, &n)[0].unknown_jump);
	assert_true(code_module_is_target(module, at + 6));
	assert_false(code_module_is_target(module, at + 11));
	code_module_close(module);
	object_release(&object);
}

static void words_of_a_program_at_a_fixed_address_are_targets(void **state)
{
	struct code_module *module;
	struct object object;
	uint64_t at, word;

	(void)state;
	object_init(&object, EM_X86_64, ET_EXEC);
	at = FUNCTION(&object, "virtual", through_memory);
	word = at + 6;
	object_data(&object, &word, sizeof(word));
	module = object_open(&object);
	assert_true(code_module_is_target(module, at + 6));
	code_module_close(module);
	object_release(&object);
}

static const uint8_t jumps_away[] = {
	0x85, 0xff,                         /* test %edi,%edi */
	0x0f, 0x84, 0x38, 0x00, 0x00, 0x00, /* je 0x40 */
	0x31, 0xc0,                         /* xor %eax,%eax */
	0xc3,                               /* ret */
};

static const uint8_t piece[] = {
	0xb8, 0x07, 0x00, 0x00, 0x00, /* mov $0x7,%eax */
	0x48, 0x83, 0xc4, 0x08,       /* add $0x8,%rsp */
	0xc3,                         /* ret */
	0x90,                         /* nop */
};

/* A function at TEXT, and 0x40 bytes on a piece without a name that it jumps to, in mid-frame. */
static uint64_t split_make(struct object *object, uint8_t piece_cfa)
{
	static const uint8_t int3[64] = { [0 ... 63] = 0xcc };
	const uint64_t at = FUNCTION(object, "whole", jumps_away);
	uint64_t cold;

	object_code(object, int3, 0x40 - sizeof(jumps_away));
	cold = object_code(object, piece, sizeof(piece));
	object_cie(object, 8);
	object_fde(object, at, sizeof(jumps_away), 0);
	object_cie(object, piece_cfa);
	object_fde(object, cold, sizeof(piece), 0);
	return at;
}

static void a_nameless_piece_that_is_only_jumped_to_is_a_part(void **state)
{
	struct code_range ranges[4];
	struct code_module *module;
	struct code_plan plan;
	struct object object;
	uint64_t at;
	size_t n;

	(void)state;
	object_init(&object, EM_X86_64, ET_DYN);
	at = split_make(&object, 16);
	module = object_open(&object);
	assert_int_equal(code_module_functions(module, &n)[1].owner, 0);
	assert_int_equal(code_module_functions(module, &n)[1].refusal, CODE_PART);
	assert_int_equal(code_module_ranges(module, 0, ranges, 4), 2);
	assert_int_equal(ranges[1].start, at + 0x40);
	/* the jump to it is no exit, its ret is one */
	assert_int_equal(object_plan(&plan, module, at), CODE_PLANNED);
	assert_int_equal(plan.n_exits, 2);
	assert_int_equal(patch_of(&plan, at + 0x49)->start, at + 0x45);
	code_plan_release(&plan);
	assert_int_equal(object_plan(&plan, module, at + 0x40), CODE_PART);
	code_module_close(module);
	object_release(&object);
}

static void a_piece_whose_address_is_held_is_a_function(void **state)
{
	static const uint8_t word[8] = { 0 };
	struct code_module *module;
	struct code_plan plan;
	struct object object;
	uint64_t at, place;
	size_t n;

	(void)state;
	object_init(&object, EM_X86_64, ET_DYN);
	at = split_make(&object, 8);
	place = object_data(&object, word, sizeof(word));
	object_relative(&object, place, at + 0x40);
	module = object_open(&object);
	assert_int_equal(code_module_functions(module, &n)[1].owner, 1);
	assert_int_equal(object_plan(&plan, module, at), CODE_PLANNED);
	assert_int_equal(plan.n_exits, 2); /* ret, and je to the other function */
	assert_int_equal(patch_of(&plan, at + 2)->start, at); /* je moves with the entry */
	code_plan_release(&plan);
	code_module_close(module);
	object_release(&object);
}

static void a_piece_of_two_functions_refuses_both(void **state)
{
	struct code_module *module;
	struct code_plan plan;
	struct object object;
	uint64_t at, other;
	uint8_t second[sizeof(jumps_away)];
	uint32_t displacement;

	(void)state;
	object_init(&object, EM_X86_64, ET_DYN);
	at = split_make(&object, 16);
	memcpy(second, jumps_away, sizeof(second));
	displacement = (uint32_t)(at + 0x40 - (object_here(&object) + 8));
	memcpy(second + 4, &displacement, 4);
	other = FUNCTION(&object, "other", second);
	module = object_open(&object);
	assert_int_equal(object_plan(&plan, module, at), CODE_SHARED_PART);
	assert_int_equal(object_plan(&plan, module, other), CODE_SHARED_PART);
	assert_int_equal(object_plan(&plan, module, at + 0x40), CODE_SHARED_PART);
	code_module_close(module);
	object_release(&object);
}

static void landing_pads_are_targets_and_a_damaged_table_refuses(void **state)
{
	/* LPStart omitted, no types, call sites uleb128: [0, 4) lands at 9 */
	static const uint8_t lsda[] = { 0xff, 0xff, 0x01, 4, 0, 4, 9, 0 };
	static const uint8_t damaged[] = { 0xff, 0xff, 0x01, 0xff, 0xff, 0xff, 0x7f, 0 };

	(void)state;
	for (int bad = 0; bad < 2; bad++) {
		struct code_module *module;
		struct code_plan plan;
		struct object object;
		uint64_t at, table;

		object_init(&object, EM_X86_64, ET_DYN);
		at = FUNCTION(&object, "throws", calls);
		FUNCTION(&object, "callee", plain);
		table = object_data(&object, bad ? damaged : lsda, sizeof(lsda));
		object_cie(&object, 8);
		object_fde(&object, at, sizeof(calls), table);
		module = object_open(&object);
		if (bad)
			assert_int_equal(object_plan(&plan, module, at), CODE_DAMAGED_LANDINGS);
		else
			assert_true(code_module_is_target(module, at + 9));
		code_module_close(module);
		object_release(&object);
	}
}

static void an_fde_that_starts_in_mid_frame_is_no_function(void **state)
{
	struct code_module *module;
	struct code_plan plan;
	struct object object;
	uint64_t at;

	(void)state;
	object_init(&object, EM_X86_64, ET_DYN);
	at = FUNCTION(&object, "middle", plain);
	object_cie(&object, 32);
	object_fde(&object, at, sizeof(plain), 0);
	module = object_open(&object);
	assert_int_equal(object_plan(&plan, module, at), CODE_NOT_A_START);
	code_module_close(module);
	object_release(&object);
}

static void functions_that_return_twice_are_refused_under_any_of_their_names(void **state)
{
	static const char *const names[] = { "vfork", "__sigsetjmp", "_dl_runtime_resolve_xsavec" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct code_module *module;
		struct code_plan plan;
		struct object object;
		uint64_t at;

		object_init(&object, EM_X86_64, ET_DYN);
		at = FUNCTION(&object, "a", plain);
		object_symbol(&object, names[i], at, sizeof(plain), STB_WEAK);
		module = object_open(&object);
		assert_int_equal(object_plan(&plan, module, at), CODE_SPECIAL);
		code_module_close(module);
		object_release(&object);
	}
}

/* A module that relocates one word, and perhaps names its section. */
static struct code_module *with_section(struct object *object, const char *name, uint64_t start,
					uint64_t size)
{
	Elf64_Ehdr *header = (Elf64_Ehdr *)(void *)object->image;
	struct code_module *module;
	struct error error;

	object_finish(object);
	object_section(object, 5, name,
		       (Elf64_Shdr){ .sh_type = SHT_PROGBITS,
				     .sh_flags = SHF_ALLOC,
				     .sh_addr = start,
				     .sh_offset = start - object->base,
				     .sh_size = size });
	header->e_shnum = 6;
	assert_int_equal(code_module_open_image(&module, object->image, IMAGE_SIZE, NULL, &error),
			 STATUS_OK);
	return module;
}

static enum code_refusal refusal_at(const struct code_module *module, uint64_t address)
{
	size_t n;

	return (enum code_refusal)code_module_functions(
		       module, &n)[code_module_function_at(module, address)]
		.refusal;
}

static void functions_over_a_restartable_sequence_and_its_abort_are_refused(void **state)
{
	static const uint8_t code[16] = { [0 ... 14] = 0x90, 0xc3 };
	const uint32_t head[2] = { 0 };
	const uint64_t words[3] = { 0, 4, 0 }; /* start, 4 bytes of sequence, abort */
	struct object object;
	struct code_module *module;
	uint64_t before, inside, abort, behind, descriptor;

	(void)state;
	object_init(&object, EM_X86_64, ET_DYN);
	before = FUNCTION(&object, "before", code);
	inside = FUNCTION(&object, "inside", code);
	abort = FUNCTION(&object, "abort", code);
	behind = FUNCTION(&object, "behind", code);
	descriptor = object_data(&object, head, sizeof(head));
	object_data(&object, words, sizeof(words));
	object_relative(&object, descriptor + 8, inside + 4);
	object_relative(&object, descriptor + 24, abort + 2);
	module = with_section(&object, "__rseq_cs", descriptor, 32);
	assert_int_equal(refusal_at(module, before), CODE_PLANNED);
	assert_int_equal(refusal_at(module, inside), CODE_RESTARTABLE);
	assert_int_equal(refusal_at(module, abort), CODE_RESTARTABLE);
	assert_int_equal(refusal_at(module, behind), CODE_PLANNED);
	code_module_close(module);
	object_release(&object);
}

static void functions_of_go_are_refused(void **state)
{
	static const uint8_t code[16] = { [0 ... 14] = 0x90, 0xc3 };
	static const char *const marks[] = { ".go.buildinfo", ".gopclntab" };
	struct object object;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct code_module *module;
		uint64_t at;

		object_init(&object, EM_X86_64, ET_EXEC);
		at = FUNCTION(&object, "main.main", code);
		module = with_section(&object, marks[i], object.base + DATA, 16);
		assert_int_equal(refusal_at(module, at), CODE_MOVING_STACK);
		code_module_close(module);
		object_release(&object);
	}
}

static void packed_relocations_hold_addresses_like_others(void **state)
{
	static const uint8_t code[16] = { [0 ... 14] = 0x90, 0xc3 };
	struct object object;
	struct code_module *module;
	Elf64_Dyn *dynamic;
	uint64_t words[70] = { 0 }, first, last, table, relr[2], places[4];
	struct error error;

	(void)state;
	object_init(&object, EM_X86_64, ET_DYN);
	first = FUNCTION(&object, "first", code);
	last = FUNCTION(&object, "last", code);
	words[0] = first + 3;
	words[2] = last;
	words[63] = last + 5;
	table = object_data(&object, words, sizeof(words));
	/* the first word by its address; the third and the 64th by the bitmap behind it */
	relr[0] = table;
	relr[1] = 1 | UINT64_C(1) << 2 | UINT64_C(1) << 63;
	object_data(&object, relr, sizeof(relr));
	object_finish(&object);
	dynamic = (Elf64_Dyn *)(void *)(object.image + DYNAMIC);
	dynamic[2] = (Elf64_Dyn){ .d_tag = DT_RELR, .d_un.d_val = table + sizeof(words) };
	dynamic[3] = (Elf64_Dyn){ .d_tag = DT_RELRSZ, .d_un.d_val = sizeof(relr) };
	assert_int_equal(code_module_open_image(&module, object.image, IMAGE_SIZE, NULL, &error),
			 STATUS_OK);
	assert_true(code_module_is_target(module, first + 3));
	assert_true(code_module_is_target(module, last + 5));
	assert_false(code_module_is_target(module, first + 4));
	assert_int_equal(code_module_places_of(module, last, places, 4), 1);
	assert_int_equal(places[0], table + 16);
	code_module_close(module);
	object_release(&object);
}

static void other_objects_are_refused_with_a_reason(void **state)
{
	struct code_module *module;
	struct object object;
	struct error error;

	(void)state;
	object_init(&object, EM_386, ET_DYN);
	FUNCTION(&object, "first", plain);
	object_finish(&object);
	assert_int_equal(code_module_open_image(&module, object.image, IMAGE_SIZE, NULL, &error),
			 STATUS_UNSUPPORTED);
	assert_null(module);
	object.image[0] = 0;
	assert_int_equal(code_module_open_image(&module, object.image, IMAGE_SIZE, NULL, &error),
			 STATUS_UNSUPPORTED);
	object_release(&object);
	assert_int_equal(code_module_open(&module, sys_real(), "/nonexistent/file", NULL, &error),
			 STATUS_NOT_FOUND);
}

static void a_given_model_is_taken_as_it_is(void **state)
{
	struct code_module_options options = { 0 };
	struct function functions[2];
	struct code_module *module;
	struct object object;
	struct error error;
	uint64_t at;
	size_t n;

	(void)state;
	object_init(&object, EM_X86_64, ET_DYN);
	at = object_code(&object, plain, sizeof(plain));
	object_code(&object, plain, sizeof(plain));
	object_finish(&object);
	memset(functions, 0, sizeof(functions));
	functions[0] =
		(struct function){ .start = { at }, .end = { at + sizeof(plain) }, .symbol = "x" };
	functions[1] = (struct function){ .start = { at + sizeof(plain) },
					  .end = { at + 2 * sizeof(plain) },
					  .symbol = "y" };
	options.functions = functions;
	options.n_functions = 2;
	assert_int_equal(
		code_module_open_image(&module, object.image, IMAGE_SIZE, &options, &error),
		STATUS_OK);
	assert_string_equal(code_module_functions(module, &n)[1].symbol, "y");
	assert_int_equal(n, 2);
	code_module_close(module);
	object_release(&object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_names_and_bytes_are_found),
		cmocka_unit_test(targets_are_jumps_calls_and_what_follows_calls),
		cmocka_unit_test(entries_of_a_bounded_table_are_targets_and_the_jump_is_no_exit),
		cmocka_unit_test(a_table_whose_entries_are_no_code_makes_the_jump_unknown),
		cmocka_unit_test(a_table_is_read_on_where_its_bound_may_be_too_low),
		cmocka_unit_test(a_jump_to_a_computed_address_is_unknown),
		cmocka_unit_test(relocated_words_and_a_virtual_jump_are_known),
		cmocka_unit_test(words_of_a_program_at_a_fixed_address_are_targets),
		cmocka_unit_test(a_nameless_piece_that_is_only_jumped_to_is_a_part),
		cmocka_unit_test(a_piece_whose_address_is_held_is_a_function),
		cmocka_unit_test(a_piece_of_two_functions_refuses_both),
		cmocka_unit_test(landing_pads_are_targets_and_a_damaged_table_refuses),
		cmocka_unit_test(an_fde_that_starts_in_mid_frame_is_no_function),
		cmocka_unit_test(functions_that_return_twice_are_refused_under_any_of_their_names),
		cmocka_unit_test(functions_over_a_restartable_sequence_and_its_abort_are_refused),
		cmocka_unit_test(functions_of_go_are_refused),
		cmocka_unit_test(packed_relocations_hold_addresses_like_others),
		cmocka_unit_test(other_objects_are_refused_with_a_reason),
		cmocka_unit_test(a_given_model_is_taken_as_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
