/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Operands and flags are those that Zydis names (Intel SDM volume 2). A write of 8 or 16 bits keeps the rest of
 * the register, so it counts as reading it; one of 32 bits clears the upper half (SDM volume 1, 3.4.1.1).
 */
#include "code/liveness.h"

#include <Zydis/Zydis.h>

#include <elf.h>

#define MOST_INSNS    16u
#define MOST_BYTES    (MOST_INSNS * CODE_INSN_MAX_LENGTH)
#define ENOUGH        2u /* dead registers that anybody asks for */
#define STACK_POINTER 4u
#define SHIFT_MASK    31u
#define FULL_BITS     32u
#define STATUS                                                                       \
	(ZYDIS_CPUFLAG_CF | ZYDIS_CPUFLAG_PF | ZYDIS_CPUFLAG_AF | ZYDIS_CPUFLAG_ZF | \
	 ZYDIS_CPUFLAG_SF | ZYDIS_CPUFLAG_OF)

/* Of registers and flags alike: bits that were read first, bits that were written first. */
struct fate {
	uint32_t live, dead;
};

static void fate_read(struct fate *fate, uint32_t bits)
{
	fate->live |= bits & ~fate->dead;
}

static void fate_write(struct fate *fate, uint32_t bits)
{
	fate->dead |= bits & ~fate->live;
}

/* Those that do nothing but what their operands say, and take any path through the flags alike. */
static bool is_known(const ZydisDecodedInstruction *x)
{
	switch (x->mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MOVZX:
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
	case ZYDIS_MNEMONIC_LEA:
	case ZYDIS_MNEMONIC_PUSH:
	case ZYDIS_MNEMONIC_POP:
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_AND:
	case ZYDIS_MNEMONIC_OR:
	case ZYDIS_MNEMONIC_XOR:
	case ZYDIS_MNEMONIC_CMP:
	case ZYDIS_MNEMONIC_TEST:
	case ZYDIS_MNEMONIC_NEG:
	case ZYDIS_MNEMONIC_NOT:
	case ZYDIS_MNEMONIC_INC:
	case ZYDIS_MNEMONIC_DEC:
	case ZYDIS_MNEMONIC_IMUL:
	case ZYDIS_MNEMONIC_CDQE:
	case ZYDIS_MNEMONIC_NOP:
	case ZYDIS_MNEMONIC_ENDBR64: return true;
	/* a shift by 0 leaves the flags alone */
	case ZYDIS_MNEMONIC_SHL:
	case ZYDIS_MNEMONIC_SHR:
	case ZYDIS_MNEMONIC_SAR: return x->raw.imm[0].size && (x->raw.imm[0].value.u & SHIFT_MASK);
	default: return false;
	}
}

/* Bit of a general register; 0 for anything else. */
static uint32_t bit_of(ZydisRegister name)
{
	const ZydisRegister whole =
		ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, name);

	if (ZydisRegisterGetClass(whole) != ZYDIS_REGCLASS_GPR64)
		return 0;
	return 1u << (unsigned int)ZydisRegisterGetId(whole);
}

/* xor %eax,%eax and sub of the same kind: the result is 0 whatever it was. */
static bool is_zeroing(const ZydisDecodedInstruction *x, const ZydisDecodedOperand *operands)
{
	return (x->mnemonic == ZYDIS_MNEMONIC_XOR || x->mnemonic == ZYDIS_MNEMONIC_SUB) &&
	       operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       operands[0].reg.value == operands[1].reg.value && operands[0].size >= FULL_BITS;
}

static void operands_look(struct fate *registers, const ZydisDecodedInstruction *x,
			  const ZydisDecodedOperand *operands)
{
	for (unsigned int i = 0; i < x->operand_count; i++) {
		const ZydisDecodedOperand *o = &operands[i];

		if (o->type == ZYDIS_OPERAND_TYPE_MEMORY)
			fate_read(registers, bit_of(o->mem.base) | bit_of(o->mem.index));
		else if (o->type == ZYDIS_OPERAND_TYPE_REGISTER && !is_zeroing(x, operands) &&
			 ((o->actions & ZYDIS_OPERAND_ACTION_MASK_READ) || o->size < FULL_BITS))
			fate_read(registers, bit_of(o->reg.value));
	}
	for (unsigned int i = 0; i < x->operand_count; i++)
		if (operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    operands[i].size >= FULL_BITS &&
		    (operands[i].actions & ZYDIS_OPERAND_ACTION_WRITE))
			fate_write(registers, bit_of(operands[i].reg.value));
}

static void flags_look(struct fate *flags, const ZydisAccessedFlags *accessed)
{
	if (!accessed)
		return;
	fate_read(flags, accessed->tested & STATUS);
	fate_write(flags,
		   (accessed->modified | accessed->set_0 | accessed->set_1 | accessed->undefined) &
			   STATUS);
}

struct code_dead code_dead_in(uint16_t machine, const uint8_t *bytes, size_t size)
{
	struct fate registers = { .live = 1u << STACK_POINTER }, flags = { 0 };
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction x;
	ZydisDecoder decoder;
	struct code_insn insn;

	if (machine != EM_X86_64 ||
	    !ZYAN_SUCCESS(
		    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)))
		return (struct code_dead){ 0 };
	for (unsigned int i = 0; i < MOST_INSNS && size; i++) {
		if ((flags.dead & STATUS) == STATUS &&
		    (unsigned int)__builtin_popcount(registers.dead) >= ENOUGH)
			break;
		if (!code_insn_decode(machine, bytes, size, 0, &insn) || insn.flow != CODE_NEXT ||
		    (insn.flags & (CODE_MAY_FAULT | CODE_IMMOVABLE)) ||
		    !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, size, &x, operands)) ||
		    !is_known(&x))
			break;
		operands_look(&registers, &x, operands);
		flags_look(&flags, x.cpu_flags);
		bytes += x.length;
		size -= x.length;
	}
	return (struct code_dead){ .registers = (uint16_t)registers.dead,
				   .flags = (flags.dead & STATUS) == STATUS };
}

struct code_dead code_dead_before(const struct code_module *module, uint64_t address)
{
	size_t size = MOST_BYTES;
	const uint8_t *bytes;

	while (size && !(bytes = code_module_bytes(module, address, size)))
		size--;
	if (!size)
		return (struct code_dead){ 0 };
	return code_dead_in(code_module_machine(module), bytes, size);
}
