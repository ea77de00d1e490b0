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

#include <elfutils/libdw.h>

#include "symbolize/elf_file.h"

#define FDE_TABLE_MAX_ENTRIES (1u << 25)

/* Which section an entry stands in. */
enum fde_section {
	FDE_EH_FRAME,
	FDE_DEBUG_FRAME,    /* of the object itself */
	FDE_SEPARATE_FRAME, /* .debug_frame of the separate debug file */
	FDE_N_SECTIONS,
};

struct fde_range {
	uint64_t start, end;
	uint32_t offset;  /* of the entry in its section */
	uint32_t section; /* enum fde_section */
};

/* The bytes of a section with entries; data NULL when there is none. Owned by the ELF file. */
struct fde_bytes {
	Elf_Data data;
	uint64_t vaddr; /* of the first byte */
};

struct fde_table {
	struct fde_range *ranges; /* sorted by start, disjoint, inside executable segments */
	size_t n, capacity;
	struct fde_bytes sections[FDE_N_SECTIONS];
	bool damaged; /* the section ended in the middle or contradicted itself */
};

/* `debug` (may be NULL) is the separate debug file, where .debug_frame lives. False when memory was
 * short. */
bool fde_table_read(struct fde_table *table, const struct elf_file *file,
		    const struct elf_file *debug);
void fde_table_release(struct fde_table *table);

/* The range that holds the address, NULL when none does. */
const struct fde_range *fde_table_at(const struct fde_table *table, uint64_t vaddr);

/* What a CIE says of its FDEs. */
struct fde_cie {
	Dwarf_CIE cie;
	int encoding;   /* DW_EH_PE_* of their pointers, -1: not understood */
	bool is_signal; /* 'S': their frames were interrupted, not calling */
	bool has_data;  /* 'z': augmentation data precedes the instructions */
};

/* Reads the CIE at `offset` of a section; false when there is none. */
bool fde_cie_read(const struct elf_file *file, const struct fde_table *table, uint32_t section,
		  uint64_t offset, struct fde_cie *cie);

/* The first range that starts above the address, NULL when none does. */
const struct fde_range *fde_table_after(const struct fde_table *table, uint64_t vaddr);

#endif
