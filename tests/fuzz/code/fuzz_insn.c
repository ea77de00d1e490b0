/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Any bytes as code of both machines: decoded one by one, moved elsewhere, decoded there. A moved instruction must
 * mean the same address, and what is moved there and back must be what it was.
 */
#include <assert.h>
#include <elf.h>
#include <string.h>

#include "code/relocate.h"

#define AT     UINT64_C(0x555555550000)
#define AWAY   (AT + 0x1234560)
#define MAX_TO 32

static void operand_same(uint16_t machine, const struct code_insn *insn, const uint8_t *moved,
			 size_t size)
{
	struct code_insn there;

	assert(code_insn_decode(machine, moved, size, AWAY, &there));
	if (machine == EM_X86_64 && (insn->flags & CODE_PC_RELATIVE)) {
		assert(there.length == insn->length && there.operand == insn->operand);
		assert(there.flags == insn->flags);
	}
	if (insn->flow == CODE_JUMP)
		assert(there.flow == CODE_JUMP && there.target == insn->target);
	if (machine == EM_X86_64 && insn->flow == CODE_BRANCH && !(insn->flags & CODE_SHORT_ONLY))
		assert(there.flow == CODE_BRANCH && there.target == insn->target);
}

static void insn_move(uint16_t machine, const struct code_insn *insn, const uint8_t *bytes)
{
	uint8_t moved[MAX_TO], load[MAX_TO];
	struct code_buffer buffer = { .bytes = moved, .capacity = MAX_TO, .address = AWAY };
	struct code_buffer loads = { .bytes = load, .capacity = MAX_TO, .address = AWAY };
	struct code_insn there;

	code_relocate(machine, insn, bytes, insn->target, &buffer);
	if (code_buffer_good(&buffer)) {
		assert(buffer.size && buffer.size <= MAX_TO);
		operand_same(machine, insn, moved, buffer.size);
		if (!(insn->flags & CODE_PC_RELATIVE) && insn->flow == CODE_NEXT)
			assert(buffer.size == insn->length && !memcmp(moved, bytes, insn->length));
	}
	if (code_target_load_append(machine, insn, bytes, 1, 64, &loads) &&
	    code_buffer_good(&loads)) {
		assert(code_insn_decode(machine, load, loads.size, AWAY, &there));
		assert(there.flow == CODE_NEXT);
	}
}

static void code_walk(uint16_t machine, const uint8_t *data, size_t size)
{
	size_t at = 0;

	while (at < size) {
		struct code_insn insn;

		if (!code_insn_decode(machine, data + at, size - at, AT + at, &insn)) {
			at += machine == EM_AARCH64 ? 4 : 1;
			continue;
		}
		assert(insn.length && insn.length <= CODE_INSN_MAX_LENGTH &&
		       insn.length <= size - at);
		assert(insn.flow <= CODE_ODD);
		insn_move(machine, &insn, data + at);
		at += insn.length;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	code_walk(EM_X86_64, data, size);
	code_walk(EM_AARCH64, data, size);
	return 0;
}
