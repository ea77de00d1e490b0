/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What nobody will read any more: general registers and arithmetic flags that the code from an address on
 * overwrites before it reads them. A hook in front of that address need not save these.
 *
 * Proven by the instructions themselves, never by a calling convention: callers may know what a callee leaves
 * alone (gcc -fipa-ra), and assembly keeps to no convention. Only straight-line code of instructions whose effects are
 * known here is looked at; where it branches, calls, or could fault (a handler sees all registers), the look ends.
 */
#ifndef ASSAY_CODE_LIVENESS_H
#define ASSAY_CODE_LIVENESS_H

#include "code/module.h"

struct code_dead {
	uint16_t
		registers; /* bit n: register n by its number in instructions (x86-64: 0 rax, 1 rcx, ...) */
	bool flags; /* x86-64: CF, PF, AF, ZF, SF and OF, all of them */
};

/* Of a run of instructions, as bytes. What is not proven is not dead: so it is for all of AArch64. */
struct code_dead code_dead_in(uint16_t machine, const uint8_t *bytes, size_t size);

/* In front of the instruction at an address of a module. */
struct code_dead code_dead_before(const struct code_module *module, uint64_t address);

#endif
