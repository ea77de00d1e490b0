/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/unwind_registers.h"

#include <string.h>

#define NONE (-1)
#define PC   MACHINE_PC

/* perf: AX BX CX DX SI DI BP SP IP FLAGS CS SS DS ES FS GS R8-R15; DWARF: rax rdx rcx rbx rsi rdi rbp rsp
 * r8-r15 (64 bit) and eax ecx edx ebx esp ebp esi edi (32 bit). */
static const struct unwind_machine machines[] = {
	{
		.machine = EM_X86_64,
		.word_size = 8,
		.sp = 7,
		.fp = 6,
		.pc = 16,
		.n_perf = 24,
		.dwarf_of_perf = { 0,    3,    2,    1,    4, 5, 6,  7,  PC, NONE, NONE, NONE,
				   NONE, NONE, NONE, NONE, 8, 9, 10, 11, 12, 13,   14,   15 },
		.is_64_bit = true,
	},
	{
		.machine = EM_386,
		.word_size = 4,
		.sp = 4,
		.fp = 5,
		.pc = 8,
		.n_perf = 9,
		.dwarf_of_perf = { 0, 3, 1, 2, 6, 7, 5, 4, PC },
	},
	{
		.machine = EM_AARCH64,
		.word_size = 8,
		.sp = 31,
		.fp = 29,
		.pc = 32,
		.n_perf = 33,
		.dwarf_of_perf = { 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
				   11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
				   22, 23, 24, 25, 26, 27, 28, 29, 30, 31, PC },
		.is_64_bit = true,
	},
};

const struct unwind_machine *unwind_machine_find(uint16_t machine)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (machines[i].machine == machine)
			return &machines[i];
	return NULL;
}

bool unwind_registers_load(struct unwind_registers *registers, const struct unwind_machine *machine,
			   const struct unwind_sample *sample)
{
	bool has_pc = false;
	size_t at = 0;

	memset(registers, 0, sizeof(*registers));
	for (unsigned int bit = 0; bit < 64; bit++) {
		int8_t reg;

		if (!(sample->regs_mask >> bit & 1))
			continue;
		reg = bit < machine->n_perf ? machine->dwarf_of_perf[bit] : NONE;
		if (reg == PC) {
			registers->pc = sample->regs[at];
			unwind_register_set(registers, machine->pc, registers->pc);
			has_pc = true;
		} else if (reg != NONE) {
			unwind_register_set(registers, (uint64_t)reg, sample->regs[at]);
		}
		at++;
	}
	return has_pc && registers->known >> machine->sp & 1;
}

bool unwind_register_get(const struct unwind_registers *registers, uint64_t reg, uint64_t *value)
{
	if (reg >= CFI_N_REGISTERS || !(registers->known >> reg & 1))
		return false;
	*value = registers->value[reg];
	return true;
}

void unwind_register_set(struct unwind_registers *registers, uint64_t reg, uint64_t value)
{
	if (reg >= CFI_N_REGISTERS)
		return;
	registers->value[reg] = value;
	registers->known |= UINT64_C(1) << reg;
}

uint64_t unwind_code_address(const struct unwind_machine *machine, uint64_t address)
{
	if (machine->machine == EM_AARCH64)
		return address & ((UINT64_C(1) << 48) - 1);
	return machine->is_64_bit ? address : address & UINT32_MAX;
}
