/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "code/insn.h"

#include <elf.h>
#include <string.h>

#include "support/test.h"

#define AT UINT64_C(0x10000)

/* Decodes the n-th instruction of a sequence that stands at AT. */
static struct code_insn nth(uint16_t machine, const uint8_t *code, size_t size, unsigned int n)
{
	struct code_insn insn;
	size_t at = 0;

	for (;;) {
		assert_true(at < size);
		assert_true(code_insn_decode(machine, code + at, size - at, AT + at, &insn));
		if (!n--)
			return insn;
		at += insn.length;
	}
}

#define X86(code, n) nth(EM_X86_64, code, sizeof(code), n)
#define ARM(code, n) nth(EM_AARCH64, code, sizeof(code), n)

static const uint8_t exits_x86[] = {
	0xc3,                         /* ret */
	0xc2, 0x18, 0x00,             /* ret $0x18 */
	0xf3, 0xc3,                   /* repz ret */
	0xf2, 0xc3,                   /* bnd ret */
	0xeb, 0x1e,                   /* jmp 0x28 */
	0xe9, 0x00, 0x01, 0x00, 0x00, /* jmp 0x10f */
	0x3e, 0xff, 0xe0,             /* notrack jmp *%rax */
	0xff, 0x64, 0x24, 0x08,       /* jmp *0x8(%rsp) */
	0x0f, 0x0b,                   /* ud2 */
	0xf4,                         /* hlt */
	0xcc,                         /* int3 */
};

static void every_way_to_leave_is_told_apart_on_x86(void **state)
{
	static const enum code_flow flows[] = { CODE_RETURN,        CODE_RETURN,        CODE_RETURN,
						CODE_RETURN,        CODE_JUMP,          CODE_JUMP,
						CODE_JUMP_INDIRECT, CODE_JUMP_INDIRECT, CODE_STOP,
						CODE_STOP,          CODE_STOP };

	(void)state;
	for (unsigned int i = 0; i < sizeof(flows) / sizeof(flows[0]); i++) {
		const struct code_insn insn = X86(exits_x86, i);

		assert_int_equal(insn.flow, flows[i]);
		assert_true(code_insn_ends_block(&insn));
	}
	assert_int_equal(X86(exits_x86, 1).pop_bytes, 24);
	assert_int_equal(X86(exits_x86, 0).pop_bytes, 0);
	assert_int_equal(X86(exits_x86, 4).target, X86(exits_x86, 4).address + 0x20);
	assert_true(X86(exits_x86, 4).flags & CODE_SHORT);
	assert_int_equal(X86(exits_x86, 5).target, X86(exits_x86, 5).address + 5 + 0x100);
	assert_false(X86(exits_x86, 5).flags & CODE_SHORT);
}

static const uint8_t branches_x86[] = {
	0x74, 0xfc,                                     /* je 0xfffffffffffffffe */
	0x0f, 0x85, 0x10, 0x00, 0x00, 0x00,             /* jne 0x18 */
	0xe2, 0x03,                                     /* loop 0xd */
	0xe3, 0x03,                                     /* jrcxz 0xf */
	0xe8, 0x00, 0x01, 0x00, 0x00,                   /* call 0x111 */
	0xff, 0xd0,                                     /* call *%rax */
	0xff, 0x15, 0x10, 0x00, 0x00, 0x00,             /* call *0x10(%rip) */
	0x67, 0xe8, 0x00, 0x00, 0x00, 0x00,             /* addr32 call 0x1f */
	0x66, 0x66, 0x48, 0xe8, 0x00, 0x00, 0x00, 0x00, /* data16 data16 rex.W call 0x27 */
};

static void branches_and_calls_have_their_targets_on_x86(void **state)
{
	static const enum code_flow flows[] = { CODE_BRANCH,        CODE_BRANCH, CODE_BRANCH,
						CODE_BRANCH,        CODE_CALL,   CODE_CALL_INDIRECT,
						CODE_CALL_INDIRECT, CODE_CALL,   CODE_CALL };

	(void)state;
	for (unsigned int i = 0; i < sizeof(flows) / sizeof(flows[0]); i++) {
		assert_int_equal(X86(branches_x86, i).flow, flows[i]);
		assert_false(
			code_insn_ends_block(&(struct code_insn){ .flow = (uint8_t)flows[i] }));
	}
	assert_int_equal(X86(branches_x86, 0).target, AT - 2);
	assert_int_equal(X86(branches_x86, 1).target, X86(branches_x86, 1).address + 6 + 0x10);
	for (unsigned int i = 2; i < 4; i++) {
		assert_int_equal(X86(branches_x86, i).target, X86(branches_x86, i).address + 5);
		assert_true(X86(branches_x86, i).flags & CODE_SHORT_ONLY);
	}
	assert_int_equal(X86(branches_x86, 4).target, X86(branches_x86, 4).address + 0x105);
	assert_int_equal(X86(branches_x86, 8).target,
			 code_insn_end(&(struct code_insn){ .address = X86(branches_x86, 8).address,
							    .length = 8 }));
}

static const uint8_t odd_x86[] = {
	0xcb,       /* lret */
	0x48, 0xcf, /* iretq */
	0xff, 0x28, /* ljmp *(%rax) */
};

static void transfers_that_are_not_understood_are_odd_on_x86(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(X86(odd_x86, i).flow, CODE_ODD);
		assert_true(X86(odd_x86, i).flags & CODE_IMMOVABLE);
	}
	/* a transaction comes back where xbegin says: a branch that stays where it is */
	{
		struct code_insn insn;
		static const uint8_t xbegin[] = { 0xc7, 0xf8, 0x10, 0, 0, 0 };

		assert_true(code_insn_decode_x86_64(xbegin, sizeof(xbegin), AT, &insn));
		assert_int_equal(insn.flow, CODE_BRANCH);
		assert_int_equal(insn.target, AT + 0x16);
		assert_true(insn.flags & CODE_IMMOVABLE);
	}
	/* an operand-size prefix on a jump: Intel ignores it, AMD cuts the address */
	{
		struct code_insn insn;
		static const uint8_t jump[] = { 0x66, 0xe9, 0, 0, 0, 0 }, ret[] = { 0x66, 0xc3 };

		if (code_insn_decode_x86_64(jump, sizeof(jump), AT, &insn))
			assert_int_equal(insn.flow, CODE_ODD);
		if (code_insn_decode_x86_64(ret, sizeof(ret), AT, &insn))
			assert_int_equal(insn.flow, CODE_ODD);
	}
}

static const uint8_t operands_x86[] = {
	0x48, 0x8d, 0x05, 0x00, 0x01, 0x00, 0x00, /* lea 0x100(%rip),%rax */
	0x81, 0x3d, 0x00, 0x01, 0x00, 0x00, 0x78,
	0x56, 0x34, 0x12,                         /* cmpl $0x12345678,0x100(%rip) */
	0xc6, 0x05, 0x00, 0x01, 0x00, 0x00, 0x09, /* movb $0x9,0x100(%rip) */
	0xbf, 0x00, 0x10, 0x40, 0x00,             /* mov $0x401000,%edi */
	0x48, 0xb8, 0x88, 0x77, 0x66, 0x55, 0x44,
	0x33, 0x22, 0x11,             /* movabs $0x1122334455667788,%rax */
	0x68, 0x00, 0x10, 0x40, 0x00, /* push $0x401000 */
};

static void relative_operands_mean_an_address_whatever_follows_the_displacement(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		const struct code_insn insn = X86(operands_x86, i);

		assert_true(insn.flags & CODE_PC_RELATIVE);
		assert_int_equal(insn.operand, code_insn_end(&insn) + 0x100);
		assert_int_equal(!!(insn.flags & CODE_LOADS), i != 0);
	}
	assert_int_equal(X86(operands_x86, 3).constant, 0x401000);
	assert_int_equal(X86(operands_x86, 4).constant, 0x1122334455667788);
	assert_int_equal(X86(operands_x86, 5).constant, 0x401000);
	assert_int_equal(X86(operands_x86, 1).constant, 0x12345678);
}

static const uint8_t faults_x86[] = {
	0x48, 0x8b, 0x00,                                     /* mov (%rax),%rax */
	0x0f, 0x10, 0x04, 0x17,                               /* movups (%rdi,%rdx,1),%xmm0 */
	0xf7, 0xf1,                                           /* div %ecx */
	0xf3, 0xa4,                                           /* rep movsb %ds:(%rsi),%es:(%rdi) */
	0xa0, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, /* movabs 0x1122334455667788,%al */
	0x48, 0x8b, 0x44, 0xc4, 0x08,                         /* mov 0x8(%rsp,%rax,8),%rax */
	0x49, 0x8b, 0x04, 0x24,                               /* mov (%r12),%rax */
	0x49, 0x8b, 0x45, 0x08,                               /* mov 0x8(%r13),%rax */
	0xd7,                                                 /* xlat %ds:(%rbx) */
	0xc4, 0xe2, 0x71, 0x92, 0x14, 0x84, /* vgatherdps %xmm1,(%rsp,%xmm0,4),%xmm2 */
};

static const uint8_t safe_x86[] = {
	0x48, 0x8b, 0x44, 0x24, 0x08,       /* mov 0x8(%rsp),%rax */
	0x0f, 0x11, 0x44, 0x24, 0x80,       /* movups %xmm0,-0x80(%rsp) */
	0xc5, 0xfa, 0x6f, 0x4c, 0x24, 0x20, /* vmovdqu 0x20(%rsp),%xmm1 */
	0x4c, 0x8b, 0x24, 0x24,             /* mov (%rsp),%r12 */
	0x48, 0x8d, 0x04, 0x98,             /* lea (%rax,%rbx,4),%rax */
	0x0f, 0x1f, 0x00,                   /* nopl (%rax) */
	0x2e, 0x66, 0x0f, 0x1f, 0x04, 0x00, /* cs nopw (%rax,%rax,1) */
	0x0f, 0x18, 0x08,                   /* prefetcht0 (%rax) */
	0x55,                               /* push %rbp */
	0x5b,                               /* pop %rbx */
	0xc9,                               /* leave */
	0x48, 0x83, 0xc4, 0x08,             /* add $0x8,%rsp */
	0x8b, 0x05, 0x00, 0x01, 0x00, 0x00, /* mov 0x100(%rip),%eax */
	0x66, 0x90,                         /* xchg %ax,%ax */
};

static void only_frame_memory_counts_as_safe_from_faults(void **state)
{
	(void)state;
	for (size_t i = 0, at = 0; at < sizeof(faults_x86); i++) {
		const struct code_insn insn = X86(faults_x86, (unsigned int)i);

		assert_true(insn.flags & CODE_MAY_FAULT);
		at += insn.length;
	}
	for (size_t i = 0, at = 0; at < sizeof(safe_x86); i++) {
		const struct code_insn insn = X86(safe_x86, (unsigned int)i);

		assert_false(insn.flags & (CODE_MAY_FAULT | CODE_IMMOVABLE));
		at += insn.length;
	}
}

static const uint8_t segments_x86[] = {
	0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0x00, 0x00, 0x00, /* mov %fs:0x28,%rax */
	0x64, 0x48, 0x8b, 0x04, 0x25, 0x00, 0xff, 0xff, 0xff, /* mov %fs:0xffffffffffffff00,%rax */
	0x64, 0x48, 0x8b, 0x00,                               /* mov %fs:(%rax),%rax */
	0x65, 0x48, 0x8b, 0x04, 0x25, 0x28, 0x00, 0x00, 0x00, /* mov %gs:0x28,%rax */
	0x48, 0x8b, 0x04, 0x25, 0x28, 0x00, 0x00, 0x00,       /* mov 0x28,%rax */
	0x64, 0x8b, 0x04, 0x25, 0x00, 0xff, 0xff, 0x7f,       /* mov %fs:0x7fffff00,%eax */
	0x8b, 0x04, 0x25, 0x00, 0x40, 0x40, 0x00,             /* mov 0x404000,%eax */
};

static void a_threads_own_block_is_safe_and_other_segments_are_not(void **state)
{
	static const bool faults[] = { false, false, true, true, false, true, false };
	static const uint64_t operands[] = { 0, 0, 0, 0, 0x28, 0, 0x404000 };

	(void)state;
	for (unsigned int i = 0; i < 7; i++) {
		const struct code_insn insn = X86(segments_x86, i);

		assert_int_equal(!!(insn.flags & CODE_MAY_FAULT), faults[i]);
		/* constants without a segment are judged by the segments of the object */
		assert_int_equal(!!(insn.flags & CODE_LOADS), operands[i] != 0);
		assert_int_equal(insn.operand, operands[i]);
	}
}

static const uint8_t frame_x86[] = {
	0x48, 0x8b, 0x45, 0xf8,                   /* mov -0x8(%rbp),%rax */
	0x48, 0x89, 0x85, 0x00, 0x01, 0x00, 0x00, /* mov %rax,0x100(%rbp) */
	0x48, 0x8b, 0x44, 0xc5, 0x00,             /* mov 0x0(%rbp,%rax,8),%rax */
};

static void memory_beyond_rbp_is_safe_only_if_rbp_is_a_frame_pointer(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		assert_true(X86(frame_x86, i).flags & CODE_BY_FRAME);
		assert_false(X86(frame_x86, i).flags & CODE_MAY_FAULT);
	}
	assert_true(X86(frame_x86, 2).flags & CODE_MAY_FAULT);
}

static const uint8_t kinds_x86[] = {
	0xf3, 0x0f, 0x1e, 0xfa, /* endbr64 */
	0x90,                   /* nop */
	0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84,
	0x00, 0x00, 0x00, 0x00, 0x00, /* data16 cs nopw 0x0(%rax,%rax,1) */
	0x0f, 0x05,                   /* syscall */
	0xcd, 0x80,                   /* int $0x80 */
	0xf3, 0x90,                   /* pause */
	0x0f, 0x01, 0xd5,             /* xend */
	0x0f, 0xa2,                   /* cpuid */
	0xc6, 0xf8, 0x01,             /* xabort $0x1 */
};

static void landings_nops_and_what_must_stay_are_marked_on_x86(void **state)
{
	static const uint16_t flags[] = { CODE_LANDING,   CODE_NOP, CODE_NOP,       CODE_IMMOVABLE,
					  CODE_IMMOVABLE, 0,        CODE_IMMOVABLE, 0,
					  CODE_IMMOVABLE };

	(void)state;
	for (unsigned int i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		assert_int_equal(X86(kinds_x86, i).flags & ~CODE_TOUCHES_SP, flags[i]);
		assert_int_equal(X86(kinds_x86, i).flow, CODE_NEXT);
	}
}

static void bytes_that_are_no_instruction_are_refused(void **state)
{
	static const uint8_t bad[] = { 0x06 }, cut[] = { 0xe9, 0, 0 }, none[] = { 0 };
	static const uint8_t arm[] = { 0, 0, 1, 0 }, arm_gap[] = { 0, 0, 0, 0x02 };
	struct code_insn insn;

	(void)state;
	assert_false(code_insn_decode(EM_X86_64, bad, sizeof(bad), AT, &insn));
	assert_false(code_insn_decode(EM_X86_64, cut, sizeof(cut), AT, &insn));
	assert_false(code_insn_decode(EM_X86_64, none, 0, AT, &insn));
	assert_false(code_insn_decode(EM_AARCH64, arm, sizeof(arm), AT, &insn));
	assert_false(code_insn_decode(EM_AARCH64, arm_gap, sizeof(arm_gap), AT, &insn));
	assert_false(code_insn_decode(EM_AARCH64, arm, 3, AT, &insn));
	assert_false(code_insn_decode(EM_AARCH64, arm, 4, AT + 2, &insn));
	assert_false(code_insn_decode(EM_386, bad, sizeof(bad), AT, &insn));
}

static const uint8_t moves_sp_x86[] = {
	0x50,                         /* push %rax */
	0x58,                         /* pop %rax */
	0x48, 0x83, 0xec, 0x08,       /* sub $0x8,%rsp */
	0x48, 0x8d, 0x64, 0x24, 0x08, /* lea 0x8(%rsp),%rsp */
	0x48, 0x89, 0xec,             /* mov %rbp,%rsp */
	0xc9,                         /* leave */
	0x48, 0x89, 0xe0,             /* mov %rsp,%rax */
	0x48, 0x94,                   /* xchg %rax,%rsp */
	0x48, 0x03, 0x20,             /* add (%rax),%rsp */
	0x9c,                         /* pushf */
};

static const uint8_t leaves_sp_x86[] = {
	0x48, 0x8b, 0x47, 0x10,       /* mov 0x10(%rdi),%rax */
	0x48, 0x89, 0xfb,             /* mov %rdi,%rbx */
	0x48, 0x83, 0xc0, 0x01,       /* add $0x1,%rax */
	0x0f, 0x10, 0x0e,             /* movups (%rsi),%xmm1 */
	0x85, 0xff,                   /* test %edi,%edi */
	0xb8, 0x05, 0x00, 0x00, 0x00, /* mov $0x5,%eax */
};

static const uint8_t moves_sp_arm[] = {
	0xff, 0x43, 0x00, 0xd1, /* sub sp, sp, */
	0xfd, 0x7b, 0xbf, 0xa9, /* stp x29, x30, [sp, */
	0xbf, 0x03, 0x00, 0x91, /* mov sp, x29 */
	0xe0, 0x07, 0x41, 0xf8, /* ldr x0, [sp], */
};

static const uint8_t leaves_sp_arm[] = {
	0x00, 0x08, 0x40, 0xf9, /* ldr x0, [x0, */
	0x20, 0x00, 0x02, 0x8b, /* add x0, x1, x2 */
};

static void what_may_change_the_stack_pointer_is_known(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 10; i++)
		assert_true(X86(moves_sp_x86, i).flags & CODE_TOUCHES_SP);
	for (unsigned int i = 0; i < 6; i++)
		assert_false(X86(leaves_sp_x86, i).flags & CODE_TOUCHES_SP);
	for (unsigned int i = 0; i < 4; i++)
		assert_true(ARM(moves_sp_arm, i).flags & CODE_TOUCHES_SP);
	for (unsigned int i = 0; i < 2; i++)
		assert_false(ARM(leaves_sp_arm, i).flags & CODE_TOUCHES_SP);
}

static const uint8_t exits_arm[] = {
	0xc0, 0x03, 0x5f, 0xd6, /* ret */
	0x20, 0x00, 0x5f, 0xd6, /* ret x1 */
	0xff, 0x0b, 0x5f, 0xd6, /* retaa */
	0xff, 0x0f, 0x5f, 0xd6, /* retab */
	0x40, 0x00, 0x00, 0x14, /* b 110 <+0x110> */
	0xff, 0xff, 0xff, 0x17, /* b 10 <+0x10> */
	0x00, 0x02, 0x1f, 0xd6, /* br x16 */
	0x22, 0x08, 0x1f, 0xd7, /* braa x1, x2 */
	0x3f, 0x0c, 0x1f, 0xd7, /* brab x1, sp */
	0x7f, 0x08, 0x1f, 0xd6, /* braaz x3 */
	0x7f, 0x0c, 0x1f, 0xd6, /* brabz x3 */
	0x20, 0x00, 0x20, 0xd4, /* brk */
	0x00, 0x00, 0x00, 0x00, /* udf */
};

static void every_way_to_leave_is_told_apart_on_aarch64(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 13; i++) {
		const struct code_insn insn = ARM(exits_arm, i);

		assert_int_equal(insn.flow, i < 4    ? CODE_RETURN
					    : i < 6  ? CODE_JUMP
					    : i < 11 ? CODE_JUMP_INDIRECT
						     : CODE_STOP);
		assert_true(code_insn_ends_block(&insn));
	}
	assert_int_equal(ARM(exits_arm, 4).target, AT + 16 + 0x100);
	assert_int_equal(ARM(exits_arm, 5).target, AT + 20 - 4);
}

static const uint8_t branches_arm[] = {
	0x01, 0x02, 0x00, 0x54, /* b.ne 40 <+0x40> */
	0xce, 0xff, 0xff, 0x54, /* b.al fffffffffffffffc <+0xfffffffffffffffc> */
	0x03, 0x01, 0x00, 0x34, /* cbz w3, 28 <+0x28> */
	0x03, 0xff, 0xff, 0xb5, /* cbnz x3, ffffffffffffffec <+0xffffffffffffffec> */
	0x84, 0x00, 0x18, 0x36, /* tbz w4, */
	0x84, 0xff, 0x0f, 0xb7, /* tbnz x4, */
	0x00, 0x04, 0x00, 0x94, /* bl 1018 <+0x1018> */
	0x60, 0x00, 0x3f, 0xd6, /* blr x3 */
	0x64, 0x08, 0x3f, 0xd7, /* blraa x3, x4 */
	0xbf, 0x08, 0x3f, 0xd6, /* blraaz x5 */
};

static void branches_and_calls_have_their_targets_on_aarch64(void **state)
{
	static const int64_t targets[] = { 0x40, -8, 0x20, -0x20, 0x10, -0x10, 0x1000 };

	(void)state;
	for (unsigned int i = 0; i < 10; i++) {
		const struct code_insn insn = ARM(branches_arm, i);

		assert_int_equal(insn.flow, i < 6    ? CODE_BRANCH
					    : i == 6 ? CODE_CALL
						     : CODE_CALL_INDIRECT);
		if (i < 7)
			assert_int_equal(insn.target, insn.address + (uint64_t)targets[i]);
	}
}

static const uint8_t operands_arm[] = {
	0x83, 0x00, 0x00, 0x30, /* adr x3, 11 <+0x11> */
	0x23, 0x00, 0x00, 0x90, /* adrp x3, 4000 <+0x4000> */
	0x03, 0x01, 0x00, 0x18, /* ldr w3, 28 <+0x28> */
	0x03, 0xff, 0xff, 0x58, /* ldr x3, ffffffffffffffec <+0xffffffffffffffec> */
	0x23, 0x01, 0x00, 0x98, /* ldrsw x3, 34 <+0x34> */
	0x03, 0x02, 0x00, 0x9c, /* ldr q3, 54 <+0x54> */
	0x40, 0x00, 0x00, 0xd8, /* prfm pldl1keep, 20 <+0x20> */
};

static void relative_operands_are_found_on_aarch64(void **state)
{
	static const int64_t offsets[] = { 0x11, 0, 0x20, -0x20, 0x24, 0x40, 8 };

	(void)state;
	for (unsigned int i = 0; i < 7; i++) {
		const struct code_insn insn = ARM(operands_arm, i);

		assert_true(insn.flags & CODE_PC_RELATIVE);
		assert_int_equal(!!(insn.flags & CODE_LOADS), i >= 2 && i < 6);
		if (i != 1)
			assert_int_equal(insn.operand, insn.address + (uint64_t)offsets[i]);
	}
	assert_int_equal(ARM(operands_arm, 1).operand, AT + 0x4000);
}

static const uint8_t kinds_arm[] = {
	0x1f, 0x20, 0x03, 0xd5, /* nop */
	0x5f, 0x24, 0x03, 0xd5, /* bti c */
	0x9f, 0x24, 0x03, 0xd5, /* bti j */
	0xdf, 0x24, 0x03, 0xd5, /* bti jc */
	0x3f, 0x23, 0x03, 0xd5, /* paciasp */
	0x7f, 0x23, 0x03, 0xd5, /* pacibsp */
	0x01, 0x00, 0x00, 0xd4, /* svc */
	0xbf, 0x23, 0x03, 0xd5, /* autiasp */
	0xdf, 0x3f, 0x03, 0xd5, /* isb */
	0xe0, 0x07, 0x40, 0xf9, /* ldr x0, [sp, */
	0xfd, 0x7b, 0xc1, 0xa8, /* ldp x29, x30, [sp], */
	0x20, 0x00, 0x40, 0xf9, /* ldr x0, [x1] */
	0xa0, 0x83, 0x5f, 0xf8, /* ldur x0, [x29, */
	0x20, 0x7c, 0x5f, 0xc8, /* ldxr x0, [x1] */
	0x20, 0x00, 0x02, 0x8b, /* add x0, x1, x2 */
	0x20, 0x28, 0x62, 0x1e, /* fadd d0, d1, d2 */
	0x60, 0x70, 0x40, 0x4c, /* ld1 {v0.16b}, [x3] */
};

static void landings_nops_and_what_must_stay_are_marked_on_aarch64(void **state)
{
	static const uint16_t flags[] = {
		CODE_NOP,
		CODE_LANDING,
		CODE_LANDING,
		CODE_LANDING,
		CODE_LANDING,
		CODE_LANDING,
		CODE_IMMOVABLE,
		0,
		0,
		0,
		0,
		CODE_MAY_FAULT,
		CODE_BY_FRAME,
		CODE_MAY_FAULT,
		0,
		0,
		CODE_MAY_FAULT,
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		assert_int_equal(ARM(kinds_arm, i).flags & ~CODE_TOUCHES_SP, flags[i]);
		assert_int_equal(ARM(kinds_arm, i).flow, CODE_NEXT);
	}
}

static void eret_and_transactions_are_odd_on_aarch64(void **state)
{
	static const uint8_t code[] = { 0xe0, 0x03, 0x9f, 0xd6,   /* eret */
					0x60, 0x30, 0x23, 0xd5 }; /* tstart x0 */

	(void)state;
	assert_int_equal(ARM(code, 0).flow, CODE_ODD);
	assert_int_equal(ARM(code, 1).flow, CODE_ODD);
	assert_true(ARM(code, 1).flags & CODE_IMMOVABLE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_way_to_leave_is_told_apart_on_x86),
		cmocka_unit_test(branches_and_calls_have_their_targets_on_x86),
		cmocka_unit_test(transfers_that_are_not_understood_are_odd_on_x86),
		cmocka_unit_test(
			relative_operands_mean_an_address_whatever_follows_the_displacement),
		cmocka_unit_test(only_frame_memory_counts_as_safe_from_faults),
		cmocka_unit_test(a_threads_own_block_is_safe_and_other_segments_are_not),
		cmocka_unit_test(memory_beyond_rbp_is_safe_only_if_rbp_is_a_frame_pointer),
		cmocka_unit_test(landings_nops_and_what_must_stay_are_marked_on_x86),
		cmocka_unit_test(bytes_that_are_no_instruction_are_refused),
		cmocka_unit_test(what_may_change_the_stack_pointer_is_known),
		cmocka_unit_test(every_way_to_leave_is_told_apart_on_aarch64),
		cmocka_unit_test(branches_and_calls_have_their_targets_on_aarch64),
		cmocka_unit_test(relative_operands_are_found_on_aarch64),
		cmocka_unit_test(landings_nops_and_what_must_stay_are_marked_on_aarch64),
		cmocka_unit_test(eret_and_transactions_are_odd_on_aarch64),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
