/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * x86-64, by Zydis. Categories and mnemonics are Zydis'; what they mean for a move is decided here
 * (Intel SDM volume 2; AMD APM volume 3 for operand-size prefixes on branches, which the two makers
 * treat differently, so that those are refused).
 */
#include <Zydis/Zydis.h>

#include "code/insn.h"

#define RM_SIB     4u /* modrm.rm: a SIB byte follows */
#define RM_NO_BASE 5u /* with mod 0: disp32, relative to rip when there is no SIB byte */
#define NO_INDEX   4u
#define REG_RSP    4u
#define REG_RBP    5u

#define THREAD_BLOCK_BYTES 0x700 /* glibc 2.36: sizeof(struct pthread) is more */
#define MAX_STATIC_TLS     (1 << 20)

static bool is_rip_relative(const ZydisDecodedInstruction *x)
{
	return (x->attributes & ZYDIS_ATTRIB_HAS_MODRM) && x->raw.modrm.mod == 0 &&
	       x->raw.modrm.rm == RM_NO_BASE;
}

/* REX.B and REX.X: bit 3 of the base and index registers. Encodings that keep them elsewhere, and
 * inverted, count as having them: that only says that an access may fault. */
static bool base_is_extended(const ZydisDecodedInstruction *x)
{
	if (x->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX)
		return x->raw.vex.size == 3;
	return x->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY || x->raw.rex.B;
}

static bool index_is_extended(const ZydisDecodedInstruction *x)
{
	return x->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY && x->raw.rex.X;
}

/* A constant beyond register 4 (rsp) or 5 (rbp), without an index. */
static bool is_based_on(const ZydisDecodedInstruction *x, unsigned int reg)
{
	const unsigned int mod = x->raw.modrm.mod;

	if ((x->attributes & ZYDIS_ATTRIB_HAS_SEGMENT) || base_is_extended(x) || mod == 3 ||
	    (reg == REG_RBP && mod == 0))
		return false;
	if (x->raw.modrm.rm != RM_SIB)
		return x->raw.modrm.rm == reg;
	return x->raw.sib.index == NO_INDEX && !index_is_extended(x) && x->raw.sib.base == reg;
}

/* Any address that starts from rsp or rbp. */
static bool is_near_sp(const ZydisDecodedInstruction *x)
{
	const unsigned int mod = x->raw.modrm.mod;
	unsigned int base = x->raw.modrm.rm;

	if (mod == 3 || base_is_extended(x))
		return false;
	if (base == RM_SIB)
		base = x->raw.sib.base;
	return base == REG_RSP || (base == REG_RBP && mod != 0);
}

/* A constant alone, with or without a segment. */
static bool is_absolute(const ZydisDecodedInstruction *x)
{
	return x->raw.modrm.mod == 0 && x->raw.modrm.rm == RM_SIB &&
	       x->raw.sib.base == RM_NO_BASE && x->raw.sib.index == NO_INDEX &&
	       !index_is_extended(x) && x->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
	       x->address_width == 64;
}

static bool touches_no_memory(const ZydisDecodedInstruction *x)
{
	switch (x->mnemonic) {
	case ZYDIS_MNEMONIC_LEA:
	case ZYDIS_MNEMONIC_NOP:
	case ZYDIS_MNEMONIC_PREFETCH:
	case ZYDIS_MNEMONIC_PREFETCHNTA:
	case ZYDIS_MNEMONIC_PREFETCHT0:
	case ZYDIS_MNEMONIC_PREFETCHT1:
	case ZYDIS_MNEMONIC_PREFETCHT2:
	case ZYDIS_MNEMONIC_PREFETCHW: return true;
	default: return false;
	}
}

/* %fs:constant: the thread's own block, or the static variables below it, which are always there. Constants
 * without a segment are judged by what they mean (CODE_LOADS). */
static bool is_thread_block(const ZydisDecodedInstruction *x)
{
	return (x->attributes & ZYDIS_ATTRIB_HAS_SEGMENT_FS) &&
	       x->raw.disp.value >= -MAX_STATIC_TLS && x->raw.disp.value < THREAD_BLOCK_BYTES;
}

static bool may_fault(const ZydisDecodedInstruction *x)
{
	switch (x->mnemonic) {
	case ZYDIS_MNEMONIC_DIV:
	case ZYDIS_MNEMONIC_IDIV:
	case ZYDIS_MNEMONIC_XLAT:
	case ZYDIS_MNEMONIC_MASKMOVQ:
	case ZYDIS_MNEMONIC_MASKMOVDQU:
	case ZYDIS_MNEMONIC_VMASKMOVDQU: return true;
	default: break;
	}
	if (x->meta.category == ZYDIS_CATEGORY_STRINGOP)
		return true;
	if (!(x->attributes & ZYDIS_ATTRIB_HAS_MODRM)) /* moffs have a displacement and no base */
		return x->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY &&
		       x->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && x->opcode >= 0xa0 &&
		       x->opcode <= 0xa3;
	if (x->raw.modrm.mod == 3 || touches_no_memory(x) || is_rip_relative(x))
		return false;
	if (is_absolute(x))
		return !is_thread_block(x) && (x->attributes & ZYDIS_ATTRIB_HAS_SEGMENT);
	return !is_based_on(x, REG_RSP) && !is_based_on(x, REG_RBP);
}

/* Any sign of register 4 as an operand, or of an implicit use of the stack. */
static bool may_change_sp(const ZydisDecodedInstruction *x)
{
	switch (x->meta.category) {
	case ZYDIS_CATEGORY_PUSH:
	case ZYDIS_CATEGORY_POP:
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_RET:
	case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_SYSCALL: return true;
	default: break;
	}
	if (x->mnemonic == ZYDIS_MNEMONIC_LEAVE || x->mnemonic == ZYDIS_MNEMONIC_ENTER)
		return true;
	if (!(x->attributes & ZYDIS_ATTRIB_HAS_MODRM))
		return (x->opcode & 7) == REG_RSP;
	return x->raw.modrm.reg == REG_RSP || (x->raw.modrm.mod == 3 && x->raw.modrm.rm == REG_RSP);
}

/* What notices where it stands, or what user code cannot run. */
static bool is_immovable(const ZydisDecodedInstruction *x)
{
	switch (x->meta.category) {
	case ZYDIS_CATEGORY_SYSCALL:
	case ZYDIS_CATEGORY_SYSRET:
	case ZYDIS_CATEGORY_INTERRUPT:
	case ZYDIS_CATEGORY_IO:
	case ZYDIS_CATEGORY_IOSTRINGOP:
	case ZYDIS_CATEGORY_SYSTEM:
	case ZYDIS_CATEGORY_VTX:
	case ZYDIS_CATEGORY_SGX:
	case ZYDIS_CATEGORY_UINTR:
	case ZYDIS_CATEGORY_SEGOP:
	case ZYDIS_CATEGORY_TSX_LDTRK: return x->mnemonic != ZYDIS_MNEMONIC_XGETBV;
	default: break;
	}
	return x->mnemonic == ZYDIS_MNEMONIC_XBEGIN || x->mnemonic == ZYDIS_MNEMONIC_XEND ||
	       x->mnemonic == ZYDIS_MNEMONIC_XABORT ||
	       (is_rip_relative(x) && x->address_width != 64);
}

static enum code_flow flow_of_transfer(const ZydisDecodedInstruction *x)
{
	const bool direct = x->raw.imm[0].is_relative;
	const bool odd_size = (x->attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE) && !x->raw.rex.W;

	if (x->mnemonic == ZYDIS_MNEMONIC_JKZD || x->mnemonic == ZYDIS_MNEMONIC_JKNZD || odd_size ||
	    x->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR)
		return CODE_ODD;
	switch (x->meta.category) {
	case ZYDIS_CATEGORY_COND_BR: return CODE_BRANCH;
	case ZYDIS_CATEGORY_CALL: return direct ? CODE_CALL : CODE_CALL_INDIRECT;
	case ZYDIS_CATEGORY_UNCOND_BR: return direct ? CODE_JUMP : CODE_JUMP_INDIRECT;
	default:
		return x->mnemonic == ZYDIS_MNEMONIC_RET && (x->opcode | 1) == 0xc3 ? CODE_RETURN
										    : CODE_ODD;
	}
}

static enum code_flow flow_of(const ZydisDecodedInstruction *x)
{
	/* Zydis counts them as branches; outside of a transaction both go on. Inside, xabort comes out where xbegin
	 * says, like any abort: xbegin is a branch. What hooks wrote in a transaction is gone with it. */
	if (x->mnemonic == ZYDIS_MNEMONIC_XABORT || x->mnemonic == ZYDIS_MNEMONIC_XEND)
		return CODE_NEXT;
	switch (x->meta.category) {
	case ZYDIS_CATEGORY_CALL:
	case ZYDIS_CATEGORY_UNCOND_BR:
	case ZYDIS_CATEGORY_COND_BR:
	case ZYDIS_CATEGORY_RET: return flow_of_transfer(x);
	case ZYDIS_CATEGORY_SYSRET: return CODE_ODD;
	default: break;
	}
	switch (x->mnemonic) {
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_HLT:
	case ZYDIS_MNEMONIC_INT3: return CODE_STOP;
	case ZYDIS_MNEMONIC_IRET:
	case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_IRETQ:
	case ZYDIS_MNEMONIC_UIRET:
	case ZYDIS_MNEMONIC_RSM: return CODE_ODD;
	default: return CODE_NEXT;
	}
}

static uint16_t flags_of(const ZydisDecodedInstruction *x, enum code_flow flow)
{
	uint16_t flags = 0;

	if (is_rip_relative(x))
		flags |= CODE_PC_RELATIVE | (touches_no_memory(x) ? 0 : CODE_LOADS);
	if ((x->attributes & ZYDIS_ATTRIB_HAS_MODRM) && is_absolute(x) && !touches_no_memory(x) &&
	    !(x->attributes & ZYDIS_ATTRIB_HAS_SEGMENT))
		flags |= CODE_LOADS;
	if (x->meta.category == ZYDIS_CATEGORY_STRINGOP)
		flags |= CODE_REPEATS;
	if ((x->attributes & ZYDIS_ATTRIB_HAS_MODRM) && is_near_sp(x))
		flags |= CODE_NEAR_SP;
	if (x->mnemonic == ZYDIS_MNEMONIC_NOP)
		flags |= CODE_NOP;
	if (x->mnemonic == ZYDIS_MNEMONIC_ENDBR64 || x->mnemonic == ZYDIS_MNEMONIC_ENDBR32)
		flags |= CODE_LANDING;
	if (may_fault(x))
		flags |= CODE_MAY_FAULT;
	if ((x->attributes & ZYDIS_ATTRIB_HAS_MODRM) && is_based_on(x, REG_RBP))
		flags |= CODE_BY_FRAME;
	if (may_change_sp(x))
		flags |= CODE_TOUCHES_SP;
	if (is_immovable(x) || flow == CODE_ODD)
		flags |= CODE_IMMOVABLE;
	if ((flow == CODE_JUMP || flow == CODE_BRANCH) && x->raw.imm[0].size == 8) {
		flags |= CODE_SHORT;
		if (flow == CODE_BRANCH && x->opcode >= 0xe0 && x->opcode <= 0xe3 &&
		    x->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT)
			flags |= CODE_SHORT_ONLY;
	}
	return flags;
}

bool code_insn_decode_x86_64(const uint8_t *bytes, size_t size, uint64_t address,
			     struct code_insn *insn)
{
	ZydisDecodedInstruction x;
	ZydisDecoder decoder;
	enum code_flow flow;

	if (!ZYAN_SUCCESS(
		    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ||
	    !ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, bytes, size, &x)))
		return false;
	flow = flow_of(&x);
	*insn = (struct code_insn){
		.address = address,
		.length = x.length,
		.flow = (uint8_t)flow,
		.flags = flags_of(&x, flow),
	};
	if (flow == CODE_JUMP || flow == CODE_BRANCH || flow == CODE_CALL)
		insn->target = address + x.length + (uint64_t)x.raw.imm[0].value.s;
	if (insn->flags & CODE_PC_RELATIVE)
		insn->operand = address + x.length + (uint64_t)x.raw.disp.value;
	else if (insn->flags & CODE_LOADS)
		insn->operand = (uint64_t)x.raw.disp.value;
	if (!x.raw.imm[0].is_relative && x.raw.imm[0].size >= 32)
		insn->constant = x.raw.imm[0].value.u;
	if (flow == CODE_RETURN && x.opcode == 0xc2)
		insn->pop_bytes = (uint16_t)x.raw.imm[0].value.u;
	return true;
}
