/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The raw symbols of an object that can name code, gathered from several tables.
 *
 * Kept: STT_FUNC, STT_GNU_IFUNC and STT_NOTYPE (labels of assembly) that are defined inside an
 * executable section. Left out: ARM mapping symbols ($x, $d, $a, $t), compilers' local labels (.L...),
 * linker marks at the end of a section, and anything outside the sections that the file declares.
 */
#ifndef ASSAY_SYMBOLIZE_SYMBOL_TABLE_H
#define ASSAY_SYMBOLIZE_SYMBOL_TABLE_H

#include "symbolize/elf_file.h"

#define SYMBOL_TABLE_MAX_SYMBOLS (1u << 26)
#define SYMBOL_MAX_NAME          (64u * 1024)

struct raw_symbol {
	uint64_t start, size; /* size 0: unknown */
	uint64_t limit;       /* end of the section that holds it */
	const char *name;     /* borrowed from the ELF file or from `names` */
	uint32_t file_group;  /* symbols of one STT_FILE share a number; 0: global or unknown */
	uint8_t type, binding;
	bool stub; /* a PLT stub, made up from its relocation */
};

struct symbol_table {
	struct raw_symbol *symbols;
	size_t n, capacity;
	uint32_t n_file_groups;
	char **names; /* made-up names that the table owns */
	size_t n_names, names_capacity;
	bool damaged; /* a table was cut or pointed outside the file */
};

void symbol_table_release(struct symbol_table *table);

/* Appends the symbols of all tables of this type (SHT_SYMTAB or SHT_DYNSYM); how many were added. False
 * when memory was short. */
bool symbol_table_read(struct symbol_table *table, const struct elf_file *file,
		       uint32_t section_type, size_t *n_added);

/* Appends one symbol with a name that the table copies. */
bool symbol_table_add_named(struct symbol_table *table, struct raw_symbol symbol, const char *name);

#endif
