/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "code/liveness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <elf.h>

#define RAX (1u << 0)
#define RCX (1u << 1)
#define RDX (1u << 2)
#define RSP (1u << 4)
#define RBP (1u << 5)

#define DEAD(...)                                                 \
	code_dead_in(EM_X86_64, (const uint8_t[]){ __VA_ARGS__ }, \
		     sizeof((const uint8_t[]){ __VA_ARGS__ }))

static void what_is_overwritten_before_it_is_read_is_dead(void **state)
{
	/* mov %rdi,%rax; sar $3,%rax; lea 5(%rdi,%rax),%rax; ret */
	const struct code_dead dead =
		DEAD(0x48, 0x89, 0xf8, 0x48, 0xc1, 0xf8, 0x03, 0x48, 0x8d, 0x44, 0x07, 0x05, 0xc3);

	(void)state;
	assert_int_equal(dead.registers, RAX);
	assert_true(dead.flags);
}

static void what_is_read_first_is_not_dead(void **state)
{
	struct code_dead dead;

	(void)state;
	dead = DEAD(0x01, 0xc8, 0x89, 0xd0); /* add %ecx,%eax; mov %edx,%eax */
	assert_int_equal(dead.registers, 0);
	assert_true(dead.flags);
	dead = DEAD(0x55, 0x48, 0x89, 0xe5); /* push %rbp; mov %rsp,%rbp */
	assert_int_equal(dead.registers, 0);
	dead = DEAD(0x48, 0x8d, 0x04, 0x08); /* lea (%rax,%rcx),%rax */
	assert_int_equal(dead.registers, 0);
	dead = DEAD(0x8b, 0x44, 0x8c, 0x08, 0x31,
		    0xc9); /* mov 8(%rsp,%rcx,4),%eax; xor %ecx,%ecx */
	assert_int_equal(dead.registers & RCX, 0);
}

static void a_write_of_a_part_keeps_the_rest(void **state)
{
	(void)state;
	assert_int_equal(DEAD(0xb0, 0x01).registers, 0);             /* mov $1,%al */
	assert_int_equal(DEAD(0x66, 0xb8, 0x01, 0x00).registers, 0); /* mov $1,%ax */
	assert_int_equal(DEAD(0xb4, 0x01).registers, 0);             /* mov $1,%ah */
	assert_int_equal(DEAD(0x30, 0xc0).registers, 0);             /* xor %al,%al */
	/* 32 bits clear the others */
	assert_int_equal(DEAD(0xb8, 0x01, 0x00, 0x00, 0x00).registers, RAX);
	assert_int_equal(DEAD(0x31, 0xc0).registers, RAX);       /* xor %eax,%eax reads nothing */
	assert_int_equal(DEAD(0x0f, 0xb6, 0xc0).registers, 0);   /* movzbl %al,%eax */
	assert_int_equal(DEAD(0x0f, 0xb6, 0xc1).registers, RAX); /* movzbl %cl,%eax */
}

static void flags_are_dead_only_when_all_of_them_are(void **state)
{
	(void)state;
	assert_true(DEAD(0x48, 0x83, 0xec, 0x08).flags);        /* sub $8,%rsp */
	assert_false(DEAD(0xff, 0xc0).flags);                   /* inc: CF stays */
	assert_true(DEAD(0xff, 0xc0, 0x85, 0xc0).flags);        /* inc; test */
	assert_false(DEAD(0x83, 0xd0, 0x00).flags);             /* adc reads CF */
	assert_false(DEAD(0x0f, 0x94, 0xc0, 0x85, 0xc0).flags); /* sete %al first */
	assert_false(DEAD(0xd3, 0xe0).flags);                   /* shl %cl: none when it is 0 */
	assert_false(DEAD(0xc1, 0xe0, 0x20).flags);             /* shl $32: by 0 */
	assert_false(DEAD(0x48, 0x89, 0xf8, 0x48, 0x8d, 0x00).flags); /* mov; lea */
	assert_false(DEAD(0x9c, 0x85, 0xc0).flags);                   /* pushf */
}

static void the_look_ends_at_branches_calls_and_what_may_fault(void **state)
{
	(void)state;
	/* each followed by xor %eax,%eax */
	assert_int_equal(DEAD(0x74, 0x00, 0x31, 0xc0).registers, 0);
	assert_int_equal(DEAD(0xeb, 0x00, 0x31, 0xc0).registers, 0);
	assert_int_equal(DEAD(0xe8, 0, 0, 0, 0, 0x31, 0xc0).registers, 0);
	assert_int_equal(DEAD(0xff, 0xd0, 0x31, 0xc0).registers, 0);
	assert_int_equal(DEAD(0xc3, 0x31, 0xc0).registers, 0);
	assert_int_equal(DEAD(0x0f, 0x05, 0x31, 0xc0).registers, 0);       /* syscall */
	assert_int_equal(DEAD(0x8b, 0x07, 0x31, 0xc0).registers, 0);       /* mov (%rdi),%eax */
	assert_int_equal(DEAD(0x0f, 0x44, 0xc1, 0x31, 0xc0).registers, 0); /* cmove %ecx,%eax */
	assert_int_equal(DEAD(0xf3, 0xaa, 0x31, 0xc0).registers, 0);       /* rep stosb */
	assert_int_equal(DEAD(0x0f, 0xa2, 0x31, 0xc0).registers, 0);       /* cpuid */
}

static void the_stack_pointer_is_never_dead(void **state)
{
	const struct code_dead dead = DEAD(0x48, 0x89, 0xec); /* mov %rbp,%rsp */

	(void)state;
	assert_int_equal(dead.registers & (RSP | RBP), 0);
}

static void nothing_is_said_of_the_other_machine_or_of_no_code(void **state)
{
	const uint8_t word[] = { 0x00, 0x00, 0x80, 0xd2 }; /* mov x0, #0 */

	(void)state;
	assert_int_equal(code_dead_in(EM_AARCH64, word, sizeof(word)).registers, 0);
	assert_int_equal(code_dead_in(EM_X86_64, word, 0).registers, 0);
	assert_int_equal(DEAD(0x48).registers, 0); /* ends in its middle */
	assert_int_equal(DEAD(0xba, 1, 0, 0, 0).registers, RDX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_overwritten_before_it_is_read_is_dead),
		cmocka_unit_test(what_is_read_first_is_not_dead),
		cmocka_unit_test(a_write_of_a_part_keeps_the_rest),
		cmocka_unit_test(flags_are_dead_only_when_all_of_them_are),
		cmocka_unit_test(the_look_ends_at_branches_calls_and_what_may_fault),
		cmocka_unit_test(the_stack_pointer_is_never_dead),
		cmocka_unit_test(nothing_is_said_of_the_other_machine_or_of_no_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
