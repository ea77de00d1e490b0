/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/debug_lines.h"

#include <stdlib.h>

#include "base/array.h"
#include "symbolize/debug_info_state.h"
#include "symbolize/symbolizer_state.h"

/* One row of a line table. */
struct row {
	uint64_t address;
	const char *file;
	uint32_t line;
	bool begins, ends;
};

static bool row_read(Dwarf_Lines *lines, size_t index, struct row *row)
{
	Dwarf_Line *line = dwarf_onesrcline(lines, index);
	Dwarf_Addr address;
	int number;

	if (!line || dwarf_lineaddr(line, &address) || dwarf_lineno(line, &number) ||
	    dwarf_linebeginstatement(line, &row->begins) || dwarf_lineendsequence(line, &row->ends))
		return false;
	row->address = address;
	row->line = number > 0 ? (uint32_t)number : 0;
	row->file = dwarf_linesrc(line, NULL, NULL);
	return row->file != NULL;
}

/* The function or inlined call that the line's code at the address is part of. A call that is inlined right there, on
 * this very line, begins at the same address: the line is its caller's. */
static void place_own(struct debug_info *info, struct debug_unit *unit, uint32_t line,
		      struct debug_place *place)
{
	struct debug_function *function = debug_unit_function_at(info, unit, place->address);
	uint32_t node;

	place->function = function;
	place->call = INTERVAL_NONE;
	if (!function)
		return;
	debug_inlines_read(info, function);
	node = interval_map_at(&function->inlines, place->address);
	while (node != INTERVAL_NONE) {
		struct inline_node *call = &function->nodes[node];

		debug_inline_describe(info, unit, call);
		if (call->callee.line != line || call->callee.file != place->file)
			break;
		node = call->parent;
	}
	place->call = node;
}

/* One place of each owner stays: the lowest. */
static bool place_add(struct debug_lines *lines, const struct debug_place *place)
{
	for (size_t i = 0; i < lines->n; i++) {
		struct debug_place *other = &lines->places[i];

		if (place->function && other->function == place->function &&
		    other->call == place->call) {
			if (place->address < other->address)
				*other = *place;
			return true;
		}
		if (other->address == place->address)
			return true;
	}
	if (lines->n >= DEBUG_LINES_MAX_PLACES ||
	    !array_reserve(&lines->places, &lines->capacity, lines->n + 1))
		return false;
	lines->places[lines->n++] = *place;
	return true;
}

static void nearest_note(struct debug_lines *lines, uint32_t line)
{
	if (line && line < lines->line && line > lines->below)
		lines->below = line;
	if (line > lines->line && (!lines->above || line < lines->above))
		lines->above = line;
}

/* A row of the file that is meant. */
static bool row_take(struct debug_info *info, struct debug_unit *unit, struct debug_lines *lines,
		     const struct row *row, bool goes_on)
{
	struct debug_place place = { .address = row->address };

	if (row->ends || !row->begins || !elf_file_segment_at(info->object, row->address, true))
		return true;
	place.file = symbolizer_string(info->symbolizer, row->file);
	lines->file = place.file;
	nearest_note(lines, row->line);
	lines->has_code |= row->line == lines->line;
	if (row->line != lines->line || goes_on || lines->lines_only)
		return true;
	place_own(info, unit, row->line, &place);
	return place_add(lines, &place);
}

static bool unit_find(struct debug_info *info, struct debug_unit *unit, struct debug_lines *lines)
{
	struct row before = { .ends = true }, row = { 0 };
	const char *known = NULL; /* the last file that was asked about */
	bool meant = false;
	Dwarf_Lines *rows;
	size_t n;

	if (dwarf_getsrclines(&unit->die, &rows, &n))
		return true;
	for (size_t i = 0; i < n; i++, before = row) {
		if (!row_read(rows, i, &row)) {
			row.ends = true;
			continue;
		}
		if (row.file != known) {
			known = row.file;
			meant = lines->means(lines->data, known);
		}
		if (meant &&
		    !row_take(info, unit, lines, &row,
			      !before.ends && before.file == row.file && before.line == row.line))
			return false;
	}
	return true;
}

bool debug_lines_find(struct debug_info *info, struct debug_lines *lines)
{
	for (size_t i = 0; i < info->n_units; i++)
		if (!unit_find(info, &info->units[i], lines))
			return false;
	return true;
}

bool module_lines_find(struct module *module, struct debug_lines *lines, bool *known)
{
	struct debug_info *info = module_debug_info(module);

	*known = info != NULL;
	return info && debug_lines_find(info, lines);
}

void debug_lines_release(struct debug_lines *lines)
{
	free(lines->places);
	lines->places = NULL;
	lines->n = lines->capacity = 0;
}
