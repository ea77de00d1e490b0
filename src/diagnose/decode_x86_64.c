/* SPDX-License-Identifier: GPL-3.0-or-later */
/* x86-64, by Zydis. Slow is what Intel's and AMD's optimisation manuals give tens of cycles of latency, what
 * serialises, and what locks a cache line. */
#include <Zydis/Zydis.h>

#include "diagnose/decode.h"

static const char *slow_name(const ZydisDecodedInstruction *x)
{
	if (x->attributes & ZYDIS_ATTRIB_HAS_LOCK)
		return "lock";
	if (x->attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE))
		return "rep";
	switch (x->mnemonic) {
	case ZYDIS_MNEMONIC_DIV:
	case ZYDIS_MNEMONIC_IDIV: return "div";
	case ZYDIS_MNEMONIC_DIVSS:
	case ZYDIS_MNEMONIC_DIVSD:
	case ZYDIS_MNEMONIC_DIVPS:
	case ZYDIS_MNEMONIC_DIVPD:
	case ZYDIS_MNEMONIC_VDIVSS:
	case ZYDIS_MNEMONIC_VDIVSD:
	case ZYDIS_MNEMONIC_VDIVPS:
	case ZYDIS_MNEMONIC_VDIVPD:
	case ZYDIS_MNEMONIC_FDIV:
	case ZYDIS_MNEMONIC_FDIVP:
	case ZYDIS_MNEMONIC_FDIVR:
	case ZYDIS_MNEMONIC_FDIVRP: return "fdiv";
	case ZYDIS_MNEMONIC_SQRTSS:
	case ZYDIS_MNEMONIC_SQRTSD:
	case ZYDIS_MNEMONIC_SQRTPS:
	case ZYDIS_MNEMONIC_SQRTPD:
	case ZYDIS_MNEMONIC_VSQRTSS:
	case ZYDIS_MNEMONIC_VSQRTSD:
	case ZYDIS_MNEMONIC_VSQRTPS:
	case ZYDIS_MNEMONIC_VSQRTPD:
	case ZYDIS_MNEMONIC_FSQRT: return "sqrt";
	case ZYDIS_MNEMONIC_FSIN:
	case ZYDIS_MNEMONIC_FCOS:
	case ZYDIS_MNEMONIC_FSINCOS:
	case ZYDIS_MNEMONIC_FPTAN:
	case ZYDIS_MNEMONIC_FPATAN:
	case ZYDIS_MNEMONIC_F2XM1:
	case ZYDIS_MNEMONIC_FYL2X: return "x87 function";
	case ZYDIS_MNEMONIC_VGATHERDPD:
	case ZYDIS_MNEMONIC_VGATHERDPS:
	case ZYDIS_MNEMONIC_VGATHERQPD:
	case ZYDIS_MNEMONIC_VGATHERQPS:
	case ZYDIS_MNEMONIC_VPGATHERDD:
	case ZYDIS_MNEMONIC_VPGATHERDQ:
	case ZYDIS_MNEMONIC_VPGATHERQD:
	case ZYDIS_MNEMONIC_VPGATHERQQ: return "gather";
	case ZYDIS_MNEMONIC_CPUID: return "cpuid";
	case ZYDIS_MNEMONIC_RDTSC:
	case ZYDIS_MNEMONIC_RDTSCP: return "rdtsc";
	case ZYDIS_MNEMONIC_RDPMC: return "rdpmc";
	case ZYDIS_MNEMONIC_RDRAND:
	case ZYDIS_MNEMONIC_RDSEED: return "rdrand";
	case ZYDIS_MNEMONIC_MFENCE:
	case ZYDIS_MNEMONIC_LFENCE:
	case ZYDIS_MNEMONIC_SFENCE: return "fence";
	case ZYDIS_MNEMONIC_PAUSE: return "pause";
	case ZYDIS_MNEMONIC_XCHG:
		return (x->attributes & ZYDIS_ATTRIB_HAS_MODRM) && x->raw.modrm.mod != 3 ? "xchg"
											 : NULL;
	case ZYDIS_MNEMONIC_SYSCALL:
	case ZYDIS_MNEMONIC_INT: return "system call";
	case ZYDIS_MNEMONIC_CLFLUSH:
	case ZYDIS_MNEMONIC_CLFLUSHOPT:
	case ZYDIS_MNEMONIC_WBINVD: return "cache flush";
	case ZYDIS_MNEMONIC_XSAVE:
	case ZYDIS_MNEMONIC_XSAVEC:
	case ZYDIS_MNEMONIC_XSAVEOPT:
	case ZYDIS_MNEMONIC_XRSTOR:
	case ZYDIS_MNEMONIC_FXSAVE:
	case ZYDIS_MNEMONIC_FXRSTOR: return "xsave";
	default: return NULL;
	}
}

static uint8_t kinds_of(const ZydisDecodedInstruction *x)
{
	switch (x->meta.category) {
	case ZYDIS_CATEGORY_CALL: return DECODE_CALL;
	case ZYDIS_CATEGORY_RET: return DECODE_RETURN;
	case ZYDIS_CATEGORY_UNCOND_BR: return DECODE_JUMP;
	case ZYDIS_CATEGORY_COND_BR: return DECODE_BRANCH;
	default: return 0;
	}
}

bool decode_x86_64(const uint8_t *code, size_t size, uint64_t address,
		   struct instruction *instruction)
{
	ZydisDecodedInstruction x;
	ZydisDecoder decoder;

	if (!ZYAN_SUCCESS(
		    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ||
	    !ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, code, size, &x)))
		return false;
	*instruction = (struct instruction){
		.address = address, .length = x.length, .kinds = kinds_of(&x), .slow = slow_name(&x)
	};
	if (instruction->slow)
		instruction->kinds |= DECODE_SLOW;
	if (instruction->kinds & (DECODE_CALL | DECODE_JUMP | DECODE_BRANCH) &&
	    x.raw.imm[0].is_relative)
		instruction->target = address + x.length + (uint64_t)x.raw.imm[0].value.s;
	return true;
}
