/* SPDX-License-Identifier: GPL-3.0-or-later */
/* x86-64: displacements, the long forms of short branches, and the load of an indirect jump's target. */
#include <Zydis/Zydis.h>
#include <string.h>

#include "code/relocate.h"

#define REX        0x40u
#define REX_W      0x48u
#define MOV_LOAD   0x8bu /* mov r64, r/m64 */
#define MAX_OUTPUT 20u

static bool decode(const struct code_insn *insn, const uint8_t *bytes, ZydisDecodedInstruction *x)
{
	ZydisDecoder decoder;

	return ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64,
					     ZYDIS_STACK_WIDTH_64)) &&
	       ZYAN_SUCCESS(
		       ZydisDecoderDecodeInstruction(&decoder, NULL, bytes, insn->length, x)) &&
	       x->length == insn->length;
}

static void put_u32(uint8_t *at, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		at[i] = (uint8_t)(value >> 8 * i);
}

/* The four bytes that lead from `end` to `target`. */
static bool put_displacement(uint8_t *at, uint64_t end, uint64_t target)
{
	const int64_t distance = (int64_t)(target - end);

	put_u32(at, (uint32_t)distance);
	return distance >= INT32_MIN && distance <= INT32_MAX;
}

/* Appends opcode bytes and a displacement of 32 bits. */
static void transfer_append(struct code_buffer *buffer, const uint8_t *opcode, size_t n,
			    uint64_t target)
{
	uint8_t bytes[8];
	const uint64_t end = code_buffer_here(buffer) + n + 4;

	memcpy(bytes, opcode, n);
	if (!put_displacement(bytes + n, end, target))
		buffer->unreachable = true;
	code_buffer_append(buffer, bytes, n + 4);
}

void code_jump_append_x86_64(uint64_t target, struct code_buffer *buffer)
{
	static const uint8_t jump[] = { 0xe9 };

	transfer_append(buffer, jump, sizeof(jump), target);
}

static void branch_append(const struct code_insn *insn, const uint8_t *bytes, uint64_t target,
			  struct code_buffer *buffer)
{
	ZydisDecodedInstruction x;
	uint8_t opcode[2] = { 0x0f, 0 };

	if (!decode(insn, bytes, &x)) {
		buffer->refused = true;
	} else if (insn->flags & CODE_SHORT_ONLY) {
		static const uint8_t to_jump[] = { 2 }, over_jump[] = { 0xeb, 5 };

		code_buffer_append(buffer, bytes, insn->length - 1u);
		code_buffer_append(buffer, to_jump, sizeof(to_jump));
		code_buffer_append(buffer, over_jump, sizeof(over_jump));
		code_jump_append_x86_64(target, buffer);
	} else { /* 70+cc rel8, 0f 80+cc rel32 */
		opcode[1] = 0x80 | (x.opcode & 0x0f);
		transfer_append(buffer, opcode, sizeof(opcode), target);
	}
}

static void operand_append(const struct code_insn *insn, const uint8_t *bytes,
			   struct code_buffer *buffer)
{
	ZydisDecodedInstruction x;
	uint8_t moved[CODE_INSN_MAX_LENGTH];

	if (!decode(insn, bytes, &x) || x.raw.disp.size != 32 || x.address_width != 64) {
		buffer->refused = true;
		return;
	}
	memcpy(moved, bytes, insn->length);
	if (!put_displacement(moved + x.raw.disp.offset, code_buffer_here(buffer) + insn->length,
			      insn->operand))
		buffer->unreachable = true;
	code_buffer_append(buffer, moved, insn->length);
}

void code_relocate_x86_64(const struct code_insn *insn, const uint8_t *bytes, uint64_t target,
			  struct code_buffer *buffer)
{
	if (insn->flow == CODE_JUMP)
		code_jump_append_x86_64(target, buffer);
	else if (insn->flow == CODE_BRANCH)
		branch_append(insn, bytes, target, buffer);
	else if (insn->flags & CODE_PC_RELATIVE)
		operand_append(insn, bytes, buffer);
	else
		code_buffer_append(buffer, bytes, insn->length);
}

/* jmp r/m64 is [segment] [67] [rex] ff modrm(reg 4) [sib] [disp]; the load has the same operand:
 * [segment] [67] rex.w 8b modrm(reg) [sib] [disp]. Other prefixes (bnd, notrack) mean nothing to it. */
struct load {
	uint8_t bytes[MAX_OUTPUT];
	size_t size;
};

static void load_put(struct load *load, unsigned int byte)
{
	load->bytes[load->size++] = (uint8_t)byte;
}

static void load_prefixes(struct load *load, const ZydisDecodedInstruction *x, unsigned int reg)
{
	for (unsigned int i = 0; i < x->raw.prefix_count; i++) {
		const uint8_t prefix = x->raw.prefixes[i].value;

		if ((prefix == 0x64 || prefix == 0x65 || prefix == 0x67) &&
		    x->raw.prefixes[i].type == ZYDIS_PREFIX_TYPE_EFFECTIVE)
			load_put(load, prefix);
	}
	load_put(load, REX_W | (reg >> 3) << 2 | (unsigned int)x->raw.rex.X << 1 | x->raw.rex.B);
	load_put(load, MOV_LOAD);
}

bool code_target_load_append_x86_64(const struct code_insn *insn, const uint8_t *bytes,
				    unsigned int reg, int32_t sp_offset, struct code_buffer *buffer)
{
	ZydisDecodedInstruction x;
	struct load load = { .size = 0 };
	unsigned int mod;
	bool by_sp;

	if (reg > 15 || reg == 4 || !decode(insn, bytes, &x) ||
	    !(x.attributes & ZYDIS_ATTRIB_HAS_MODRM))
		return false;
	mod = x.raw.modrm.mod;
	if (mod == 3 && x.raw.modrm.rm == 4 && !x.raw.rex.B)
		return false; /* jmp *%rsp */
	if ((insn->flags & CODE_PC_RELATIVE) && x.address_width != 64)
		return false;
	by_sp = mod != 3 && x.raw.modrm.rm == 4 && x.raw.sib.base == 4 && !x.raw.rex.B;
	load_prefixes(&load, &x, reg);
	load_put(&load, (by_sp ? 2u : mod) << 6 | (reg & 7) << 3 | x.raw.modrm.rm);
	if (mod != 3 && x.raw.modrm.rm == 4)
		load_put(&load, bytes[x.raw.sib.offset]);
	if (by_sp) {
		put_u32(load.bytes + load.size, (uint32_t)((int32_t)x.raw.disp.value + sp_offset));
		load.size += 4;
	} else if (insn->flags & CODE_PC_RELATIVE) {
		if (!put_displacement(load.bytes + load.size,
				      code_buffer_here(buffer) + load.size + 4, insn->operand))
			buffer->unreachable = true;
		load.size += 4;
	} else if (x.raw.disp.size) {
		memcpy(load.bytes + load.size, bytes + x.raw.disp.offset, x.raw.disp.size / 8u);
		load.size += x.raw.disp.size / 8u;
	}
	code_buffer_append(buffer, load.bytes, load.size);
	return true;
}
