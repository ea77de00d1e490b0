/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The registers of a sampled thread, by DWARF number, and what differs between architectures.
 *
 * perf numbers them otherwise: arch/x86/include/uapi/asm/perf_regs.h,
 * arch/arm64/include/uapi/asm/perf_regs.h. DWARF numbers: System V ABI AMD64 figure 3.36, AADWARF64
 * section 4.1.
 */
#ifndef ASSAY_SYMBOLIZE_UNWIND_REGISTERS_H
#define ASSAY_SYMBOLIZE_UNWIND_REGISTERS_H

#include "symbolize/cfi_row.h"
#include "symbolize/unwind.h"

struct unwind_machine {
	uint16_t machine; /* EM_* */
	uint8_t word_size;
	uint8_t sp, fp, pc;       /* pc: the number that expressions know it by */
	uint8_t n_perf;           /* entries of dwarf_of_perf */
	int8_t dwarf_of_perf[33]; /* -1: not followed; MACHINE_PC: the program counter */
	bool is_64_bit;
};

#define MACHINE_PC 127

struct unwind_registers {
	uint64_t value[CFI_N_REGISTERS];
	uint64_t known; /* bit per register */
	uint64_t pc;
};

/* NULL for a machine that is not known. */
const struct unwind_machine *unwind_machine_find(uint16_t machine);

/* False when the sample lacks pc or sp. */
bool unwind_registers_load(struct unwind_registers *registers, const struct unwind_machine *machine,
			   const struct unwind_sample *sample);

bool unwind_register_get(const struct unwind_registers *registers, uint64_t reg, uint64_t *value);
void unwind_register_set(struct unwind_registers *registers, uint64_t reg, uint64_t value);

/* An address in code without what the machine may have put into its upper bits. AArch64: pointer
 * authentication and tags, above the 48 bits of a user address. */
uint64_t unwind_code_address(const struct unwind_machine *machine, uint64_t address);

#endif
