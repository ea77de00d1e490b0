/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/debug_info.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/debug_info_state.h"
#include "symbolize/symbolizer_state.h"

static bool same_origin(const struct stat *stat, const struct elf_origin *origin)
{
	return stat->st_dev == origin->device && stat->st_ino == origin->inode &&
	       (uint64_t)stat->st_size == origin->size;
}

static uint64_t sections_bytes(Elf *elf)
{
	uint64_t bytes = 0;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return 0;
	for (Elf_Scn *scn = elf_nextscn(elf, NULL); scn; scn = elf_nextscn(elf, scn)) {
		const char *name;
		GElf_Shdr header;
		GElf_Chdr packed;

		if (!gelf_getshdr(scn, &header) || header.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		if (!name || strncmp(name, ".debug_", 7))
			continue;
		bytes += header.sh_flags & SHF_COMPRESSED && gelf_getchdr(scn, &packed)
				 ? packed.ch_size
				 : header.sh_size;
	}
	return bytes;
}

/* libdw finds .dwo files and dwz's file beside the file that it was given by descriptor, so the path is
 * opened once more, and must still be the same file. */
static Dwarf *dwarf_open(const struct sys *sys, const struct elf_file *file, Elf **elf,
			 uint64_t *bytes)
{
	int fd = sys->openat(sys->state, AT_FDCWD, file->path, O_RDONLY | O_CLOEXEC, 0);
	Dwarf *dwarf = NULL;
	struct stat stat;

	*elf = NULL;
	if (fd < 0)
		return NULL;
	if (!sys->fstat(sys->state, fd, &stat) && same_origin(&stat, &file->origin))
		*elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	/* libdw unpacks compressed sections as it begins, so their sizes are read before. */
	if (*elf)
		*bytes += sections_bytes(*elf);
	if (*elf)
		dwarf = dwarf_begin_elf(*elf, DWARF_C_READ, NULL);
	/* All of the file is mapped by now; the descriptor is not needed any more. */
	if (*elf && elf_cntl(*elf, ELF_C_FDREAD) == 0)
		elf_cntl(*elf, ELF_C_FDDONE);
	sys->close(sys->state, fd);
	if (!dwarf && *elf) {
		elf_end(*elf);
		*elf = NULL;
	}
	return dwarf;
}

static bool alt_try(struct debug_info *info, const char *path, const void *build_id, size_t size)
{
	struct elf_file file;

	if (elf_file_open(&file, info->symbolizer->sys, path) != SYMBOL_OK)
		return false;
	if (elf_file_has_build_id(&file, build_id, size))
		info->alt = dwarf_open(info->symbolizer->sys, &file, &info->alt_elf, &info->bytes);
	elf_file_release(&file);
	return info->alt != NULL;
}

/* The supplementary file that dwz moved common parts into. libdw would take whatever lies at its path;
 * here its build-id must be the expected one. False when one is needed and not found. */
static bool alt_open(struct debug_info *info, const struct elf_file *file)
{
	const char *dir = info->symbolizer->search.debug_dir, *slash = strrchr(file->path, '/');
	char path[DEBUG_SEARCH_MAX_PATH];
	struct build_id_text id;
	const uint8_t *build_id;
	const char *name;
	ssize_t size = dwelf_dwarf_gnu_debugaltlink(info->dwarf, &name, (const void **)&build_id);

	if (size <= 0)
		return size == 0;
	if (size < 2 || (size_t)size > ELF_FILE_MAX_BUILD_ID || strlen(name) > 4096)
		return false;
	id = build_id_text(build_id, (size_t)size);
	snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s.debug", dir, id.hex, id.hex + 2);
	if (!alt_try(info, path, build_id, (size_t)size)) {
		if (name[0] == '/')
			snprintf(path, sizeof(path), "%s", name);
		else
			snprintf(path, sizeof(path), "%.*s/%s",
				 slash ? (int)(slash - file->path) : 0, file->path, name);
		if (!alt_try(info, path, build_id, (size_t)size))
			return false;
	}
	dwarf_setalt(info->dwarf, info->alt);
	return true;
}

uint64_t debug_info_bytes(const struct debug_info *info)
{
	return info->bytes;
}

struct debug_info *debug_info_open(struct symbolizer *symbolizer, const struct elf_file *file,
				   const struct elf_file *object)
{
	struct debug_info *info;

	if (!file->path)
		return NULL;
	info = calloc(1, sizeof(*info));
	if (!info)
		return NULL;
	info->symbolizer = symbolizer;
	info->object = object;
	info->dwarf = dwarf_open(symbolizer->sys, file, &info->elf, &info->bytes);
	if (info->dwarf && alt_open(info, file) && debug_units_read(info) && info->n_units)
		return info;
	debug_info_close(info);
	return NULL;
}

/* The position in the line table: what the innermost frame executes. */
static void line_of(struct debug_info *info, struct debug_unit *unit, uint64_t vaddr,
		    struct debug_frame *frame)
{
	Dwarf_Line *line = dwarf_getsrc_die(&unit->die, vaddr);
	const char *file = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
	int number = 0;

	frame->file = NULL;
	frame->line = 0;
	if (!file || dwarf_lineno(line, &number) || number <= 0)
		return;
	frame->file = symbolizer_string(info->symbolizer, file);
	frame->line = (uint32_t)number;
}

static Dwarf_Word number_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value = 0;

	if (!dwarf_attr(die, name, &attribute) || dwarf_formudata(&attribute, &value))
		return 0;
	return value;
}

void debug_inline_describe(struct debug_info *info, struct debug_unit *unit,
			   struct inline_node *node)
{
	Dwarf_Word line = number_of(&node->die, DW_AT_call_line);
	const char *path = NULL;
	Dwarf_Files *files;
	size_t n;

	if (node->described)
		return;
	node->described = true;
	debug_names(info, &node->die, &node->callee);
	if (line > 0 && line <= UINT32_MAX && !dwarf_getsrcfiles(&unit->inner, &files, &n))
		path = dwarf_filesrc(files, number_of(&node->die, DW_AT_call_file), NULL, NULL);
	if (path) {
		node->callee.file = symbolizer_string(info->symbolizer, path);
		node->callee.line = (uint32_t)line;
	}
}

/* Each inlined call stands where its caller says that it was called, the innermost where the line table
 * says. */
size_t debug_info_frames(struct debug_info *info, uint64_t vaddr, struct debug_frame *frames,
			 size_t capacity)
{
	const uint32_t unit_index = interval_map_at(&info->unit_map, vaddr);
	struct debug_frame place = { 0 };
	struct debug_function *function;
	struct debug_unit *unit;
	size_t n = 0, depth = 0;
	uint32_t node;

	if (unit_index == INTERVAL_NONE)
		return 0;
	unit = &info->units[unit_index];
	line_of(info, unit, vaddr, &place);
	function = debug_unit_function_at(info, unit, vaddr);
	if (!function) {
		frames[0] = place;
		return 1;
	}
	debug_inlines_read(info, function);
	node = interval_map_at(&function->inlines, vaddr);
	for (uint32_t i = node; i != INTERVAL_NONE; i = function->nodes[i].parent)
		depth++;
	for (; node != INTERVAL_NONE; node = function->nodes[node].parent, depth--) {
		struct inline_node *call = &function->nodes[node];

		debug_inline_describe(info, unit, call);
		/* The innermost frames are left out when there are too many. */
		if (depth < capacity)
			frames[n++] = (struct debug_frame){ call->callee.name, call->callee.symbol,
							    place.file, place.line };
		place = call->callee;
	}
	if (!function->described) {
		debug_names(info, &function->die, &function->names);
		function->described = true;
	}
	frames[n++] = (struct debug_frame){ function->names.name, function->names.symbol,
					    place.file, place.line };
	return n;
}
