/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inlined calls of one function, flattened so that the innermost one at an address is found. */
#include <dwarf.h>

#include "base/array.h"
#include "symbolize/debug_info_state.h"
#include "symbolize/symbolizer_state.h"

/* The index of the new node in *index; `parent`'s when the call has no code left. */
static bool node_add(const struct debug_info *info, struct debug_function *function, Dwarf_Die *die,
		     uint32_t parent, int depth, uint32_t *index)
{
	const size_t new_index = function->n_nodes;
	int n;

	*index = parent;
	if (new_index >= DEBUG_INFO_MAX_INLINES)
		return true;
	n = debug_ranges_add(info, die, &function->inlines, (uint64_t)depth, (uint32_t)new_index);
	if (n <= 0)
		return n == 0;
	if (!array_reserve(&function->nodes, &function->nodes_capacity, new_index + 1))
		return false;
	function->nodes[function->n_nodes++] =
		(struct inline_node){ .die = *die, .parent = parent };
	*index = (uint32_t)new_index;
	return true;
}

static bool inlines_walk(const struct debug_info *info, struct debug_function *function,
			 Dwarf_Die *parent_die, uint32_t parent, int depth)
{
	Dwarf_Die die;

	if (depth > DEBUG_INFO_MAX_DEPTH || dwarf_child(parent_die, &die))
		return true;
	do {
		uint32_t index = parent;

		switch (dwarf_tag(&die)) {
		case DW_TAG_inlined_subroutine:
			if (!node_add(info, function, &die, parent, depth, &index))
				return false;
			break;
		case DW_TAG_lexical_block:
		case DW_TAG_try_block:
		case DW_TAG_catch_block: break;
		default: continue;
		}
		if (!inlines_walk(info, function, &die, index, depth + 1))
			return false;
	} while (!dwarf_siblingof(&die, &die));
	return true;
}

/* What could not be read for want of memory is missing from the chains, nothing else. */
void debug_inlines_read(const struct debug_info *info, struct debug_function *function)
{
	if (function->inlines_read)
		return;
	function->inlines_read = true;
	if (!inlines_walk(info, function, &function->die, INTERVAL_NONE, 1) ||
	    !interval_map_build(&function->inlines))
		interval_map_release(&function->inlines);
}

static const char *string_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));
}

void debug_names(const struct debug_info *info, Dwarf_Die *die, struct debug_frame *frame)
{
	const char *linkage = string_of(die, DW_AT_linkage_name);
	const char *name;

	if (!linkage)
		linkage = string_of(die, DW_AT_MIPS_linkage_name);
	name = linkage ? linkage : string_of(die, DW_AT_name);
	frame->name = name && *name ? symbolizer_name(info->symbolizer, name) : NULL;
	frame->symbol = linkage ? symbolizer_string(info->symbolizer, linkage) : NULL;
}
