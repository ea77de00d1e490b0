/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A module: one ELF object, kernel image or perf map, and its function model.
 *
 * Addresses are typed by meaning so that mixing them does not compile:
 *	struct runtime_address  where it is in a live (or recorded) address space
 *	struct file_offset	where it is in the file: what a mapping translates to
 *	struct elf_vaddr	where the object's own headers put it: what symbols and DWARF speak
 */
#ifndef ASSAY_SYMBOLIZE_MODULE_H
#define ASSAY_SYMBOLIZE_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/sys.h"

struct runtime_address {
	uint64_t value;
};
struct file_offset {
	uint64_t value;
};
struct elf_vaddr {
	uint64_t value;
};

/* Why an address has no name, or only a weaker one. Counted per module. */
enum symbol_miss {
	SYMBOL_OK = 0,
	SYMBOL_NO_MAPPING,      /* the address is in no known mapping */
	SYMBOL_ANONYMOUS,       /* code in anonymous memory and no perf map */
	SYMBOL_FILE_MISSING,    /* the mapped file is gone and was not kept */
	SYMBOL_FILE_UNREADABLE, /* permission */
	SYMBOL_FILE_REPLACED,   /* the file at that path is not the one that was mapped */
	SYMBOL_BUILD_ID_MISMATCH,
	SYMBOL_NOT_ELF,
	SYMBOL_DAMAGED,           /* ELF that contradicts itself */
	SYMBOL_STRIPPED,          /* inside an FDE that no symbol names: module+0x1234 */
	SYMBOL_NO_COVER,          /* the file has symbols, none covers the address */
	SYMBOL_KERNEL_RESTRICTED, /* kptr_restrict or no kallsyms */
	SYMBOL_N_MISSES
};

/* The reason in words, "file missing", ...; for any value of the enumeration, never NULL. */
const char *symbol_miss_text(enum symbol_miss miss);

/* One function of the model: the union of symtab, dynsym, .gnu_debugdata and .eh_frame FDEs. */
struct function {
	struct elf_vaddr start, end; /* [start, end); end from size, FDE or the next symbol */
	const char *symbol;          /* raw name, NULL for an FDE without a symbol */
	const char *name;            /* demangled; "module+0x1234" for an FDE without a symbol */
	uint32_t n_aliases;          /* other symbols at the same start */
	uint32_t parent; /* of a split part (.cold, .part): index of its function, else own */
	bool from_fde, from_symbol, size_was_zero, global;
	bool ifunc; /* the code is a resolver that picks an implementation, not the function itself */
	bool stub; /* a PLT stub, called name@plt */
};

/* What identifies the file that was mapped, as far as the recording knows. */
struct module_identity {
	const char *path;        /* as the target saw it */
	const char *copy;        /* kept copy inside the bundle (absolute path), NULL if none */
	const uint8_t *build_id; /* NULL: unknown */
	size_t build_id_size;
	uint64_t device, inode;  /* makedev() and st_ino; inode 0: unknown */
	uint64_t mtime_ns, size; /* 0: unknown */
	bool foreign;            /* recorded on another machine: paths here prove nothing */
};

struct module;

/* Name as shown ("libc.so.6"), full path, and whether its file could be used. */
const char *module_name(const struct module *module);
const char *module_path(const struct module *module);
enum symbol_miss module_miss(const struct module *module); /* SYMBOL_OK: usable */
/* What would mend a miss, in words ("install libc6-dbg", "kernel.kptr_restrict"), NULL if nothing. */
const char *module_remedy(const struct module *module);

/* True when the recording kept nothing (build-id, inode, copy) that could prove the file at the path to be
 * the one that was mapped: its names are used, and the report should say so. */
bool module_unverified(const struct module *module);

/* The model, sorted by start. Built at first use and cached; NULL when unusable, and for the kernel, whose
 * functions are only looked up. */
const struct function *module_functions(struct module *module, size_t *n);

/* The function whose [start, end) holds the address, or NULL: never merely the nearest one. */
const struct function *module_function_at(struct module *module, struct elf_vaddr address);

/* The function that a split piece (.cold, .part) belongs to; the function itself when it is none. */
const struct function *module_function_parent(struct module *module,
					      const struct function *function);

/* File offset to the object's own address, through the PT_LOAD segments (p_vaddr != p_offset is
 * ordinary); false when no executable segment holds the offset. */
bool module_vaddr(struct module *module, struct file_offset offset, struct elf_vaddr *address);

/* The `size` bytes of machine code at this address, and for which machine (EM_*); NULL when they are not in
 * the file: the kernel, perf maps, separate debug files, and objects of the other byte order. Borrowed. */
const uint8_t *module_code(struct module *module, struct elf_vaddr start, uint64_t size,
			   uint16_t *machine);

#endif
