/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Instructions, as far as the diagnosis cares: where they begin, which are calls, returns and jumps, and
 * which take so long that a sample is likely to be named after their successor.
 *
 * Bytes in, facts out; both machines are decoded on every host. x86-64 is decoded by Zydis; for AArch64
 * a few forms of fixed-length instructions are told apart by their opcode bits (Arm Architecture
 * Reference Manual, chapter C4). What is not understood is one instruction of no kind (on AArch64 of four
 * bytes, on x86-64 the end of what is decoded).
 */
#ifndef ASSAY_DIAGNOSE_DECODE_H
#define ASSAY_DIAGNOSE_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DECODE_CALL   1u
#define DECODE_RETURN 2u
#define DECODE_JUMP   4u  /* unconditional */
#define DECODE_BRANCH 8u  /* conditional */
#define DECODE_SLOW   16u /* tens of cycles or more, or it waits for others */

struct instruction {
	uint64_t address;
	uint64_t target;  /* of a direct call, jump or branch; 0: none or unknown */
	const char *slow; /* DECODE_SLOW: its name ("div"), a literal */
	uint8_t length;
	uint8_t kinds; /* DECODE_* */
};

/* Decodes `size` bytes that lie at `address`, from the first one on. `machine` is EM_X86_64 or
 * EM_AARCH64; others give nothing. Returns how many instructions, at most `capacity`. */
size_t decode(uint16_t machine, const uint8_t *code, size_t size, uint64_t address,
	      struct instruction *instructions, size_t capacity);

/* The machines, each for itself: one instruction, false when it is none. */
bool decode_x86_64(const uint8_t *code, size_t size, uint64_t address,
		   struct instruction *instruction);
bool decode_aarch64(const uint8_t *code, size_t size, uint64_t address,
		    struct instruction *instruction);

#endif
