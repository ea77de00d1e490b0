/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * AArch64, by opcode bits: Arm Architecture Reference Manual (DDI 0487), chapter C4, "A64 instruction set
 * encoding". Only control flow, addresses relative to the pc and memory bases are told apart; all other
 * allocated instructions are copied when moved.
 */
#include "code/insn.h"

static uint64_t displaced(uint64_t address, uint32_t field, unsigned int bits, unsigned int scale)
{
	const uint64_t sign = UINT64_C(1) << (bits - 1);

	return address + ((((uint64_t)field ^ sign) - sign) << scale);
}

/* "Branches, exception generating and system instructions": unconditional branch (register). */
static enum code_flow register_flow(uint32_t w)
{
	if ((w & 0xfffffc1f) == 0xd65f0000 || (w & 0xfffffbff) == 0xd65f0bff)
		return CODE_RETURN; /* ret xn; retaa, retab */
	if ((w & 0xfffffc1f) == 0xd61f0000 || (w & 0xfffff81f) == 0xd61f081f ||
	    (w & 0xfffff800) == 0xd71f0800)
		return CODE_JUMP_INDIRECT; /* br; braaz, brabz; braa, brab */
	if ((w & 0xfffffc1f) == 0xd63f0000 || (w & 0xfffff81f) == 0xd63f081f ||
	    (w & 0xfffff800) == 0xd73f0800)
		return CODE_CALL_INDIRECT;
	return CODE_ODD; /* eret, drps, retaasppc, ... */
}

static void branch_decode(uint32_t w, struct code_insn *insn)
{
	if ((w & 0x7c000000) == 0x14000000) {
		insn->flow = w >> 31 ? CODE_CALL : CODE_JUMP;
		insn->target = displaced(insn->address, w & 0x3ffffff, 26, 2);
	} else if ((w & 0xff000000) == 0x54000000 || (w & 0x7e000000) == 0x34000000) {
		insn->flow = CODE_BRANCH;
		insn->target = displaced(insn->address, w >> 5 & 0x7ffff, 19, 2);
	} else if ((w & 0x7e000000) == 0x36000000) {
		insn->flow = CODE_BRANCH;
		insn->target = displaced(insn->address, w >> 5 & 0x3fff, 14, 2);
	} else if ((w & 0xfe000000) == 0xd6000000) {
		insn->flow = (uint8_t)register_flow(w);
	} else if ((w & 0xff000000) == 0xd4000000) {
		/* svc, hvc, smc; brk, hlt stop */
		insn->flow = (w & 0xffe0001f) == 0xd4200000 || (w & 0xffe0001f) == 0xd4400000
				     ? CODE_STOP
				     : CODE_NEXT;
		insn->flags |= CODE_IMMOVABLE;
	} else if ((w & 0xfffff01f) == 0xd503201f) {
		const uint32_t hint = w >> 5 & 0x7f;

		if (hint == 0)
			insn->flags |= CODE_NOP;
		if ((hint & ~6u) == 32 || hint == 25 || hint == 27) /* bti; paciasp, pacibsp */
			insn->flags |= CODE_LANDING;
	} else if ((w & 0xff000000) == 0xd5000000) {
		if ((w & 0xffffffe0) == 0xd5233060) /* tstart */
			insn->flow = CODE_ODD;
	} else {
		insn->flow = CODE_ODD;
	}
	if (insn->flow == CODE_ODD)
		insn->flags |= CODE_IMMOVABLE;
}

static void memory_decode(uint32_t w, struct code_insn *insn)
{
	const uint32_t base = w >> 5 & 31;

	if ((w & 0x3b000000) == 0x18000000) {
		const bool prefetch = (w & 0xff000000) == 0xd8000000;

		insn->operand = displaced(insn->address, w >> 5 & 0x7ffff, 19, 2);
		insn->flags |= CODE_PC_RELATIVE | (prefetch ? 0 : CODE_LOADS);
		return;
	}
	/* cpy* and set*: three instructions in a row, which the kernel may restart from the first */
	if ((w & 0x3b200c00) == 0x19000400)
		insn->flags |= CODE_IMMOVABLE;
	if (base == 29)
		insn->flags |= CODE_BY_FRAME;
	else if (base != 31)
		insn->flags |= CODE_MAY_FAULT;
}

bool code_insn_decode_aarch64(const uint8_t *bytes, size_t size, uint64_t address,
			      struct code_insn *insn)
{
	uint32_t w, op0;

	if (size < 4 || address % 4)
		return false;
	w = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	    (uint32_t)bytes[3] << 24;
	*insn = (struct code_insn){ .address = address, .length = 4, .flow = CODE_NEXT };
	op0 = w >> 25 & 15;
	/* sp is 31 as a destination, or as a base that may be written back */
	if ((w & 31) == 31 || (w >> 5 & 31) == 31)
		insn->flags |= CODE_TOUCHES_SP;
	if (!(w & 0xffff0000)) { /* udf */
		insn->flow = CODE_STOP;
		insn->flags |= CODE_IMMOVABLE;
		return true;
	}
	if ((op0 == 0 && !(w >> 31)) || op0 == 1 || op0 == 3)
		return false;
	if (op0 >> 1 == 5) {
		branch_decode(w, insn);
	} else if ((op0 & 5) == 4) {
		memory_decode(w, insn);
	} else if (op0 == 2 || op0 == 0) { /* SVE, SME: some access memory */
		insn->flags |= CODE_MAY_FAULT;
	} else if ((w & 0x1f000000) == 0x10000000) {
		const uint32_t field = (w >> 3 & 0x1ffffc) | (w >> 29 & 3);

		insn->flags |= CODE_PC_RELATIVE;
		insn->operand = w >> 31 ? displaced(address & ~UINT64_C(0xfff), field, 21, 12)
					: displaced(address, field, 21, 0);
	}
	return true;
}
