/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a module consists of, for the files of this folder.
 *
 * A module goes through three lazy steps, each done once: opened (the right file found, or a miss),
 * modelled (symbols and FDEs read), informed (DWARF opened, when inlines and lines are wanted).
 */
#ifndef ASSAY_SYMBOLIZE_MODULE_STATE_H
#define ASSAY_SYMBOLIZE_MODULE_STATE_H

#include "symbolize/cfi_cache.h"
#include "symbolize/debug_info.h"
#include "symbolize/debug_search.h"
#include "symbolize/function_model.h"
#include "symbolize/kernel.h"
#include "symbolize/symbolizer.h"

enum module_kind {
	MODULE_FILE,
	MODULE_VDSO,
	MODULE_KERNEL,
	MODULE_PERF_MAP,
	MODULE_LABEL, /* a loadable kernel module: only a name for frames of the kernel's model */
};

struct module {
	enum module_kind kind;
	struct symbolizer *symbolizer;
	struct module_identity identity; /* owns what it points at */
	const char *name;                /* into identity.path */
	uint32_t pid;                    /* of a perf map */
	struct module *whole;            /* of a label: the kernel */

	bool opened, modelled, unverified;
	bool memory_short; /* the model is missing only because memory ran out */
	enum symbol_miss miss;
	char *remedy; /* made when asked for */

	struct elf_file file;  /* the object; elf == NULL when there is none */
	struct elf_file debug; /* its separate debug file; elf == NULL when there is none */
	struct elf_file mini;  /* what .gnu_debugdata held */
	bool has_symtab;       /* full names, not just exported ones */
	bool symbols_damaged;

	struct kernel *kernel;       /* of the kernel's module */
	char *text;                  /* of a perf map: names live in here */
	struct symbol_table symbols; /* owns made-up names; its array is dropped after the build */
	struct function_model model;

	struct cfi_cache *cfi;   /* made by the first unwinding through the module */
	bool informed;           /* whether there is debug information is known */
	bool info_closed;        /* there is, but it was closed to make room */
	struct debug_info *info; /* NULL when there is none, or it is closed */
	uint64_t info_used;      /* symbolizer's debug_clock at its last use */
};

/* A module that is not opened yet, with a copy of the identity; NULL when memory is short. */
struct module *module_new(struct symbolizer *symbolizer, enum module_kind kind,
			  const struct module_identity *identity);
void module_free(struct module *module);

/* Finds and opens the module's file. SYMBOL_OK or the module's miss. */
enum symbol_miss module_open(struct module *module);

/* The unwind rows; NULL when the module has no file or memory is short. */
struct cfi_cache *module_cfi(struct module *module);

/* The debug information, or NULL. */
struct debug_info *module_debug_info(struct module *module);

/* The model, or NULL. Names are filled in one by one, see module_function_name. */
struct function_model *module_model(struct module *module);

/* The function at the address (a runtime address for the kernel and perf maps), its name filled, and the
 * module that its frames belong to, which for the kernel may be a loadable module. */
struct function *module_function_find(struct module *module, uint64_t vaddr, struct module **part);

/* Fills name and parent of a function and gives the name; never NULL. */
const char *module_function_name(struct module *module, struct function *function);

#endif
