/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bytes and their assembly as GNU as 2.40 made them; each line says what the decoder must see. `f` is at
 * address 0x1000, where each listing begins.
 */
#include "support/test.h"

#include <elf.h>
#include <string.h>

#include "diagnose/decode.h"

#define BASE 0x1000

struct expected {
	const char *bytes; /* hex */
	const char *assembly;
	uint8_t kinds;
	const char *slow;
	bool to_start; /* its target is f */
};

static const struct expected x86_64[] = {
	{ "55", "push %rbp", 0, NULL, false },
	{ "e8faffffff", "call f", DECODE_CALL, NULL, true },
	{ "ffd0", "call *%rax", DECODE_CALL, NULL, false },
	{ "c3", "ret", DECODE_RETURN, NULL, false },
	{ "ebf5", "jmp f", DECODE_JUMP, NULL, true },
	{ "74f3", "je f", DECODE_BRANCH, NULL, true },
	{ "ffe0", "jmp *%rax", DECODE_JUMP, NULL, false },
	{ "f7f9", "idiv %ecx", DECODE_SLOW, "div", false },
	{ "f20f5ec1", "divsd %xmm1,%xmm0", DECODE_SLOW, "fdiv", false },
	{ "c5fd51c1", "vsqrtpd %ymm1,%ymm0", DECODE_SLOW, "sqrt", false },
	{ "f0ff00", "lock incl (%rax)", DECODE_SLOW, "lock", false },
	{ "8702", "xchg %eax,(%rdx)", DECODE_SLOW, "xchg", false },
	{ "92", "xchg %eax,%edx", 0, NULL, false },
	{ "f3a4", "rep movsb", DECODE_SLOW, "rep", false },
	{ "0fa2", "cpuid", DECODE_SLOW, "cpuid", false },
	{ "0f31", "rdtsc", DECODE_SLOW, "rdtsc", false },
	{ "0faef0", "mfence", DECODE_SLOW, "fence", false },
	{ "f390", "pause", DECODE_SLOW, "pause", false },
	{ "0f05", "syscall", DECODE_SLOW, "system call", false },
	{ "c4e26d900488", "vpgatherdd", DECODE_SLOW, "gather", false },
	{ "4889c3", "mov %rax,%rbx", 0, NULL, false },
	{ "e3c9", "jrcxz f", DECODE_BRANCH, NULL, true },
	{ "e2c7", "loop f", DECODE_BRANCH, NULL, true },
};

/* words as objdump shows them, most significant byte first */
static const struct expected aarch64[] = {
	{ "a9bf7bfd", "stp x29,x30,[sp,#-16]!", 0, NULL, false },
	{ "97ffffff", "bl f", DECODE_CALL, NULL, true },
	{ "d63f0060", "blr x3", DECODE_CALL, NULL, false },
	{ "d65f03c0", "ret", DECODE_RETURN, NULL, false },
	{ "17fffffc", "b f", DECODE_JUMP, NULL, true },
	{ "54ffff61", "b.ne f", DECODE_BRANCH, NULL, true },
	{ "d61f0200", "br x16", DECODE_JUMP, NULL, false },
	{ "b4ffff20", "cbz x0,f", DECODE_BRANCH, NULL, true },
	{ "371fff01", "tbnz w1,#3,f", DECODE_BRANCH, NULL, true },
	{ "9ac20820", "udiv x0,x1,x2", DECODE_SLOW, "div", false },
	{ "1ac20c20", "sdiv w0,w1,w2", DECODE_SLOW, "div", false },
	{ "1e621820", "fdiv d0,d1,d2", DECODE_SLOW, "fdiv", false },
	{ "1e21c020", "fsqrt s0,s1", DECODE_SLOW, "fsqrt", false },
	{ "6e62fc20", "fdiv v0.2d,v1.2d,v2.2d", DECODE_SLOW, "fdiv", false },
	{ "6ea1f820", "fsqrt v0.4s,v1.4s", DECODE_SLOW, "fsqrt", false },
	{ "d5033bbf", "dmb ish", DECODE_SLOW, "barrier", false },
	{ "d5033f9f", "dsb sy", DECODE_SLOW, "barrier", false },
	{ "d5033fdf", "isb", DECODE_SLOW, "barrier", false },
	{ "c85ffc20", "ldaxr x0,[x1]", DECODE_SLOW, "exclusive", false },
	{ "c802fc20", "stlxr w2,x0,[x1]", DECODE_SLOW, "exclusive", false },
	{ "c8dffc20", "ldar x0,[x1]", 0, NULL, false },
	{ "d53be040", "mrs x0,cntvct_el0", DECODE_SLOW, "counter", false },
	{ "d53bd040", "mrs x0,tpidr_el0", 0, NULL, false },
	{ "d4000001", "svc #0", DECODE_SLOW, "svc", false },
	{ "f8200041", "ldadd x0,x1,[x2]", DECODE_SLOW, "atomic", false },
	{ "c8a07c41", "cas x0,x1,[x2]", DECODE_SLOW, "atomic", false },
	{ "b8e08041", "swpal w0,w1,[x2]", DECODE_SLOW, "atomic", false },
	{ "8b020020", "add x0,x1,x2", 0, NULL, false },
	{ "f9400020", "ldr x0,[x1]", 0, NULL, false },
	{ "f8226820", "str x0,[x1,x2]", 0, NULL, false },
	{ "9b020c20", "madd x0,x1,x2,x3", 0, NULL, false },
	{ "1e620820", "fmul d0,d1,d2", 0, NULL, false },
	{ "9ac22020", "lsl x0,x1,x2", 0, NULL, false },
	{ "d503201f", "nop", 0, NULL, false },
	{ "b8a27820", "ldrsw x0,[x1,x2,lsl #2]", 0, NULL, false },
	{ "f8a16800", "prfm pldl1keep,[x0,x1]", 0, NULL, false },
};

static uint8_t hex_byte(const char *text)
{
	uint8_t value = 0;

	for (int i = 0; i < 2; i++)
		value = (uint8_t)(value << 4 |
				  (text[i] <= '9' ? text[i] - '0' : text[i] - 'a' + 10));
	return value;
}

static void check(uint16_t machine, const struct expected *expected, size_t n)
{
	struct instruction instructions[64];
	uint8_t code[512];
	size_t size = 0, found;

	for (size_t i = 0; i < n; i++) {
		const size_t bytes = strlen(expected[i].bytes) / 2;

		for (size_t b = 0; b < bytes; b++)
			code[size + (machine == EM_AARCH64 ? 3 - b : b)] =
				hex_byte(expected[i].bytes + 2 * b);
		size += bytes;
	}
	found = decode(machine, code, size, BASE, instructions, 64);
	assert_int_equal(found, n);
	for (size_t i = 0; i < n; i++) {
		const struct instruction *x = &instructions[i];
		const char *slow = x->slow ? x->slow : "",
			   *wanted = expected[i].slow ? expected[i].slow : "";

		if (x->kinds != expected[i].kinds || strcmp(slow, wanted) ||
		    x->length != strlen(expected[i].bytes) / 2)
			fail_msg("%s: kinds %u, slow '%s', length %u", expected[i].assembly,
				 x->kinds, slow, x->length);
		if (x->target != (expected[i].to_start ? BASE : 0))
			fail_msg("%s: target %#llx", expected[i].assembly,
				 (unsigned long long)x->target);
	}
}

static void x86_64_instructions_are_what_the_assembler_meant(void **state)
{
	(void)state;
	check(EM_X86_64, x86_64, sizeof(x86_64) / sizeof(x86_64[0]));
}

static void aarch64_instructions_are_what_the_assembler_meant(void **state)
{
	(void)state;
	check(EM_AARCH64, aarch64, sizeof(aarch64) / sizeof(aarch64[0]));
}

static void decoding_ends_before_an_instruction_that_is_cut(void **state)
{
	static const uint8_t call[] = { 0x90, 0xe8, 0, 0, 0, 0 };
	struct instruction instructions[8];

	(void)state;
	for (size_t size = 1; size < sizeof(call); size++)
		assert_int_equal(decode(EM_X86_64, call, size, BASE, instructions, 8), 1);
	assert_int_equal(decode(EM_X86_64, call, sizeof(call), BASE, instructions, 8), 2);
	assert_int_equal(decode(EM_AARCH64, call, 3, BASE, instructions, 8), 0);
}

static void bytes_of_an_unknown_machine_give_nothing(void **state)
{
	static const uint8_t code[16] = { 0 };
	struct instruction instructions[8];

	(void)state;
	assert_int_equal(decode(EM_RISCV, code, sizeof(code), BASE, instructions, 8), 0);
}

static void no_more_are_decoded_than_there_is_room_for(void **state)
{
	static const uint8_t nops[16] = { 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
					  0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90 };
	struct instruction instructions[4];

	(void)state;
	assert_int_equal(decode(EM_X86_64, nops, sizeof(nops), BASE, instructions, 4), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(x86_64_instructions_are_what_the_assembler_meant),
		cmocka_unit_test(aarch64_instructions_are_what_the_assembler_meant),
		cmocka_unit_test(decoding_ends_before_an_instruction_that_is_cut),
		cmocka_unit_test(bytes_of_an_unknown_machine_give_nothing),
		cmocka_unit_test(no_more_are_decoded_than_there_is_room_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
