/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What DWARF knows of an address: the chain of functions inlined there, and the source line.
 *
 * libdw answers such questions from the start each time. Here each step is done once and kept: the ranges
 * of all compilation units when the debug information is opened, the functions of a unit and the inlined
 * calls of a function when an address first falls into them, each as an interval map; a name when it is
 * first shown. An address seen for the second time costs three binary searches.
 *
 * Handled by libdw underneath: DWARF 2 to 5, split units in .dwo files, supplementary (dwz) files,
 * compressed sections, partial units, names through DW_AT_abstract_origin and DW_AT_specification.
 * Not handled: .dwp packages (libdw 0.188 does not read them), relocatable objects.
 */
#ifndef ASSAY_SYMBOLIZE_DEBUG_INFO_H
#define ASSAY_SYMBOLIZE_DEBUG_INFO_H

#include <elfutils/libdw.h>

#include "symbolize/elf_file.h"
#include "symbolize/interval_map.h"

struct symbolizer;

#define DEBUG_INFO_MAX_UNITS     (1u << 20)
#define DEBUG_INFO_MAX_RANGES    (1u << 20) /* of one DIE */
#define DEBUG_INFO_MAX_FUNCTIONS (1u << 22) /* of one unit */
#define DEBUG_INFO_MAX_INLINES   (1u << 20) /* of one function */
#define DEBUG_INFO_MAX_DEPTH     512        /* of nested DIEs */

/* One function on the chain; strings belong to the symbolizer. */
struct debug_frame {
	const char *name;   /* NULL when the unit has none */
	const char *symbol; /* linkage name, NULL when it has none */
	const char *file;   /* where the execution stands in this function, NULL when unknown */
	uint32_t line;      /* 0 when unknown */
};

struct debug_info;

/* Opens the debug information that `file` holds; NULL when it holds none or it is damaged. `object` is
 * the program itself, whose segments say which addresses are code. Both are borrowed. */
struct debug_info *debug_info_open(struct symbolizer *symbolizer, const struct elf_file *file,
				   const struct elf_file *object);
void debug_info_close(struct debug_info *info);

/* Bytes of its debug sections, unpacked: about what it may take when all of it is looked at. */
uint64_t debug_info_bytes(const struct debug_info *info);

/* The frames at an address, innermost first, the last one being the function itself. At most `capacity`:
 * then the outer ones are kept. 0 when no unit covers the address. */
size_t debug_info_frames(struct debug_info *info, uint64_t vaddr, struct debug_frame *frames,
			 size_t capacity);

#endif
