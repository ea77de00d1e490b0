/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Runs on AArch64: each instruction of a list is executed where it stands and, moved by src/code, elsewhere, on the same
 * random registers, flags and memory. Prints how many runs agreed, or the first that did not.
 *
 * Built by tests/end_to_end/test_code_aarch64.py, which runs it natively or under qemu-user.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "code/relocate.h"

#define PAGE   4096u
#define PLACE  0x100u /* of the instruction in its page */
#define TAKEN  0x40u
#define MEMORY 0x800u
#define ROUNDS 300u

struct registers {
	uint64_t x[16];   /* x0-x15 */
	uint64_t q[8][2]; /* q0-q7 */
	uint64_t flags;
};

/* run_at(code, registers): x0-x15, q0-q7 and flags are loaded, code is called, all are stored. */
void run_at(const void *code, struct registers *registers);
__asm__(".text\n"
	"run_at:\n"
	"	stp x29, x30, [sp, #-32]!\n"
	"	stp x19, x20, [sp, #16]\n"
	"	mov x19, x1; mov x20, x0\n"
	"	ldr x0, [x19, #256]; msr nzcv, x0\n"
	"	add x1, x19, #128\n"
	"	ldp q0, q1, [x1]; ldp q2, q3, [x1, #32]; ldp q4, q5, [x1, #64]; ldp q6, q7, [x1, "
	"#96]\n"
	"	ldp x0, x1, [x19]; ldp x2, x3, [x19, #16]; ldp x4, x5, [x19, #32]\n"
	"	ldp x6, x7, [x19, #48]; ldp x8, x9, [x19, #64]; ldp x10, x11, [x19, #80]\n"
	"	ldp x12, x13, [x19, #96]; ldp x14, x15, [x19, #112]\n"
	"	blr x20\n"
	"	stp x0, x1, [x19]; stp x2, x3, [x19, #16]; stp x4, x5, [x19, #32]\n"
	"	stp x6, x7, [x19, #48]; stp x8, x9, [x19, #64]; stp x10, x11, [x19, #80]\n"
	"	stp x12, x13, [x19, #96]; stp x14, x15, [x19, #112]\n"
	"	add x1, x19, #128\n"
	"	stp q0, q1, [x1]; stp q2, q3, [x1, #32]; stp q4, q5, [x1, #64]; stp q6, q7, [x1, "
	"#96]\n"
	"	mrs x0, nzcv; str x0, [x19, #256]\n"
	"	ldp x19, x20, [sp, #16]\n"
	"	ldp x29, x30, [sp], #32\n"
	"	ret\n");

static const uint32_t words[] = {
	0x100003e3, /* adr x3, .+0x7c */
	0x70004003, /* adr x3, .+0x803 */
	0x90000023, /* adrp x3, .+0x4000 */
	0xb0000003, /* adrp x3, .+0x1000 */
	0x18003803, /* ldr w3, .+0x700 */
	0x58003803, /* ldr x3, .+0x700 */
	0x98003803, /* ldrsw x3, .+0x700 */
	0x1c003803, /* ldr s3, .+0x700 */
	0x5c003803, /* ldr d3, .+0x700 */
	0x9c003803, /* ldr q3, .+0x700 */
	0xd8003801, /* prfm pldl1strm, .+0x700 */
	0x14000010, /* b .+0x40 */
	0x54000200, /* b.eq .+0x40 */
	0x54000201, /* b.ne */
	0x54000202, /* b.cs */
	0x54000204, /* b.mi */
	0x54000206, /* b.vs */
	0x54000208, /* b.hi */
	0x5400020a, /* b.ge */
	0x5400020c, /* b.gt */
	0x5400020d, /* b.le */
	0x5400020e, /* b.al */
	0x5400020f, /* b.nv */
	0x34000203, /* cbz w3 */
	0xb4000203, /* cbz x3 */
	0x35000203, /* cbnz w3 */
	0xb5000203, /* cbnz x3 */
	0x36000203, /* tbz w3, #0 */
	0x37180203, /* tbnz w3, #3 */
	0xb6080203, /* tbz x3, #33 */
	0xb7f80203, /* tbnz x3, #63 */
	0x8b020020, /* add x0, x1, x2 */
	0xeb02003f, /* cmp x1, x2 */
	0x9b027c20, /* mul x0, x1, x2 */
	0x1e622820, /* fadd d0, d1, d2 */
	0x4ea21c20, /* mov v0.16b, v2.16b (orr) */
	0xd503201f, /* nop */
};

static uint64_t random_next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed ^ *seed >> 29;
}

static void put(uint8_t *at, uint32_t w)
{
	memcpy(at, &w, sizeof(w));
}

/* The instruction, then mov w15, #2; ret, and TAKEN bytes on mov w15, #1; ret. */
static void page_fill(uint8_t *page, uint32_t w, uint64_t seed)
{
	for (unsigned int i = 0; i < PAGE; i += 4)
		put(page + i, i < MEMORY ? 0 : (uint32_t)random_next(&seed));
	put(page + PLACE, w);
	put(page + PLACE + 4, 0x5280004f);
	put(page + PLACE + 8, 0xd65f03c0);
	put(page + PLACE + TAKEN, 0x5280002f);
	put(page + PLACE + TAKEN + 4, 0xd65f03c0);
}

static void registers_fill(struct registers *registers, uint64_t seed)
{
	for (int i = 0; i < 16; i++)
		registers->x[i] = random_next(&seed);
	if (random_next(&seed) % 3 == 0)
		registers->x[3] = 0;
	for (int i = 0; i < 8; i++)
		for (int j = 0; j < 2; j++)
			registers->q[i][j] = random_next(&seed) & 0x3fefffffffffffff;
	registers->flags = random_next(&seed) & 0xf0000000;
}

static int runs_alike(uint8_t *page, uint32_t w, uint64_t seed)
{
	uint8_t *moved = page + 64 * PAGE, after[PAGE];
	struct code_buffer buffer = { .bytes = moved,
				      .capacity = 64,
				      .address = (uint64_t)(uintptr_t)moved };
	struct registers original, copy;
	struct code_insn insn;

	page_fill(page, w, seed);
	if (!code_insn_decode_aarch64(page + PLACE, 4, (uint64_t)(uintptr_t)page + PLACE, &insn))
		return 0;
	code_relocate_aarch64(&insn, page + PLACE, insn.target, &buffer);
	code_jump_append_aarch64(code_insn_end(&insn), &buffer);
	if (!code_buffer_good(&buffer))
		return 0;
	__builtin___clear_cache((char *)page, (char *)moved + PAGE);
	registers_fill(&original, seed);
	copy = original;
	run_at(page + PLACE, &original);
	memcpy(after, page, PAGE);
	page_fill(page, w, seed);
	run_at(moved, &copy);
	return !memcmp(&original, &copy, sizeof(original)) && !memcmp(after, page, PAGE);
}

int main(void)
{
	uint8_t *page = mmap(NULL, 128 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned long runs = 0;

	if (page == MAP_FAILED)
		return 2;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		for (uint64_t seed = 1; seed <= ROUNDS; seed++, runs++)
			if (!runs_alike(page, words[i], seed * 7919 + i)) {
				printf("%08x differs with seed %lu\n", (unsigned int)words[i],
				       (unsigned long)seed);
				return 1;
			}
	}
	printf("%lu runs agree\n", runs);
	return 0;
}
