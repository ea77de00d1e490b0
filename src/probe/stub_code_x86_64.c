/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Encodings: Intel SDM volume 2, chapter 2 (REX, ModR/M, SIB).
 */
#include "probe/stub_code_x86_64.h"

#include <stddef.h>
#include <string.h>

#define REX       0x40u
#define REX_W     0x48u
#define FS        0x64
#define GS        0x65
#define MOD_DISP8 0x40u
#define MOD_DISP  0x80u
#define RM_SIB    4u
#define RM_RIP    5u
#define SIB_NONE  0x25 /* no base, no index: 32 bits of displacement */
#define SIB_RSP   0x24
#define LEA       0x8d

/* What hooks may use: registers that callers do not expect back, without those that need a longer encoding as a base. */
#define CANDIDATES 0x0fc7u

void put_u32(struct stub_code *code, uint64_t value)
{
	const uint32_t v = (uint32_t)value;

	code_buffer_append(code->buffer, &v, sizeof(v));
}

static void put_rex(struct stub_code *code, bool wide, unsigned int reg, unsigned int base)
{
	PUT(code, (uint8_t)((wide ? REX_W : REX) | (reg >> 3) << 2 | base >> 3));
}

/* The displacement to something in the region, from the end of an instruction that it ends. */
static void put_distance(struct stub_code *code, uint64_t offset)
{
	const uint64_t end = code_buffer_here(code->buffer) + 4;
	const int64_t distance = (int64_t)(code->stub->region + offset - end);

	if (distance != (int32_t)distance)
		code->buffer->unreachable = true;
	put_u32(code, (uint64_t)distance);
}

void put_region(struct stub_code *code, bool wide, enum code_opcode opcode, unsigned int reg,
		uint64_t offset)
{
	put_rex(code, wide, reg, 0);
	PUT(code, (uint8_t)opcode, (uint8_t)((reg & 7) << 3 | RM_RIP));
	put_distance(code, offset);
}

static void put_segment(struct stub_code *code, uint8_t segment, uint8_t opcode, unsigned int reg,
			size_t offset)
{
	PUT(code, segment);
	put_rex(code, true, reg, 0);
	PUT(code, opcode, (uint8_t)((reg & 7) << 3 | RM_SIB), SIB_NONE);
	put_u32(code, offset);
}

void put_block(struct stub_code *code, enum code_opcode opcode, unsigned int reg, size_t offset)
{
	put_segment(code, GS, (uint8_t)opcode, reg, offset);
}

void put_block_word(struct stub_code *code, uint8_t opcode, unsigned int extension, size_t offset)
{
	put_segment(code, GS, opcode, extension, offset);
}

void put_thread(struct stub_code *code, unsigned int reg)
{
	put_segment(code, FS, CODE_LOAD, reg, 0);
}

void put_block_at(struct stub_code *code, enum code_opcode opcode, unsigned int reg,
		  unsigned int base, uint8_t offset)
{
	PUT(code, GS);
	put_rex(code, true, reg, base);
	PUT(code, (uint8_t)opcode, (uint8_t)(MOD_DISP8 | (reg & 7) << 3 | (base & 7)), offset);
}

void put_lea(struct stub_code *code, unsigned int reg, unsigned int base, int32_t offset)
{
	const bool is_short = offset == (int8_t)offset;

	put_rex(code, true, reg, base);
	PUT(code, LEA, (uint8_t)((is_short ? MOD_DISP8 : MOD_DISP) | (reg & 7) << 3 | (base & 7)));
	if ((base & 7) == RM_SIB)
		PUT(code, SIB_RSP);
	if (is_short)
		PUT(code, (uint8_t)offset);
	else
		put_u32(code, (uint64_t)(int64_t)offset);
}

static void jump_add(struct stub_code *code, enum code_label label, bool is_short)
{
	if (code->n_jumps == CODE_MAX_JUMPS) {
		code->buffer->refused = true;
		return;
	}
	code->jumps[code->n_jumps].at = code->buffer->size;
	code->jumps[code->n_jumps].is_short = is_short;
	code->jumps[code->n_jumps++].label = label;
}

void put_jump(struct stub_code *code, unsigned int condition, enum code_label label)
{
	if (condition == JUMP_ALWAYS)
		PUT(code, 0xe9);
	else
		PUT(code, 0x0f, (uint8_t)condition);
	jump_add(code, label, false);
	put_u32(code, 0);
}

void put_jump_if_rcx_is_0(struct stub_code *code, enum code_label label)
{
	PUT(code, 0xe3);
	jump_add(code, label, true);
	PUT(code, 0);
}

void put_label(struct stub_code *code, enum code_label label)
{
	code->labels[label] = code->buffer->size;
}

void code_jumps_fill(struct stub_code *code)
{
	for (size_t i = 0; i < code->n_jumps; i++) {
		const size_t at = code->jumps[i].at, bytes = code->jumps[i].is_short ? 1 : 4;
		const uint32_t distance =
			(uint32_t)(code->labels[code->jumps[i].label] - (at + bytes));

		if (code->buffer->full || at + bytes > code->buffer->size)
			continue;
		if (code->jumps[i].is_short && distance > INT8_MAX)
			code->buffer->unreachable = true;
		/* little-endian: the low byte first */
		memcpy(code->buffer->bytes + at, &distance, bytes);
	}
}

bool stub_code_spares_one(const struct stub_code *code)
{
	return code->dead.flags && __builtin_popcount(code->dead.registers & CANDIDATES) == 1;
}

static void registers_choose(struct stub_code *code, unsigned int n)
{
	const unsigned int free = code->dead.registers & CANDIDATES;

	code->saved = !code->dead.flags || (unsigned int)__builtin_popcount(free) < n;
	code->flags = !code->dead.flags;
	code->one = RCX;
	code->two = RAX;
	if (code->saved)
		return;
	code->one = (uint8_t)__builtin_ctz(free);
	code->two = (uint8_t)(n > 1 ? __builtin_ctz(free & (free - 1)) : code->one);
}

void put_open(struct stub_code *code, unsigned int n)
{
	registers_choose(code, n);
	code->bytes = 0;
	if (!code->saved)
		return;
	put_lea(code, RSP, RSP, -(int32_t)RED_ZONE);
	PUT(code, 0x50, 0x51); /* push %rax; push %rcx */
	code->bytes = DEPTH_INLINE;
	if (code->flags)
		PUT(code, 0x9f, 0x0f, 0x90, 0xc0); /* lahf; seto %al */
	if (code->flags && n > 1) {
		PUT(code, 0x50); /* push %rax */
		code->bytes = DEPTH_STATE;
	}
}

void put_close(struct stub_code *code)
{
	if (!code->saved)
		return;
	if (code->bytes == DEPTH_STATE)
		PUT(code, 0x58); /* pop %rax */
	if (code->flags)
		PUT(code, 0x04, 0x7f, 0x9e); /* add $0x7f,%al; sahf */
	PUT(code, 0x59, 0x58);               /* pop %rcx; pop %rax */
	put_lea(code, RSP, RSP, RED_ZONE);
}

void put_call(struct stub_code *code, uint32_t entry)
{
	PUT(code, 0xe8); /* call rel32 */
	put_distance(code, AGENT_CODE_OFFSET + entry);
}

void put_agent(struct stub_code *code, uint32_t entry, uint32_t depth)
{
	const int32_t further = (int32_t)(depth - code->bytes);

	if (further)
		put_lea(code, RSP, RSP, -further);
	PUT(code, 0x50, 0xb8); /* push %rax; mov $point,%eax */
	put_u32(code, stub_point(code->stub));
	put_call(code, entry);
	PUT(code, 0x58); /* pop %rax */
	if (further)
		put_lea(code, RSP, RSP, further);
}
