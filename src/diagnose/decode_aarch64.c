/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * AArch64, by opcode bits. Sources: Arm Architecture Reference Manual for A-profile (DDI 0487), C4.1.
 *
 *	BL	100101 imm26		BLR	1101011 0 0 01 11111 0000 x x Rn xxxxx
 *	B	000101 imm26		RET	1101011 0 0 10 11111 0000 x x Rn xxxxx
 *	B.cond	01010100 imm19 x cond	CBZ	x 011010 x imm19 Rt	TBZ	x 011011 x b40 imm14 Rt
 */
#include <string.h>

#include "diagnose/decode.h"

struct form {
	uint32_t mask, bits;
	const char *name;
};

/* Divisions, square roots, barriers, exclusives and atomics, system registers, traps. */
static const struct form slow_forms[] = {
	{ 0x7fe0f800, 0x1ac00800, "div" },       /* UDIV, SDIV */
	{ 0xff20fc00, 0x1e201800, "fdiv" },      /* FDIV scalar */
	{ 0xbfa0fc00, 0x2e20fc00, "fdiv" },      /* FDIV vector */
	{ 0xff3ffc00, 0x1e21c000, "fsqrt" },     /* FSQRT scalar */
	{ 0xbfbffc00, 0x2ea1f800, "fsqrt" },     /* FSQRT vector */
	{ 0xfffff0ff, 0xd50330bf, "barrier" },   /* DMB */
	{ 0xfffff0ff, 0xd503309f, "barrier" },   /* DSB */
	{ 0xfffff0ff, 0xd50330df, "barrier" },   /* ISB */
	{ 0x3f800000, 0x08000000, "exclusive" }, /* LDXR, STXR, LDAXR, STLXR ... */
	{ 0x3fa00000, 0x08a00000, "atomic" },    /* CAS */
	{ 0x3f200c00, 0x38200000, "atomic" },    /* LDADD, SWP ... (LSE) */
	{ 0xfffff000, 0xd53be000, "counter" },   /* MRS of the generic timer */
	{ 0xfffff000, 0xd53b9000, "counter" },   /* MRS of the PMU */
	{ 0xffe0001f, 0xd4000001, "svc" },       /* supervisor call */
	{ 0xffffffff, 0xd503203f, "yield" },     /* YIELD */
	{ 0xffffffff, 0xd503205f, "wait" },      /* WFE */
};

/* A signed field of `bits` bits at `at`, in words. */
static int64_t word_offset(uint32_t word, unsigned int at, unsigned int bits)
{
	const uint64_t field = word >> at & ((1u << bits) - 1);

	return (int64_t)(field << (64 - bits)) >> (62 - bits);
}

static void branch_decode(uint32_t word, struct instruction *instruction)
{
	if ((word & 0xfc000000) == 0x94000000) {
		instruction->kinds = DECODE_CALL;
		instruction->target = instruction->address + (uint64_t)word_offset(word, 0, 26);
	} else if ((word & 0xfc000000) == 0x14000000) {
		instruction->kinds = DECODE_JUMP;
		instruction->target = instruction->address + (uint64_t)word_offset(word, 0, 26);
	} else if ((word & 0xfffff000) == 0xd63f0000) {
		instruction->kinds = DECODE_CALL;
	} else if ((word & 0xfffff000) == 0xd65f0000) {
		instruction->kinds = DECODE_RETURN;
	} else if ((word & 0xfffff000) == 0xd61f0000) {
		instruction->kinds = DECODE_JUMP;
	} else if ((word & 0xff000000) == 0x54000000 || (word & 0x7e000000) == 0x34000000) {
		instruction->kinds = DECODE_BRANCH;
		instruction->target = instruction->address + (uint64_t)word_offset(word, 5, 19);
	} else if ((word & 0x7e000000) == 0x36000000) {
		instruction->kinds = DECODE_BRANCH;
		instruction->target = instruction->address + (uint64_t)word_offset(word, 5, 14);
	}
}

bool decode_aarch64(const uint8_t *code, size_t size, uint64_t address,
		    struct instruction *instruction)
{
	uint32_t word;

	if (size < 4)
		return false;
	/* instructions are little-endian whatever the data is */
	word = code[0] | (uint32_t)code[1] << 8 | (uint32_t)code[2] << 16 | (uint32_t)code[3] << 24;
	*instruction = (struct instruction){ .address = address, .length = 4 };
	branch_decode(word, instruction);
	for (size_t i = 0; i < sizeof(slow_forms) / sizeof(slow_forms[0]) && !instruction->slow;
	     i++)
		if ((word & slow_forms[i].mask) == slow_forms[i].bits) {
			instruction->kinds |= DECODE_SLOW;
			instruction->slow = slow_forms[i].name;
		}
	return true;
}
