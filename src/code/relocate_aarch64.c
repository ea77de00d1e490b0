/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * AArch64: addresses relative to the pc, branches, and the load of an indirect jump's target. Encodings:
 * Arm Architecture Reference Manual (DDI 0487), chapter C6.
 *
 * A vector register cannot hold an address, so that a literal loaded into one borrows x16, kept on the
 * stack: AAPCS64 leaves what is below sp to anybody.
 */
#include "code/relocate.h"

#define NOP       0xd503201fu
#define X16       16u
#define ZERO_REG  31u
#define PAGE_MASK UINT64_C(0xfff)

static void word_append(struct code_buffer *buffer, uint32_t w)
{
	const uint8_t bytes[] = { (uint8_t)w, (uint8_t)(w >> 8), (uint8_t)(w >> 16),
				  (uint8_t)(w >> 24) };

	code_buffer_append(buffer, bytes, sizeof(bytes));
}

static uint32_t word_of(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
}

void code_jump_append_aarch64(uint64_t target, struct code_buffer *buffer)
{
	const int64_t distance = (int64_t)(target - code_buffer_here(buffer));

	if (distance % 4 || distance < -(INT64_C(1) << 27) || distance >= INT64_C(1) << 27)
		buffer->unreachable = true;
	word_append(buffer, 0x14000000u | ((uint32_t)(distance >> 2) & 0x3ffffffu));
}

/* adrp reg, target; its low 12 bits are left to the next instruction. */
static void page_append(struct code_buffer *buffer, unsigned int reg, uint64_t target)
{
	const uint64_t here = code_buffer_here(buffer);
	const int64_t pages = (int64_t)((target & ~PAGE_MASK) - (here & ~PAGE_MASK)) >> 12;
	const uint32_t field = (uint32_t)pages & 0x1fffffu;

	if (pages < -(INT64_C(1) << 20) || pages >= INT64_C(1) << 20)
		buffer->unreachable = true;
	word_append(buffer, 0x90000000u | (field & 3) << 29 | field >> 2 << 5 | reg);
}

/* adrp reg; add reg, reg, #low: the address of `target` */
static void address_append(struct code_buffer *buffer, unsigned int reg, uint64_t target)
{
	page_append(buffer, reg, target);
	word_append(buffer, 0x91000000u | (uint32_t)(target & PAGE_MASK) << 10 | reg << 5 | reg);
}

static void literal_append(uint32_t w, uint64_t operand, struct code_buffer *buffer)
{
	/* ldr w, x; ldrsw; ldr s, d, q from [xn] */
	static const uint32_t general[] = { 0xb9400000, 0xf9400000, 0xb9800000 };
	static const uint32_t vector[] = { 0xbd400000, 0xfd400000, 0x3dc00000 };
	const unsigned int reg = w & 31, size = w >> 30;

	if (size == 3) { /* prfm: a hint; in the vector form not allocated */
		if (w >> 26 & 1)
			buffer->refused = true;
		word_append(buffer, NOP);
	} else if (w >> 26 & 1) {
		word_append(buffer, 0xf81f0ff0); /* str x16, [sp, #-16]! */
		address_append(buffer, X16, operand);
		word_append(buffer, vector[size] | X16 << 5 | reg);
		word_append(buffer, 0xf84107f0); /* ldr x16, [sp], #16 */
	} else if (reg == ZERO_REG) {
		word_append(buffer, NOP);
	} else {
		address_append(buffer, reg, operand);
		word_append(buffer, general[size] | reg << 5 | reg);
	}
}

static void operand_append(const struct code_insn *insn, uint32_t w, struct code_buffer *buffer)
{
	const unsigned int reg = w & 31;

	if ((w & 0x1f000000) != 0x10000000)
		literal_append(w, insn->operand, buffer);
	else if (reg == ZERO_REG)
		word_append(buffer, NOP);
	else if (w >> 31)
		page_append(buffer, reg, insn->operand);
	else
		address_append(buffer, reg, insn->operand);
}

/* Inverted over a jump. b.al and b.nv are always taken: cond ^ 1 would never be. */
static void branch_append(uint32_t w, uint64_t target, struct code_buffer *buffer)
{
	const bool by_flags = w >> 24 == 0x54;

	if (by_flags && (w & 14) == 14)
		word_append(buffer, NOP);
	else if (by_flags)
		word_append(buffer, ((w & 0xff00001f) ^ 1) | 2 << 5);
	else if ((w & 0x7e000000) == 0x34000000) /* cbz, cbnz */
		word_append(buffer, ((w & 0xff00001f) ^ 0x01000000) | 2 << 5);
	else /* tbz, tbnz */
		word_append(buffer, ((w & 0xfff8001f) ^ 0x01000000) | 2 << 5);
	code_jump_append_aarch64(target, buffer);
}

void code_relocate_aarch64(const struct code_insn *insn, const uint8_t *bytes, uint64_t target,
			   struct code_buffer *buffer)
{
	const uint32_t w = word_of(bytes);

	if (insn->flow == CODE_JUMP)
		code_jump_append_aarch64(target, buffer);
	else if (insn->flow == CODE_BRANCH)
		branch_append(w, target, buffer);
	else if (insn->flags & CODE_PC_RELATIVE)
		operand_append(insn, w, buffer);
	else
		word_append(buffer, w);
}

/* mov reg, xn; and xpaci reg for a signed pointer (braa and its like). */
bool code_target_load_append_aarch64(const struct code_insn *insn, const uint8_t *bytes,
				     unsigned int reg, struct code_buffer *buffer)
{
	const uint32_t w = word_of(bytes);
	const unsigned int from = w >> 5 & 31;

	if (insn->flow != CODE_JUMP_INDIRECT || reg > 30 || from == ZERO_REG)
		return false;
	word_append(buffer, 0xaa0003e0u | from << 16 | reg);
	if ((w & 0x800) != 0)
		word_append(buffer, 0xdac143e0u | reg);
	return true;
}
