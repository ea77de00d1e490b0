/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "code/insn.h"

#include <elf.h>

bool code_insn_decode(uint16_t machine, const uint8_t *bytes, size_t size, uint64_t address,
		      struct code_insn *insn)
{
	switch (machine) {
	case EM_X86_64: return code_insn_decode_x86_64(bytes, size, address, insn);
	case EM_AARCH64: return code_insn_decode_aarch64(bytes, size, address, insn);
	default: return false;
	}
}
