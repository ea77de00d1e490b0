/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names for the stubs of the procedure linkage table: "memcpy@plt".
 *
 * No table names them. A stub is recognised by its code, which jumps through a slot of the GOT, and the
 * slot by the relocation that fills it; so the layout of the linker at hand does not matter:
 *
 *	x86-64	[endbr64] [bnd] jmp *slot(%rip)			f3 0f 1e fa | f2 | ff 25 rel32
 *	AArch64	[bti c] adrp x16, slot; ldr x17, [x16, #slot]; add x16, x16, #slot; br x17
 *
 * The lazy part of a two-part PLT (.plt beside .plt.sec) pushes an index instead; it keeps no name.
 */
#ifndef ASSAY_SYMBOLIZE_PLT_H
#define ASSAY_SYMBOLIZE_PLT_H

#include "symbolize/symbol_table.h"

#define PLT_MAX_SLOTS (1u << 22)
#define PLT_MAX_RESOLVED \
	1024u /* stubs of indirect functions are named while there are fewer stubs */

/* Appends the stubs of the object. False when memory was short. */
bool plt_read(struct symbol_table *table, const struct elf_file *file);

#endif
