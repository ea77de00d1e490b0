/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The compilation units of a module's debug information, and the functions of each.
 *
 * .debug_aranges is not used: clang leaves it out, and linkers that fold or discard code leave it stale.
 */
#include <dwarf.h>
#include <stdlib.h>

#include "base/array.h"
#include "symbolize/debug_info_state.h"

/* Linkers write 0, -1 or -2 as the address of code that they dropped. */
int debug_ranges_add(const struct debug_info *info, Dwarf_Die *die, struct interval_map *map,
		     uint64_t rank, uint32_t value)
{
	ptrdiff_t offset = 0;
	Dwarf_Addr base, start, end;
	int n = 0;

	for (unsigned int i = 0; i < DEBUG_INFO_MAX_RANGES; i++) {
		offset = dwarf_ranges(die, offset, &base, &start, &end);
		if (offset <= 0)
			break;
		if (start >= end || !elf_file_segment_at(info->object, start, true))
			continue;
		if (!interval_map_add(map, (struct interval){ start, end, rank, value }))
			return -1;
		n++;
	}
	return n;
}

static bool function_add(const struct debug_info *info, struct debug_unit *unit, Dwarf_Die *die)
{
	const size_t index = unit->n_functions;
	int n;

	if (index >= DEBUG_INFO_MAX_FUNCTIONS)
		return true;
	n = debug_ranges_add(info, die, &unit->function_map, 0, (uint32_t)index);
	if (n <= 0)
		return n == 0;
	if (!array_reserve(&unit->functions, &unit->functions_capacity, index + 1))
		return false;
	unit->functions[unit->n_functions++] = (struct debug_function){ .die = *die };
	return true;
}

/* Functions stand in the unit or in namespaces. Those inside functions (Ada, Fortran, GNU C) are only
 * looked for with `deep`, which reads everything. */
static bool functions_walk(const struct debug_info *info, struct debug_unit *unit,
			   Dwarf_Die *parent, bool deep, int depth)
{
	Dwarf_Die die;

	if (depth > DEBUG_INFO_MAX_DEPTH || dwarf_child(parent, &die))
		return true;
	do {
		bool descend = deep;

		switch (dwarf_tag(&die)) {
		case DW_TAG_subprogram:
			if (!function_add(info, unit, &die))
				return false;
			break;
		case DW_TAG_namespace:
		case DW_TAG_module: descend = true; break;
		case DW_TAG_lexical_block:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
		case DW_TAG_union_type: break;
		default: descend = false; break;
		}
		if (descend && !functions_walk(info, unit, &die, deep, depth + 1))
			return false;
	} while (!dwarf_siblingof(&die, &die));
	return true;
}

static void functions_release(struct debug_unit *unit)
{
	for (size_t i = 0; i < unit->n_functions; i++) {
		free(unit->functions[i].nodes);
		interval_map_release(&unit->functions[i].inlines);
	}
	free(unit->functions);
	unit->functions = NULL;
	unit->n_functions = unit->functions_capacity = 0;
	interval_map_release(&unit->function_map);
}

static bool functions_read(struct debug_info *info, struct debug_unit *unit, bool deep)
{
	functions_release(unit);
	unit->functions_read = true;
	unit->functions_read_deep = deep;
	if (functions_walk(info, unit, &unit->inner, deep, 0) &&
	    interval_map_build(&unit->function_map))
		return true;
	functions_release(unit);
	return false;
}

struct debug_function *debug_unit_function_at(struct debug_info *info, struct debug_unit *unit,
					      uint64_t vaddr)
{
	uint32_t index;

	if (!unit->functions_read && !functions_read(info, unit, false))
		return NULL;
	index = interval_map_at(&unit->function_map, vaddr);
	if (index == INTERVAL_NONE && !unit->functions_read_deep) {
		if (!functions_read(info, unit, true))
			return NULL;
		index = interval_map_at(&unit->function_map, vaddr);
	}
	return index == INTERVAL_NONE ? NULL : &unit->functions[index];
}

/* A unit without ranges of its own has those of its functions. */
static bool ranges_from_functions(struct debug_info *info, struct debug_unit *unit, uint32_t index)
{
	if (!functions_read(info, unit, false))
		return false;
	for (size_t i = 0; i < unit->n_functions; i++)
		if (debug_ranges_add(info, &unit->functions[i].die, &info->unit_map, 0, index) < 0)
			return false;
	return true;
}

/* Units of types and abstract functions alone (link-time optimisation makes one per source file) have
 * an empty line table. */
static bool has_lines(struct debug_unit *unit)
{
	Dwarf_Lines *lines;
	size_t n;

	return !dwarf_getsrclines(&unit->die, &lines, &n) && n > 0;
}

static bool unit_add(struct debug_info *info, const Dwarf_Die *die, const Dwarf_Die *inner)
{
	const uint32_t index = (uint32_t)info->n_units;
	struct debug_unit *unit;
	int n;

	if (!array_reserve(&info->units, &info->units_capacity, info->n_units + 1))
		return false;
	unit = &info->units[info->n_units++];
	*unit = (struct debug_unit){ .die = *die, .inner = *inner };
	n = debug_ranges_add(info, &unit->die, &info->unit_map, 0, index);
	if (n == 0 && has_lines(unit))
		return ranges_from_functions(info, unit, index);
	return n >= 0;
}

bool debug_units_read(struct debug_info *info)
{
	Dwarf_CU *cu = NULL;
	uint8_t unit_type;
	Dwarf_Half version;
	Dwarf_Die die, inner;

	while (info->n_units < DEBUG_INFO_MAX_UNITS &&
	       !dwarf_get_units(info->dwarf, cu, &cu, &version, &unit_type, &die, &inner)) {
		if (unit_type != DW_UT_compile && unit_type != DW_UT_skeleton)
			continue;
		if (!unit_add(info, &die,
			      unit_type == DW_UT_skeleton && inner.addr ? &inner : &die))
			return false;
	}
	return interval_map_build(&info->unit_map);
}

static void units_release(struct debug_info *info)
{
	for (size_t i = 0; i < info->n_units; i++)
		functions_release(&info->units[i]);
	free(info->units);
	interval_map_release(&info->unit_map);
}

void debug_info_close(struct debug_info *info)
{
	if (!info)
		return;
	units_release(info);
	if (info->dwarf)
		dwarf_end(info->dwarf);
	if (info->alt)
		dwarf_end(info->alt);
	if (info->elf)
		elf_end(info->elf);
	if (info->alt_elf)
		elf_end(info->alt_elf);
	free(info);
}
