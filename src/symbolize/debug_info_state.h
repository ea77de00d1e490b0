/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What debug information consists of, for debug_info.c, debug_units.c and debug_inlines.c. */
#ifndef ASSAY_SYMBOLIZE_DEBUG_INFO_STATE_H
#define ASSAY_SYMBOLIZE_DEBUG_INFO_STATE_H

#include "symbolize/debug_info.h"

/* An inlined call. */
struct inline_node {
	Dwarf_Die die;
	uint32_t parent; /* the call it was inlined into, INTERVAL_NONE: the function itself */
	bool described;  /* the strings below are filled */
	struct debug_frame callee; /* name and symbol; file and line of the call */
};

struct debug_function {
	Dwarf_Die die;
	bool described, inlines_read;
	struct debug_frame names; /* name and symbol */
	struct inline_node *nodes;
	size_t n_nodes, nodes_capacity;
	struct interval_map inlines; /* address -> the innermost node */
};

struct debug_unit {
	Dwarf_Die die;   /* holds the line table: the skeleton, when the unit is split */
	Dwarf_Die inner; /* holds the functions: the split unit, else the same */
	bool functions_read, functions_read_deep;
	struct debug_function *functions;
	size_t n_functions, functions_capacity;
	struct interval_map function_map;
};

struct debug_info {
	struct symbolizer *symbolizer;
	const struct elf_file *object;
	Dwarf *dwarf, *alt;
	Elf *elf, *alt_elf;
	struct debug_unit *units;
	size_t n_units, units_capacity;
	struct interval_map unit_map;
	uint64_t bytes;
};

/* Adds the address ranges of a DIE with `value`; dead ones, whose code the linker threw away, are left
 * out. How many, or -1 when memory was short. */
int debug_ranges_add(const struct debug_info *info, Dwarf_Die *die, struct interval_map *map,
		     uint64_t rank, uint32_t value);

/* Reads the units of info->dwarf. False when memory was short. */
bool debug_units_read(struct debug_info *info);

/* The function of the unit at the address, NULL when none is known. */
struct debug_function *debug_unit_function_at(struct debug_info *info, struct debug_unit *unit,
					      uint64_t vaddr);

/* Reads the inlined calls of a function, once. */
void debug_inlines_read(const struct debug_info *info, struct debug_function *function);

/* Fills the strings of an inlined call, once. */
void debug_inline_describe(struct debug_info *info, struct debug_unit *unit,
			   struct inline_node *node);

/* Name and linkage name of a function DIE, through its origins. */
void debug_names(const struct debug_info *info, Dwarf_Die *die, struct debug_frame *frame);

#endif
