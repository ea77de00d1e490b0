/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sections that say where compilers left room: read on both machines, held against the bytes, and no reason to
 * think that control comes there.
 */
#include "code/sleds.h"

#include "code/module.h"
#include "object.h"

#define MAP 0x100u /* in the data: sections of sleds */

enum { NOPS_BEFORE = 5 };

struct built {
	struct object object;
	struct code_module *module;
};

/* A section of `size` bytes at MAP with this name. */
static void built_open(struct built *built, const char *section, uint64_t size)
{
	Elf64_Ehdr *header = (Elf64_Ehdr *)(void *)built->object.image;
	struct error error;

	object_finish(&built->object);
	object_section(&built->object, 5, section,
		       (Elf64_Shdr){ .sh_type = SHT_PROGBITS,
				     .sh_flags = SHF_ALLOC | SHF_WRITE,
				     .sh_addr = built->object.base + DATA + MAP,
				     .sh_offset = DATA + MAP,
				     .sh_size = size });
	header->e_shnum = 6;
	assert_int_equal(code_module_open_image(&built->module, built->object.image, IMAGE_SIZE,
						NULL, &error),
			 STATUS_OK);
}

static void built_close(struct built *built)
{
	code_module_close(built->module);
	object_release(&built->object);
}

static const uint8_t x86_before[] = { 0x90, 0x90, 0x90, 0x90, 0x90 };
/* endbr64, 2 nops, ret; then the next function without padding */
static const uint8_t x86_function[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0x90, 0x90, 0xc3 };
static const uint8_t x86_next[] = { 0x48, 0x89, 0xf8, 0xc3 };

static const uint32_t arm_before[] = { 0xd503201f };
static const uint32_t arm_function[] = { 0xd503245f, 0xd503201f, 0xd503201f, 0xd65f03c0 };

/* N nops, M of them in front of the function. */
static uint64_t patchable_make(struct built *built, uint16_t machine, uint16_t type)
{
	const bool x86 = machine == EM_X86_64;
	uint64_t before, start;

	object_init(&built->object, machine, type);
	before = x86 ? object_code(&built->object, x86_before, sizeof(x86_before))
		     : object_code(&built->object, arm_before, sizeof(arm_before));
	start = x86 ? FUNCTION(&built->object, "f", x86_function)
		    : FUNCTION(&built->object, "f", arm_function);
	if (x86)
		FUNCTION(&built->object, "g", x86_next);
	if (type == ET_DYN)
		object_relative(&built->object, built->object.base + DATA + MAP, before);
	else
		memcpy(built->object.image + DATA + MAP, &before, sizeof(before));
	built_open(built, "__patchable_function_entries", 8);
	return start;
}

static void patchable_check(uint16_t machine, uint16_t type)
{
	const uint32_t before = machine == EM_X86_64 ? sizeof(x86_before) : sizeof(arm_before);
	struct built built;
	const uint64_t start = patchable_make(&built, machine, type);
	const struct code_sled *sleds;
	size_t n;

	sleds = code_module_sleds(built.module, &n);
	assert_int_equal(n, 2);
	assert_int_equal(sleds[0].address, start - before);
	assert_int_equal(sleds[0].bytes, before);
	assert_int_equal(sleds[0].kind, CODE_SLED_PATCHABLE);
	/* behind endbr64 or bti */
	assert_int_equal(sleds[1].address, start + 4);
	assert_int_equal(sleds[1].bytes, machine == EM_X86_64 ? 2 : 8);
	assert_ptr_equal(code_module_sled_at(built.module, start + 5), &sleds[1]);
	assert_null(code_module_sled_at(built.module, start));
	assert_false(code_module_is_target(built.module, start - before));
	built_close(&built);
}

static void nops_in_front_of_and_in_a_function_are_found_by_their_section(void **state)
{
	(void)state;
	patchable_check(EM_X86_64, ET_DYN);
	patchable_check(EM_X86_64, ET_EXEC);
	patchable_check(EM_AARCH64, ET_DYN);
	patchable_check(EM_AARCH64, ET_EXEC);
}

/* Two bytes in the function, and a jump in the nops that the section names: without these it would be too short. */
static void nops_in_front_of_a_function_hold_what_its_own_have_no_room_for(void **state)
{
	struct built built;
	const uint64_t start = patchable_make(&built, EM_X86_64, ET_DYN);
	const struct code_plan_options options = { .entry_only = true };
	struct code_plan plan;

	(void)state;
	assert_int_equal(code_plan_make(&plan, built.module,
					code_module_function_at(built.module, start), &options),
			 CODE_PLANNED);
	assert_int_equal(plan.n_patches, 1);
	assert_int_equal(plan.patches[0].form, CODE_PATCH_ISLAND);
	assert_int_equal(plan.patches[0].start, start + 4);
	assert_int_equal(plan.patches[0].island, start - NOPS_BEFORE);
	assert_true(plan.patches[0].sled);
	code_plan_release(&plan);
	built_close(&built);
}

static const uint8_t x86_xray[] = {
	0xeb, 0x09,                                                 /* jmp 0xb */
	0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x02, 0x00, 0x00,       /* nopw 0x200(%rax,%rax,1) */
	0x31, 0xc0,                                                 /* xor %eax,%eax */
	0x85, 0xff,                                                 /* test %edi,%edi */
	0x74, 0x0b,                                                 /* je 0x1c */
	0xc3,                                                       /* ret */
	0x2e, 0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x02, 0x00, 0x00, /* cs nopw 0x200(%rax,%rax,1) */
	0xeb, 0x09,                                                 /* jmp 0x27 */
	0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x02, 0x00, 0x00,       /* nopw 0x200(%rax,%rax,1) */
	0xe9, 0x00, 0x00, 0x00, 0x00,                               /* jmp to the next function */
};

static const uint32_t arm_xray[] = {
	0x14000008, 0xd503201f, 0xd503201f, 0xd503201f, 0xd503201f,
	0xd503201f, 0xd503201f, 0xd503201f, 0x52800000, /* b .+32; 7 nops; mov w0, #0 */
	0x14000008, 0xd503201f, 0xd503201f, 0xd503201f, 0xd503201f,
	0xd503201f, 0xd503201f, 0xd503201f, 0xd65f03c0, /* the same; ret */
};

/* One entry of xray_instr_map, version 2 (addresses count from where they stand) or 1. */
static void xray_entry(struct object *object, unsigned int i, uint64_t sled, uint64_t function,
		       uint8_t kind, uint8_t version)
{
	const uint64_t at = object->base + DATA + MAP + 32 * i;
	uint8_t *bytes = object->image + DATA + MAP + 32 * i;
	const uint64_t words[2] = { version >= 2 ? sled - at : 0,
				    version >= 2 ? function - (at + 8) : 0 };

	memcpy(bytes, words, sizeof(words));
	bytes[16] = kind;
	bytes[17] = 1;
	bytes[18] = version;
	if (version < 2)
		object_relative(object, at, sled);
}

static void xray_x86(uint8_t version)
{
	static const uint8_t kinds[] = { CODE_SLED_XRAY_ENTRY, CODE_SLED_XRAY_EXIT,
					 CODE_SLED_XRAY_TAIL };
	static const unsigned int offsets[] = { 0, 17, 28 };
	const struct code_sled *sleds;
	struct code_plan plan;
	struct built built;
	uint64_t f;
	size_t n;

	object_init(&built.object, EM_X86_64, ET_DYN);
	f = FUNCTION(&built.object, "f", x86_xray);
	FUNCTION(&built.object, "g", x86_next);
	for (unsigned int i = 0; i < 3; i++)
		xray_entry(&built.object, i, f + offsets[i], f, (uint8_t)i, version);
	xray_entry(&built.object, 3, f + 11, f, 0, version); /* nothing like a sled stands there */
	xray_entry(&built.object, 4, f + 11, f, 4, version); /* an event */
	built_open(&built, "xray_instr_map", 5 * 32);
	sleds = code_module_sleds(built.module, &n);
	assert_int_equal(n, 3);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(sleds[i].address, f + offsets[i]);
		assert_int_equal(sleds[i].bytes, 11);
		assert_int_equal(sleds[i].kind, kinds[i]);
	}
	assert_int_equal(code_plan_make(&plan, built.module, 0, NULL), CODE_PLANNED);
	assert_int_equal(plan.n_exits, 2);
	assert_true(plan.patches[0].sled);
	assert_int_equal(plan.patches[0].start, f);
	code_plan_release(&plan);
	built_close(&built);
}

static void sleds_of_xray_are_found_by_their_map(void **state)
{
	const struct code_sled *sleds;
	struct code_plan plan;
	struct built built;
	uint64_t f;
	size_t n;

	(void)state;
	xray_x86(2);
	xray_x86(1);
	object_init(&built.object, EM_AARCH64, ET_DYN);
	f = FUNCTION(&built.object, "f", arm_xray);
	xray_entry(&built.object, 0, f, f, 0, 2);
	xray_entry(&built.object, 1, f + 36, f, 1, 2);
	xray_entry(&built.object, 2, f + 32, f, 1, 2);
	built_open(&built, "xray_instr_map", 3 * 32);
	sleds = code_module_sleds(built.module, &n);
	assert_int_equal(n, 2);
	assert_int_equal(sleds[0].address, f);
	assert_int_equal(sleds[1].address, f + 36);
	assert_int_equal(sleds[1].bytes, 32);
	assert_int_equal(sleds[1].kind, CODE_SLED_XRAY_EXIT);
	assert_int_equal(code_plan_make(&plan, built.module, 0, NULL), CODE_PLANNED);
	assert_true(plan.patches[0].sled);
	code_plan_release(&plan);
	built_close(&built);
}

static void a_map_that_leads_nowhere_has_no_sleds(void **state)
{
	struct built built;
	size_t n;

	(void)state;
	object_init(&built.object, EM_X86_64, ET_DYN);
	FUNCTION(&built.object, "f", x86_xray);
	xray_entry(&built.object, 0, UINT64_MAX - 3, 0, 0, 2);
	xray_entry(&built.object, 1, built.object.base + TEXT + sizeof(x86_xray) - 3, 0, 0, 2);
	built_open(&built, "xray_instr_map", 2 * 32 + 7);
	(void)code_module_sleds(built.module, &n);
	assert_int_equal(n, 0);
	assert_null(code_module_sled_at(built.module, built.object.base + TEXT));
	built_close(&built);
	/* a size that the file does not hold */
	object_init(&built.object, EM_X86_64, ET_EXEC);
	FUNCTION(&built.object, "f", x86_xray);
	built_open(&built, "__patchable_function_entries", UINT64_MAX / 2);
	(void)code_module_sleds(built.module, &n);
	assert_int_equal(n, 0);
	built_close(&built);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nops_in_front_of_and_in_a_function_are_found_by_their_section),
		cmocka_unit_test(nops_in_front_of_a_function_hold_what_its_own_have_no_room_for),
		cmocka_unit_test(sleds_of_xray_are_found_by_their_map),
		cmocka_unit_test(a_map_that_leads_nowhere_has_no_sleds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
