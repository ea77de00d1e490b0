/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "code/relocate.h"

#include <elf.h>
#include <string.h>

void code_buffer_append(struct code_buffer *buffer, const void *bytes, size_t size)
{
	if (size > buffer->capacity - buffer->size) {
		buffer->full = true;
		return;
	}
	memcpy(buffer->bytes + buffer->size, bytes, size);
	buffer->size += size;
}

void code_relocate(uint16_t machine, const struct code_insn *insn, const uint8_t *bytes,
		   uint64_t target, struct code_buffer *buffer)
{
	if ((insn->flags & CODE_IMMOVABLE) || insn->flow == CODE_CALL ||
	    insn->flow == CODE_CALL_INDIRECT || insn->flow == CODE_ODD)
		buffer->refused = true;
	else if (machine == EM_X86_64)
		code_relocate_x86_64(insn, bytes, target, buffer);
	else if (machine == EM_AARCH64)
		code_relocate_aarch64(insn, bytes, target, buffer);
	else
		buffer->refused = true;
}

void code_jump_append(uint16_t machine, uint64_t target, struct code_buffer *buffer)
{
	if (machine == EM_X86_64)
		code_jump_append_x86_64(target, buffer);
	else if (machine == EM_AARCH64)
		code_jump_append_aarch64(target, buffer);
	else
		buffer->refused = true;
}

bool code_target_load_append(uint16_t machine, const struct code_insn *insn, const uint8_t *bytes,
			     unsigned int reg, int32_t sp_offset, struct code_buffer *buffer)
{
	if (insn->flow != CODE_JUMP_INDIRECT)
		return false;
	if (machine == EM_X86_64)
		return code_target_load_append_x86_64(insn, bytes, reg, sp_offset, buffer);
	return machine == EM_AARCH64 && code_target_load_append_aarch64(insn, bytes, reg, buffer);
}
