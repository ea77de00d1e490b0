/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The ranges that an object's frame description entries cover: function boundaries that survive
 * stripping. Read from .eh_frame (also through PT_GNU_EH_FRAME when the section headers are gone) and
 * from .debug_frame.
 *
 * Source of the format: Linux Standard Base Core, "Exception Frames"; DWARF 5 section 6.4.
 */
#ifndef ASSAY_SYMBOLIZE_FDE_TABLE_H
#define ASSAY_SYMBOLIZE_FDE_TABLE_H

#include "symbolize/elf_file.h"

#define FDE_TABLE_MAX_ENTRIES (1u << 25)

struct fde_range {
	uint64_t start, end;
};

struct fde_table {
	struct fde_range *ranges; /* sorted by start, disjoint, inside executable segments */
	size_t n, capacity;
	bool damaged; /* the section ended in the middle or contradicted itself */
};

/* `debug` (may be NULL) is the separate debug file, where .debug_frame lives. False when memory was
 * short. */
bool fde_table_read(struct fde_table *table, const struct elf_file *file,
		    const struct elf_file *debug);
void fde_table_release(struct fde_table *table);

/* The range that holds the address, NULL when none does. */
const struct fde_range *fde_table_at(const struct fde_table *table, uint64_t vaddr);

/* The first range that starts above the address, NULL when none does. */
const struct fde_range *fde_table_after(const struct fde_table *table, uint64_t vaddr);

#endif
