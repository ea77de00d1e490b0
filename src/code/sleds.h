/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sleds: room that compilers left for whoever patches functions, and the sections that say where.
 *
 *	__patchable_function_entries	gcc's and clang's -fpatchable-function-entry=N,M: a word per function, the address
 *					of the first of N nops, M of which stand in front of the function
 *	xray_instr_map			clang's -fxray-instrument: 32 bytes per sled: u64 address, u64 function, u8 kind,
 *					u8 always, u8 version, padding. From version 2 on addresses count from
 *					where they stand (compiler-rt, xray_interface_internal.h)
 *
 * XRay's sleds: x86-64: eb 09 and 9 bytes of nops at entries and before tail jumps, ret and 10 bytes of nops;
 * AArch64: b to behind 7 nops. Where something else stands (somebody has patched it) there is no sled. That these
 * sections hold an address does not mean that control comes there.
 */
#ifndef ASSAY_CODE_SLEDS_H
#define ASSAY_CODE_SLEDS_H

#include "code/insn.h"

#define CODE_SLED_MAX_BYTES 512u

struct code_module;

enum code_sled_kind {
	CODE_SLED_PATCHABLE,
	CODE_SLED_XRAY_ENTRY,
	CODE_SLED_XRAY_EXIT,
	CODE_SLED_XRAY_TAIL
};

struct code_sled {
	uint64_t address;
	uint32_t bytes;
	uint8_t kind; /* enum code_sled_kind */
};

/* The sled that holds the address, NULL when none does. */
const struct code_sled *code_module_sled_at(const struct code_module *module, uint64_t vaddr);

/* All of them, in the order of address. */
const struct code_sled *code_module_sleds(const struct code_module *module, size_t *n);

#endif
