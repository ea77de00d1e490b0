/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The same instruction at another address: encoded anew so that it does what it did where it stood.
 *
 *	x86-64	RIP-relative operand	new displacement
 *		jmp/jcc rel8 or rel32	the rel32 form
 *		loop, loope, loopne, jrcxz
 *			e2 02		loop .+4	(short form kept)
 *			eb 05		jmp  .+7
 *			e9 rel32	jmp  target
 *	AArch64	adr, adrp		adrp, add; adrp
 *		ldr literal		adrp, add, ldr in the register that is loaded; a vector register
 *					needs x16, which is kept below the stack pointer meanwhile
 *		b			b
 *		b.cond, cbz, tbz	inverted short form over a b
 *	else	copied
 *
 * Calls are never moved, since the return address would be one in the trampoline; nor is what carries
 * CODE_IMMOVABLE. The moved code changes no register, flag or memory but what the original changes.
 */
#ifndef ASSAY_CODE_RELOCATE_H
#define ASSAY_CODE_RELOCATE_H

#include "code/insn.h"

/* Code under construction that will run at `address`. Appending beyond `capacity` or out of reach of a
 * displacement sets a mark, which sticks; ask once at the end. */
struct code_buffer {
	uint8_t *bytes;
	size_t size, capacity;
	uint64_t address; /* of bytes[0] */
	bool full;        /* `capacity` was too small */
	bool unreachable; /* a displacement does not fit */
	bool refused;     /* an instruction that cannot be moved */
};

/* Where the next byte will run. */
static inline uint64_t code_buffer_here(const struct code_buffer *buffer)
{
	return buffer->address + buffer->size;
}

static inline bool code_buffer_good(const struct code_buffer *buffer)
{
	return !buffer->full && !buffer->unreachable && !buffer->refused;
}

/* Appends bytes as they are. */
void code_buffer_append(struct code_buffer *buffer, const void *bytes, size_t size);

/* Appends `insn`, whose bytes are `bytes`, for its new place. A direct jump or branch goes to `target`
 * (insn->target, unless its target moves, too). */
void code_relocate(uint16_t machine, const struct code_insn *insn, const uint8_t *bytes,
		   uint64_t target, struct code_buffer *buffer);

/* Appends a jump to `target`: e9 rel32 or b. */
void code_jump_append(uint16_t machine, uint64_t target, struct code_buffer *buffer);

/* Appends code that loads the target of an indirect jump into general register `reg` (the machine's number,
 * 0-15 or 0-30; on x86-64 not 4), without changing flags: what the exit hook of such a jump compares.
 * On x86-64 an operand based on rsp sees the stack pointer that there is when this code runs, plus
 * `sp_offset` bytes that the hook has pushed it down. False (and nothing appended) when there is no such form. */
bool code_target_load_append(uint16_t machine, const struct code_insn *insn, const uint8_t *bytes,
			     unsigned int reg, int32_t sp_offset, struct code_buffer *buffer);

/* The machines, each for itself. */
void code_relocate_x86_64(const struct code_insn *insn, const uint8_t *bytes, uint64_t target,
			  struct code_buffer *buffer);
void code_relocate_aarch64(const struct code_insn *insn, const uint8_t *bytes, uint64_t target,
			   struct code_buffer *buffer);
void code_jump_append_x86_64(uint64_t target, struct code_buffer *buffer);
void code_jump_append_aarch64(uint64_t target, struct code_buffer *buffer);
bool code_target_load_append_x86_64(const struct code_insn *insn, const uint8_t *bytes,
				    unsigned int reg, int32_t sp_offset,
				    struct code_buffer *buffer);
bool code_target_load_append_aarch64(const struct code_insn *insn, const uint8_t *bytes,
				     unsigned int reg, struct code_buffer *buffer);

#endif
