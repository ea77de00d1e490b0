/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Moved instructions: bit by bit, and on x86-64 also by running the original and the moved one on equal
 * registers, flags and memory. AArch64 code is run by tests/end_to_end/test_code_aarch64.py.
 */
#include "code/relocate.h"

#include <elf.h>
#include <string.h>
#include <sys/mman.h>

#include "support/test.h"

#define FROM UINT64_C(0x10000)
#define TO   UINT64_C(0x345670)

static struct code_insn decoded(uint16_t machine, const uint8_t *code, size_t size, uint64_t at)
{
	struct code_insn insn;

	assert_true(code_insn_decode(machine, code, size, at, &insn));
	return insn;
}

/* Moves the instruction from FROM to TO and compares. */
static void check(uint16_t machine, const uint8_t *code, size_t size, const uint8_t *want,
		  size_t n_want)
{
	uint8_t bytes[64];
	struct code_buffer buffer = { .bytes = bytes, .capacity = sizeof(bytes), .address = TO };
	const struct code_insn insn = decoded(machine, code, size, FROM);

	assert_int_equal(insn.length, size);
	code_relocate(machine, &insn, code, insn.target, &buffer);
	assert_true(code_buffer_good(&buffer));
	assert_int_equal(buffer.size, n_want);
	assert_memory_equal(bytes, want, n_want);
}

#define CHECK_X86(from, to) check(EM_X86_64, from, sizeof(from), to, sizeof(to))
#define CHECK_ARM(from, to) check(EM_AARCH64, from, sizeof(from), to, sizeof(to))

#define BYTES(...) ((const uint8_t[]){ __VA_ARGS__ })

static void put_u32(uint8_t *at, uint64_t value)
{
	for (int i = 0; i < 4; i++)
		at[i] = (uint8_t)(value >> 8 * i);
}

static void a_rip_relative_operand_keeps_its_address_also_before_an_immediate(void **state)
{
	/* cmpl $0x12345678,0x100(%rip); movb $9,0x100(%rip); movss 0x100(%rip),%xmm8;
	 * vaddps 0x100(%rip),%zmm1,%zmm17 */
	uint8_t cmp[] = { 0x81, 0x3d, 0, 1, 0, 0, 0x78, 0x56, 0x34, 0x12 }, cmp_to[10];
	uint8_t mov[] = { 0xc6, 0x05, 0, 1, 0, 0, 9 }, mov_to[7];
	uint8_t sse[] = { 0xf3, 0x44, 0x0f, 0x10, 0x05, 0, 1, 0, 0 }, sse_to[9];
	uint8_t evex[] = { 0x62, 0xe1, 0x74, 0x48, 0x58, 0x0d, 0, 1, 0, 0 }, evex_to[10];

	(void)state;
	memcpy(cmp_to, cmp, sizeof(cmp));
	put_u32(cmp_to + 2, FROM + 0x100 - TO);
	CHECK_X86(cmp, cmp_to);
	memcpy(mov_to, mov, sizeof(mov));
	put_u32(mov_to + 2, FROM + 0x100 - TO);
	CHECK_X86(mov, mov_to);
	memcpy(sse_to, sse, sizeof(sse));
	put_u32(sse_to + 5, FROM + 0x100 - TO);
	CHECK_X86(sse, sse_to);
	memcpy(evex_to, evex, sizeof(evex));
	put_u32(evex_to + 6, FROM + 0x100 - TO);
	CHECK_X86(evex, evex_to);
}

static void short_branches_take_their_long_form(void **state)
{
	uint8_t jump[] = { 0xeb, 0x10 }, jump_to[] = { 0xe9, 0, 0, 0, 0 };
	uint8_t jcc[] = { 0x78, 0xf0 }, jcc_to[] = { 0x0f, 0x88, 0, 0, 0, 0 };
	uint8_t far[] = { 0x0f, 0x8f, 0, 1, 0, 0 }, far_to[] = { 0x0f, 0x8f, 0, 0, 0, 0 };
	uint8_t loop[] = { 0xe2, 0x10 }, loop_to[] = { 0xe2, 2, 0xeb, 5, 0xe9, 0, 0, 0, 0 };
	uint8_t jecxz[] = { 0x67, 0xe3, 0x10 };
	uint8_t jecxz_to[] = { 0x67, 0xe3, 2, 0xeb, 5, 0xe9, 0, 0, 0, 0 };

	(void)state;
	put_u32(jump_to + 1, FROM + 2 + 0x10 - (TO + 5));
	CHECK_X86(jump, jump_to);
	put_u32(jcc_to + 2, FROM + 2 - 0x10 - (TO + 6));
	CHECK_X86(jcc, jcc_to);
	put_u32(far_to + 2, FROM + 6 + 0x100 - (TO + 6));
	CHECK_X86(far, far_to);
	put_u32(loop_to + 5, FROM + 2 + 0x10 - (TO + 9));
	CHECK_X86(loop, loop_to);
	put_u32(jecxz_to + 6, FROM + 3 + 0x10 - (TO + 10));
	CHECK_X86(jecxz, jecxz_to);
}

static void refused(uint16_t machine, const uint8_t *code, size_t size)
{
	uint8_t bytes[64];
	struct code_buffer buffer = { .bytes = bytes, .capacity = sizeof(bytes), .address = TO };
	const struct code_insn insn = decoded(machine, code, size, FROM);

	code_relocate(machine, &insn, code, insn.target, &buffer);
	assert_true(buffer.refused);
	assert_int_equal(buffer.size, 0);
}

static void calls_and_what_shows_its_address_are_never_moved(void **state)
{
	static const uint8_t call[] = { 0xe8, 0, 0, 0, 0 }, indirect[] = { 0xff, 0xd0 };
	static const uint8_t syscall[] = { 0x0f, 0x05 }, xbegin[] = { 0xc7, 0xf8, 0, 0, 0, 0 };
	static const uint8_t bl[] = { 0, 0, 0, 0x94 }, blr[] = { 0, 0, 0x3f, 0xd6 };
	static const uint8_t svc[] = { 1, 0, 0, 0xd4 }, prologue[] = { 0, 0x04, 0, 0x19 };

	(void)state;
	refused(EM_X86_64, call, sizeof(call));
	refused(EM_X86_64, indirect, sizeof(indirect));
	refused(EM_X86_64, syscall, sizeof(syscall));
	refused(EM_X86_64, xbegin, sizeof(xbegin));
	refused(EM_AARCH64, bl, sizeof(bl));
	refused(EM_AARCH64, blr, sizeof(blr));
	refused(EM_AARCH64, svc, sizeof(svc));
	refused(EM_AARCH64, prologue, sizeof(prologue)); /* cpyfp */
}

static void what_is_out_of_reach_is_said_so(void **state)
{
	static const uint8_t lea[] = { 0x48, 0x8d, 0x05, 0, 1, 0, 0 }, jump[] = { 0xeb, 0 };
	static const uint8_t b[] = { 1, 0, 0, 0x14 }, adr[] = { 0x23, 0, 0, 0x10 };
	static const struct {
		uint16_t machine;
		const uint8_t *code;
		size_t size;
		uint64_t distance; /* that is too far */
	} rows[] = {
		{ EM_X86_64, lea, sizeof(lea), UINT64_C(0x80000200) },
		{ EM_X86_64, jump, sizeof(jump), UINT64_C(0x80000200) },
		{ EM_AARCH64, b, sizeof(b), UINT64_C(0x8000100) },
		{ EM_AARCH64, adr, sizeof(adr), UINT64_C(0x100002000) },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct code_insn insn =
			decoded(rows[i].machine, rows[i].code, rows[i].size, FROM);

		for (int far = 0; far < 2; far++) {
			uint8_t bytes[64];
			struct code_buffer buffer = { .bytes = bytes,
						      .capacity = sizeof(bytes),
						      .address = FROM + rows[i].distance -
								 (far ? 0 : 0x4000) };

			code_relocate(rows[i].machine, &insn, rows[i].code, insn.target, &buffer);
			assert_int_equal(buffer.unreachable, far);
		}
	}
}

static void a_full_buffer_is_said_so_and_not_overrun(void **state)
{
	static const uint8_t jump[] = { 0xeb, 0 };
	const struct code_insn insn = decoded(EM_X86_64, jump, sizeof(jump), FROM);
	uint8_t bytes[5] = { 0, 0, 0, 0, 0x55 };
	struct code_buffer buffer = { .bytes = bytes, .capacity = 4, .address = TO };

	(void)state;
	code_relocate(EM_X86_64, &insn, jump, insn.target, &buffer);
	assert_true(buffer.full);
	assert_int_equal(bytes[4], 0x55);
}

static void put_word(uint8_t *at, uint32_t w)
{
	put_u32(at, w);
}

static void branches_of_aarch64_are_inverted_over_a_jump(void **state)
{
	const uint32_t b =
		0x14000000 | ((uint32_t)((int64_t)(FROM + 0x40 - (TO + 4)) >> 2) & 0x3ffffff);
	static const struct {
		uint32_t from, to;
	} rows[] = {
		{ 0x54000201, 0x54000040 }, /* b.ne -> b.eq .+8 */
		{ 0x5400020e, 0xd503201f }, /* b.al -> nop */
		{ 0x34000203, 0x35000043 }, /* cbz w3 -> cbnz w3 */
		{ 0xb5000203, 0xb4000043 }, /* cbnz x3 -> cbz x3 */
		{ 0x36180204, 0x37180044 }, /* tbz w4, #3 -> tbnz */
		{ 0xb7080204, 0xb6080044 }, /* tbnz x4, #33 -> tbz */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t from[4], to[8];

		put_word(from, rows[i].from);
		put_word(to, rows[i].to);
		put_word(to + 4, b);
		CHECK_ARM(from, to);
	}
}

static void addresses_of_aarch64_are_computed_anew(void **state)
{
	/* adr x3, FROM + 0x40 */
	static const uint8_t adr[] = { 0x03, 0x02, 0x00, 0x10 };
	static const uint8_t adrp[] = { 0x23, 0x00, 0x00, 0x90 }; /* adrp x3, FROM + 0x4000 */
	static const uint8_t zero[] = { 0x1f, 0x02, 0x00, 0x10 }; /* adr xzr */
	static const uint8_t nop[] = { 0x1f, 0x20, 0x03, 0xd5 };
	const int64_t pages = (int64_t)((FROM & ~UINT64_C(0xfff)) - (TO & ~UINT64_C(0xfff))) >> 12;
	const uint32_t page3 =
		0x90000003 | ((uint32_t)pages & 3) << 29 | ((uint32_t)pages >> 2 & 0x7ffff) << 5;
	const uint32_t page3_4 = 0x90000003 | ((uint32_t)(pages + 4) & 3) << 29 |
				 ((uint32_t)(pages + 4) >> 2 & 0x7ffff) << 5;
	uint8_t to[8];

	(void)state;
	put_word(to, page3);
	put_word(to + 4, 0x91010063); /* add x3, x3, #0x40 */
	CHECK_ARM(adr, to);
	put_word(to, page3_4);
	check(EM_AARCH64, adrp, sizeof(adrp), to, 4);
	CHECK_ARM(zero, nop);
}

static void literals_of_aarch64_are_loaded_from_where_they_are(void **state)
{
	const int64_t pages = (int64_t)((FROM & ~UINT64_C(0xfff)) - (TO & ~UINT64_C(0xfff))) >> 12;
	const uint32_t page =
		0x90000000 | ((uint32_t)pages & 3) << 29 | ((uint32_t)pages >> 2 & 0x7ffff) << 5;
	static const struct {
		uint32_t from, load;
	} rows[] = {
		{ 0x18000203, 0xb9400063 }, /* ldr w3 */
		{ 0x58000203, 0xf9400063 }, /* ldr x3 */
		{ 0x98000203, 0xb9800063 }, /* ldrsw x3 */
	};
	uint8_t from[4], to[20];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		put_word(from, rows[i].from);
		put_word(to, page | 3);
		put_word(to + 4, 0x91010063);
		put_word(to + 8, rows[i].load);
		check(EM_AARCH64, from, 4, to, 12);
	}
	put_word(from, 0x9c000203); /* ldr q3 */
	put_word(to, 0xf81f0ff0);   /* str x16, [sp, #-16]! */
	{
		const int64_t next =
			(int64_t)((FROM & ~UINT64_C(0xfff)) - ((TO + 4) & ~UINT64_C(0xfff))) >> 12;

		assert_int_equal(next, pages);
	}
	put_word(to + 4, page | 16);
	put_word(to + 8, 0x91010210);  /* add x16, x16, #0x40 */
	put_word(to + 12, 0x3dc00203); /* ldr q3, [x16] */
	put_word(to + 16, 0xf84107f0); /* ldr x16, [sp], #16 */
	check(EM_AARCH64, from, 4, to, 20);
}

static void the_target_of_an_indirect_jump_is_loaded_into_any_register(void **state)
{
	static const struct {
		const char *what;
		uint8_t from[8];
		uint8_t size;
		uint8_t reg;
		int32_t sp_offset;
		uint8_t to[12];
		uint8_t n_to;
	} rows[] = {
		{ "jmp *%rax to rdx", { 0xff, 0xe0 }, 2, 2, 0, { 0x48, 0x8b, 0xd0 }, 3 },
		{ "notrack jmp *%r11 to rax",
		  { 0x3e, 0x41, 0xff, 0xe3 },
		  4,
		  0,
		  0,
		  { 0x49, 0x8b, 0xc3 },
		  3 },
		{ "jmp *0x18(%rax) to r10",
		  { 0xff, 0x60, 0x18 },
		  3,
		  10,
		  0,
		  { 0x4c, 0x8b, 0x50, 0x18 },
		  4 },
		{ "jmp *(%rax,%r9,8) to rcx",
		  { 0x42, 0xff, 0x24, 0xc8 },
		  4,
		  1,
		  0,
		  { 0x4a, 0x8b, 0x0c, 0xc8 },
		  4 },
		{ "jmp *%fs:0x10 to rax",
		  { 0x64, 0xff, 0x24, 0x25, 0x10, 0, 0, 0 },
		  8,
		  0,
		  0,
		  { 0x64, 0x48, 0x8b, 0x04, 0x25, 0x10, 0, 0, 0 },
		  9 },
		{ "jmp *8(%rsp) to rax, pushed 144",
		  { 0xff, 0x64, 0x24, 8 },
		  4,
		  0,
		  144,
		  { 0x48, 0x8b, 0x84, 0x24, 152, 0, 0, 0 },
		  8 },
		{ "jmp *0x100(%rip) to rax",
		  { 0xff, 0x25, 0, 1, 0, 0 },
		  6,
		  0,
		  0,
		  { 0x48, 0x8b, 0x05, 0xff, 0xaa, 0xcc, 0xff },
		  7 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct code_insn insn = decoded(EM_X86_64, rows[i].from, rows[i].size, FROM);
		uint8_t bytes[32];
		struct code_buffer buffer = { .bytes = bytes,
					      .capacity = sizeof(bytes),
					      .address = TO };

		assert_true(code_target_load_append(EM_X86_64, &insn, rows[i].from, rows[i].reg,
						    rows[i].sp_offset, &buffer));
		if (insn.flags & CODE_PC_RELATIVE) {
			assert_int_equal(buffer.size, rows[i].n_to);
			assert_memory_equal(bytes, rows[i].to, 3);
			assert_int_equal((uint32_t)bytes[3] | (uint32_t)bytes[4] << 8 |
						 (uint32_t)bytes[5] << 16 |
						 (uint32_t)bytes[6] << 24,
					 (uint32_t)(FROM + 6 + 0x100 - (TO + 7)));
			continue;
		}
		assert_int_equal(buffer.size, rows[i].n_to);
		assert_memory_equal(bytes, rows[i].to, rows[i].n_to);
	}
}

static void a_signed_target_of_aarch64_is_stripped(void **state)
{
	static const uint8_t br[] = { 0x20, 0x02, 0x1f, 0xd6 };   /* br x17 */
	static const uint8_t braa[] = { 0x22, 0x08, 0x1f, 0xd7 }; /* braa x1, x2 */
	struct code_insn insn = decoded(EM_AARCH64, br, 4, FROM);
	uint8_t bytes[32], want[8];
	struct code_buffer buffer = { .bytes = bytes, .capacity = sizeof(bytes), .address = TO };

	(void)state;
	assert_true(code_target_load_append(EM_AARCH64, &insn, br, 9, 0, &buffer));
	put_word(want, 0xaa1103e9); /* mov x9, x17 */
	assert_int_equal(buffer.size, 4);
	assert_memory_equal(bytes, want, 4);
	buffer.size = 0;
	insn = decoded(EM_AARCH64, braa, 4, FROM);
	assert_true(code_target_load_append(EM_AARCH64, &insn, braa, 9, 0, &buffer));
	put_word(want, 0xaa0103e9);     /* mov x9, x1 */
	put_word(want + 4, 0xdac143e9); /* xpaci x9 */
	assert_int_equal(buffer.size, 8);
	assert_memory_equal(bytes, want, 8);
}

#ifdef __x86_64__

struct registers {
	uint64_t value[15]; /* rax rbx rcx rdx rsi rdi rbp r8-r15 */
	uint64_t flags;
};

/* run_at(code, registers): loads them all, calls the code, stores them all. */
void run_at(const void *code, struct registers *registers);
__asm__(".text\n"
	"run_at:\n"
	"	push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n"
	"	push %rsi; push %rdi\n"
	"	push 120(%rsi); popf\n"
	"	mov 0(%rsi),%rax; mov 8(%rsi),%rbx; mov 16(%rsi),%rcx; mov 24(%rsi),%rdx\n"
	"	mov 40(%rsi),%rdi; mov 48(%rsi),%rbp; mov 56(%rsi),%r8; mov 64(%rsi),%r9\n"
	"	mov 72(%rsi),%r10; mov 80(%rsi),%r11; mov 88(%rsi),%r12; mov 96(%rsi),%r13\n"
	"	mov 104(%rsi),%r14; mov 112(%rsi),%r15; mov 32(%rsi),%rsi\n"
	"	call *(%rsp)\n"
	"	push %rsi; mov 16(%rsp),%rsi\n"
	"	mov %rax,0(%rsi); mov %rbx,8(%rsi); mov %rcx,16(%rsi); mov %rdx,24(%rsi)\n"
	"	pop 32(%rsi); pushf; pop 120(%rsi)\n"
	"	mov %rdi,40(%rsi); mov %rbp,48(%rsi); mov %r8,56(%rsi); mov %r9,64(%rsi)\n"
	"	mov %r10,72(%rsi); mov %r11,80(%rsi); mov %r12,88(%rsi); mov %r13,96(%rsi)\n"
	"	mov %r14,104(%rsi); mov %r15,112(%rsi)\n"
	"	cld; pop %rdi; pop %rsi\n"
	"	pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx; ret\n");

static const uint8_t zoo[] = {
	0x48, 0x8d, 0x05, 0x00, 0x07, 0x00, 0x00, /* lea 0x700(%rip),%rax */
	0x4c, 0x8b, 0x0d, 0x00, 0x07, 0x00, 0x00, /* mov 0x700(%rip),%r9 */
	0x81, 0x3d, 0x00, 0x07, 0x00, 0x00, 0x78, 0x56,
	0x34, 0x12,                                     /* cmpl $0x12345678,0x700(%rip) */
	0xc6, 0x05, 0x00, 0x07, 0x00, 0x00, 0x09,       /* movb $0x9,0x700(%rip) */
	0x48, 0x83, 0x05, 0x00, 0x07, 0x00, 0x00, 0xfb, /* addq $0xfffffffffffffffb,0x700(%rip) */
	0x48, 0x0f, 0xb1, 0x0d, 0x00, 0x07, 0x00, 0x00, /* cmpxchg %rcx,0x700(%rip) */
	0x69, 0x15, 0x00, 0x07, 0x00, 0x00, 0x34, 0x12,
	0x00, 0x00,                                     /* imul $0x1234,0x700(%rip),%edx */
	0xf3, 0x0f, 0x6f, 0x1d, 0x00, 0x07, 0x00, 0x00, /* movdqu 0x700(%rip),%xmm3 */
	0x48, 0x0f, 0xc1, 0x05, 0x00, 0x07, 0x00, 0x00, /* xadd %rax,0x700(%rip) */
	0x0f, 0xab, 0xc8,                               /* bts %ecx,%eax */
	0x78, 0x3e,                                     /* js 0x8c */
	0x70, 0x3e,                                     /* jo 0x8e */
	0x76, 0x3e,                                     /* jbe 0x90 */
	0x7a, 0x3e,                                     /* jp 0x92 */
	0x7d, 0x3e,                                     /* jge 0x94 */
	0x0f, 0x8e, 0x40, 0x00, 0x00, 0x00,             /* jle 0x9c */
	0xe2, 0x3e,                                     /* loop 0x9c */
	0xe1, 0x3e,                                     /* loope 0x9e */
	0xe0, 0x3e,                                     /* loopne 0xa0 */
	0xe3, 0x3e,                                     /* jrcxz 0xa2 */
	0x67, 0xe3, 0x3d,                               /* jecxz 0xa4 */
	0xeb, 0x3e,                                     /* jmp 0xa7 */
	0x53,                                           /* push %rbx */
	0x48, 0xf7, 0xe1,                               /* mul %rcx */
	0x48, 0x11, 0xc3,                               /* adc %rax,%rbx */
	0x48, 0xd1, 0xd2,                               /* rcl %rdx */
	0x0f, 0x94, 0xc0,                               /* sete %al */
	0x48, 0x0f, 0x4f, 0xfe,                         /* cmovg %rsi,%rdi */
	0x31, 0xc0,                                     /* xor %eax,%eax */
	0xf9,                                           /* stc */
	0x90,                                           /* nop */
	0x49, 0x0f, 0xcb,                               /* bswap %r11 */
	0x49, 0xd3, 0xc4,                               /* rol %cl,%r12 */
	0x48, 0x0f, 0xa4, 0xc3, 0x03,                   /* shld $0x3,%rax,%rbx */
	0xf3, 0x48, 0x0f, 0xb8, 0xd8,                   /* popcnt %rax,%rbx */
	0xc4, 0xe2, 0xf8, 0xf5, 0xcb,                   /* bzhi %rax,%rbx,%rcx */
	0x48, 0x8b, 0x03,                               /* mov (%rbx),%rax */
	0x48, 0x87, 0x03,                               /* xchg %rax,(%rbx) */
	0xc9,                                           /* leave */
};

static uint64_t random_next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed ^ *seed >> 29;
}

#define PAGE  4096u
#define PLACE 0x100u /* of the instruction in its page */
#define MARK  0x700u
#define TAKEN 0x40u

/* original page: the instruction, then  mov $2,%r15d; ret  and, TAKEN bytes on,  mov $1,%r15d; ret */
static void page_fill(uint8_t *page, const uint8_t *code, size_t size)
{
	static const uint8_t not_taken[] = { 0x41, 0xbf, 2, 0, 0, 0, 0xc3 };
	static const uint8_t taken[] = { 0x41, 0xbf, 1, 0, 0, 0, 0xc3 };

	memset(page, 0xcc, PAGE);
	memcpy(page + PLACE, code, size);
	memcpy(page + PLACE + size, not_taken, sizeof(not_taken));
	for (size_t i = 0; i <= 6; i++) /* the branch counts from its own start or its end */
		page[PLACE + TAKEN + i] = 0x90;
	memcpy(page + PLACE + TAKEN + 7, taken, sizeof(taken));
}

static void data_fill(uint8_t *page, uint64_t seed)
{
	for (size_t i = MARK; i < PAGE; i++)
		page[i] = (uint8_t)random_next(&seed);
}

/* Stack instructions change what ret finds: they are followed by their opposite. */
static bool is_stack(const uint8_t *code)
{
	return code[0] == 0x53 || code[0] == 0xc9;
}

static void runs_alike(uint8_t *page, const uint8_t *code, size_t size, uint64_t seed)
{
	uint8_t *moved = page + 16 * PAGE;
	struct code_buffer buffer = { .bytes = moved,
				      .capacity = 64,
				      .address = (uint64_t)(uintptr_t)moved };
	struct registers original, copy;
	struct code_insn insn;
	uint8_t after[PAGE];

	page_fill(page, code, size);
	insn = decoded(EM_X86_64, code, size, (uint64_t)(uintptr_t)page + PLACE);
	code_relocate(EM_X86_64, &insn, code, insn.target, &buffer);
	code_jump_append(EM_X86_64, code_insn_end(&insn), &buffer);
	assert_true(code_buffer_good(&buffer));
	for (int i = 0; i < 15; i++)
		original.value[i] = random_next(&seed);
	original.value[1] = (uint64_t)(uintptr_t)page + 0xc00;
	if (random_next(&seed) % 2)
		original.value[2] &= 1;
	original.flags = 0x202 | (random_next(&seed) & 0x8d5);
	copy = original;
	data_fill(page, seed);
	run_at(page + PLACE, &original);
	memcpy(after, page, PAGE);
	data_fill(page, seed);
	run_at(moved, &copy);
	assert_memory_equal(&original, &copy, sizeof(original));
	assert_memory_equal(after, page, PAGE);
}

#endif

static void moved_x86_code_does_what_the_original_does(void **state)
{
#ifdef __x86_64__
	uint8_t *page = mmap(NULL, 32 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	if (page == MAP_FAILED)
		SKIP("no memory that is writable and executable");
	for (size_t at = 0; at < sizeof(zoo);) {
		struct code_insn insn = decoded(EM_X86_64, zoo + at, sizeof(zoo) - at, FROM);

		for (uint64_t seed = 1; seed <= 200 && !is_stack(zoo + at); seed++)
			runs_alike(page, zoo + at, insn.length, seed * 977 + at);
		at += insn.length;
	}
	munmap(page, 32 * PAGE);
#else
	(void)state;
	SKIP("this machine does not run x86-64 code");
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rip_relative_operand_keeps_its_address_also_before_an_immediate),
		cmocka_unit_test(short_branches_take_their_long_form),
		cmocka_unit_test(calls_and_what_shows_its_address_are_never_moved),
		cmocka_unit_test(what_is_out_of_reach_is_said_so),
		cmocka_unit_test(a_full_buffer_is_said_so_and_not_overrun),
		cmocka_unit_test(branches_of_aarch64_are_inverted_over_a_jump),
		cmocka_unit_test(addresses_of_aarch64_are_computed_anew),
		cmocka_unit_test(literals_of_aarch64_are_loaded_from_where_they_are),
		cmocka_unit_test(the_target_of_an_indirect_jump_is_loaded_into_any_register),
		cmocka_unit_test(a_signed_target_of_aarch64_is_stripped),
		cmocka_unit_test(moved_x86_code_does_what_the_original_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
