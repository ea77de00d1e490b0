/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One machine instruction, as far as moving and patching code cares: how long it is, where control goes
 * after it, whether it depends on where it stands, and whether it can fault.
 *
 * Bytes in, facts out; both machines are decoded on every host. x86-64 is decoded by Zydis; AArch64 by its
 * opcode bits (Arm Architecture Reference Manual, chapter C4). What is not understood is no instruction:
 * nothing is ever guessed.
 *
 * Addresses in this folder are those of the object's own headers (ELF vaddrs), also those of trampolines
 * (runtime address minus load bias, modulo 2^64): differences are all that matters, and they stay.
 */
#ifndef ASSAY_CODE_INSN_H
#define ASSAY_CODE_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CODE_INSN_MAX_LENGTH 15u

enum code_flow {
	CODE_NEXT,          /* goes on behind it */
	CODE_JUMP,          /* direct, always taken */
	CODE_BRANCH,        /* direct, taken or not: jcc, loop, jrcxz, xbegin, b.cond, cbz, tbz */
	CODE_CALL,          /* direct */
	CODE_CALL_INDIRECT, /* through a register or memory */
	CODE_RETURN,        /* near return: ret, ret n, rep ret, bnd ret, retaa, retab */
	CODE_JUMP_INDIRECT, /* through a register or memory */
	CODE_STOP,          /* does not go on: ud2, hlt, int3, udf, brk */
	CODE_ODD,           /* anything else: far transfers, iret, eret */
};

#define CODE_PC_RELATIVE 0x1u /* an operand is an address relative to the instruction */
#define CODE_NOP         0x2u /* does nothing, of any length */
#define CODE_LANDING     0x4u /* endbr64, bti, paciasp, pacibsp: where indirect jumps may land */
#define CODE_MAY_FAULT   0x8u /* memory operand not based on the stack or frame pointer; division */
#define CODE_IMMOVABLE   0x10u /* its address shows: syscall, int n, xbegin, adr of own code ... */
#define CODE_LOADS       0x20u /* the operand at a fixed address is accessed, not just computed */
#define CODE_BY_FRAME    0x40u /* memory operand based on rbp or x29, which may be no frame pointer */
#define CODE_SHORT       0x80u  /* a branch with 8 bits of displacement */
#define CODE_SHORT_ONLY  0x100u /* ... which has no longer form: loop, jrcxz */
#define CODE_TOUCHES_SP  0x200u /* it may change the stack pointer: rather said too often */
#define CODE_NEAR_SP     0x400u /* its memory operand or lea is based on the stack or frame pointer */
#define CODE_REPEATS     0x800u /* a string instruction with a count: takes any time */

struct code_insn {
	uint64_t address;
	uint64_t target;    /* of a direct jump, branch or call */
	uint64_t operand;   /* PC-relative, or at a fixed address: what it means (adrp: the page) */
	uint64_t constant;  /* x86-64: an immediate of 32 or 64 bits, maybe an address; else 0 */
	uint16_t flags;     /* CODE_* */
	uint16_t pop_bytes; /* ret n: n */
	uint8_t length;
	uint8_t flow; /* enum code_flow */
};

/* Decodes the first instruction of `size` bytes that stand at `address`. `machine` is EM_X86_64 or
 * EM_AARCH64. False when it is none that is known, or the bytes end in its middle. */
bool code_insn_decode(uint16_t machine, const uint8_t *bytes, size_t size, uint64_t address,
		      struct code_insn *insn);

/* The machines, each for itself. */
bool code_insn_decode_x86_64(const uint8_t *bytes, size_t size, uint64_t address,
			     struct code_insn *insn);
bool code_insn_decode_aarch64(const uint8_t *bytes, size_t size, uint64_t address,
			      struct code_insn *insn);

/* The address behind the instruction. */
static inline uint64_t code_insn_end(const struct code_insn *insn)
{
	return insn->address + insn->length;
}

/* True when control never goes on behind the instruction. A call may always return. */
static inline bool code_insn_ends_block(const struct code_insn *insn)
{
	return insn->flow == CODE_JUMP || insn->flow == CODE_RETURN ||
	       insn->flow == CODE_JUMP_INDIRECT || insn->flow == CODE_STOP;
}

#endif
