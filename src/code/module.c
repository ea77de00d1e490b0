/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "code/module.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/checked.h"
#include "code/module_state.h"

struct code_text *code_text_at(const struct code_module *module, uint64_t vaddr)
{
	size_t low = 0, high = module->n_texts;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (module->texts[middle].end <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	return low < module->n_texts && module->texts[low].start <= vaddr ? &module->texts[low]
									  : NULL;
}

bool code_module_marked(const struct code_module *module, enum code_mark mark, uint64_t vaddr)
{
	const struct code_text *text = code_text_at(module, vaddr);

	return text && code_text_has(text, mark, vaddr);
}

void code_module_mark(struct code_module *module, enum code_mark mark, uint64_t vaddr)
{
	struct code_text *text = code_text_at(module, vaddr);

	if (text)
		code_text_set(text, mark, vaddr);
}

bool code_module_any_marked(const struct code_module *module, enum code_mark mark, uint64_t start,
			    uint64_t end)
{
	const struct code_text *text = code_text_at(module, start);

	if (!text)
		return false;
	for (uint64_t at = start; at < end && at < text->end; at++)
		if (code_text_has(text, mark, at))
			return true;
	return false;
}

void code_module_take(struct code_module *module, uint64_t vaddr)
{
	struct code_text *text = code_text_at(module, vaddr);

	if (!text)
		return;
	code_text_set(text, CODE_MARK_TAKEN, vaddr);
	code_text_set(text, CODE_MARK_HARD, vaddr);
}

void code_module_lead(struct code_module *module, uint64_t source, uint32_t from, uint64_t target)
{
	struct code_text *text = code_text_at(module, target);

	if (!text)
		return;
	code_text_set(text, CODE_MARK_HARD, target);
	if (code_module_function_at(module, target) != from)
		code_module_add_edge(module, (struct code_edge){ target, source, from });
}

void code_module_add_edge(struct code_module *module, struct code_edge edge)
{
	if (module->no_memory ||
	    !array_reserve(&module->edges, &module->edges_capacity, module->n_edges + 1))
		module->no_memory = true;
	else
		module->edges[module->n_edges++] = edge;
}

size_t code_module_edge_at(const struct code_module *module, uint64_t vaddr)
{
	size_t low = 0, high = module->n_edges;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (module->edges[middle].target < vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int text_compare(const void *a, const void *b)
{
	const struct code_text *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static void text_add(struct code_module *module, uint64_t start, uint64_t size)
{
	const uint8_t *bytes = size ? elf_file_at(&module->file, start, size) : NULL;

	if (bytes && size <= CODE_MODULE_MAX_TEXT && module->n_texts < CODE_MAX_TEXTS)
		module->texts[module->n_texts++] =
			(struct code_text){ .start = start, .end = start + size, .bytes = bytes };
}

/* Executable sections; where there are no sections, executable segments. */
static void texts_collect(struct code_module *module)
{
	const struct elf_file *file = &module->file;
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(file->elf, section))) {
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) && header.sh_type == SHT_PROGBITS &&
		    (header.sh_flags & SHF_EXECINSTR) && (header.sh_flags & SHF_ALLOC) &&
		    elf_file_segment_at(file, header.sh_addr, true))
			text_add(module, header.sh_addr, header.sh_size);
	}
	for (size_t i = 0; i < file->n_segments && !module->n_texts; i++)
		if (file->segments[i].executable)
			text_add(module, file->segments[i].vaddr, file->segments[i].file_size);
	qsort(module->texts, module->n_texts, sizeof(*module->texts), text_compare);
}

/* Sections of a hostile file may overlap: what starts inside another one is dropped. */
static bool texts_read(struct code_module *module)
{
	uint64_t total = 0, end = 0;
	size_t n = 0;

	module->texts = calloc(CODE_MAX_TEXTS, sizeof(*module->texts));
	if (!module->texts)
		return false;
	texts_collect(module);
	for (size_t i = 0; i < module->n_texts; i++) {
		struct code_text *text = &module->texts[i];

		if (text->start < end || total + (text->end - text->start) > CODE_MODULE_MAX_TEXT)
			continue;
		end = text->end;
		total += text->end - text->start;
		module->texts[n++] = *text;
	}
	module->n_texts = n;
	for (size_t i = 0; i < n; i++) {
		struct code_text *text = &module->texts[i];

		for (unsigned int m = 0; m < CODE_N_MARKS; m++) {
			text->marks[m] =
				calloc((text->end - text->start) / 64 + 1, sizeof(uint64_t));
			if (!text->marks[m])
				return false;
		}
	}
	return true;
}

static enum status analyse(struct code_module **result, struct code_module *module,
			   const struct code_module_options *options, const char *name,
			   struct error *error)
{
	const struct elf_file *file = &module->file;
	Elf_Scn *go;
	GElf_Shdr header;

	*result = NULL;
	if ((file->machine != EM_X86_64 && file->machine != EM_AARCH64) || !file->is_64_bit ||
	    file->big_endian || (file->type != ET_EXEC && file->type != ET_DYN)) {
		code_module_close(module);
		return error_set(error, STATUS_UNSUPPORTED,
				 "%s is no program or library for x86-64 or AArch64", name);
	}
	module->fixed = file->type == ET_EXEC;
	module->moving_stack = elf_file_section(file, ".gopclntab", &go, &header) ||
			       elf_file_section(file, ".go.buildinfo", &go, &header);
	module->no_memory = !texts_read(module);
	if (!module->no_memory)
		code_functions_read(module, options);
	if (!module->no_memory)
		code_sweep(module);
	code_sled_sections_find(module);
	if (!module->no_memory)
		code_data_read(module);
	if (!module->no_memory)
		code_sleds_read(module);
	if (!module->no_memory)
		code_landings_read(module);
	if (!module->no_memory)
		code_tables_read(module);
	if (!module->no_memory)
		code_parts_find(module);
	if (module->no_memory) {
		code_module_close(module);
		return error_set(error, STATUS_NO_MEMORY,
				 "no memory to analyse the machine code of %s", name);
	}
	*result = module;
	return STATUS_OK;
}

static enum status miss_error(struct error *error, enum symbol_miss miss, const char *name)
{
	enum status status = STATUS_CORRUPT;

	if (miss == SYMBOL_FILE_MISSING)
		status = STATUS_NOT_FOUND;
	else if (miss == SYMBOL_FILE_UNREADABLE)
		status = STATUS_PERMISSION;
	else if (miss == SYMBOL_NOT_ELF)
		status = STATUS_UNSUPPORTED;
	return error_set(error, status, "cannot analyse the machine code of %s: %s", name,
			 symbol_miss_text(miss));
}

enum status code_module_open(struct code_module **result, const struct sys *sys, const char *path,
			     const struct code_module_options *options, struct error *error)
{
	struct code_module *module = calloc(1, sizeof(*module));
	enum symbol_miss miss;

	*result = NULL;
	if (!module)
		return error_set(error, STATUS_NO_MEMORY, "no memory to open %s", path);
	miss = elf_file_open(&module->file, sys, path);
	if (miss != SYMBOL_OK) {
		free(module);
		return miss_error(error, miss, path);
	}
	return analyse(result, module, options, path, error);
}

enum status code_module_open_image(struct code_module **result, const void *image, size_t size,
				   const struct code_module_options *options, struct error *error)
{
	struct code_module *module = calloc(1, sizeof(*module));
	enum symbol_miss miss;

	*result = NULL;
	if (!module)
		return error_set(error, STATUS_NO_MEMORY, "no memory to analyse an ELF image");
	/* A borrowed image is not written: elf_memory() maps nothing of it writable. */
	miss = elf_file_open_image(&module->file, (void *)(uintptr_t)image, size, false);
	if (miss != SYMBOL_OK) {
		free(module);
		return miss_error(error, miss, "the ELF image");
	}
	return analyse(result, module, options, "the ELF image", error);
}

void code_module_close(struct code_module *module)
{
	if (!module)
		return;
	for (size_t i = 0; i < module->n_texts; i++)
		for (unsigned int m = 0; m < CODE_N_MARKS; m++)
			free(module->texts[i].marks[m]);
	free(module->texts);
	free(module->functions);
	free(module->edges);
	free(module->pieces);
	free(module->indirects);
	free(module->data_refs);
	free(module->ref_targets);
	free(module->pointers);
	free(module->sleds);
	free(module->symbol_order);
	interval_map_release(&module->map);
	fde_table_release(&module->fdes);
	symbol_table_release(&module->symbols);
	elf_file_release(&module->file);
	free(module);
}

uint16_t code_module_machine(const struct code_module *module)
{
	return module->file.machine;
}

const struct code_function *code_module_functions(const struct code_module *module, size_t *n)
{
	*n = module->n_functions;
	return module->functions;
}

uint32_t code_module_function_at(const struct code_module *module, uint64_t vaddr)
{
	const uint32_t function = interval_map_at(&module->map, vaddr);

	return function == INTERVAL_NONE ? CODE_NO_FUNCTION : function;
}

size_t code_module_ranges(const struct code_module *module, uint32_t function,
			  struct code_range *ranges, size_t capacity)
{
	size_t low = 0, high = module->n_pieces, n = 0;

	if (function >= module->n_functions || !capacity)
		return 0;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (module->pieces[middle].owner < function)
			low = middle + 1;
		else
			high = middle;
	}
	ranges[n++] = module->functions[function].range;
	for (; low < module->n_pieces && module->pieces[low].owner == function && n < capacity;
	     low++)
		ranges[n++] = module->pieces[low].range;
	return n;
}

const uint8_t *code_module_bytes(const struct code_module *module, uint64_t vaddr, uint64_t size)
{
	const struct code_text *text = code_text_at(module, vaddr);

	if (!text || !checked_range(vaddr - text->start, size, text->end - text->start))
		return NULL;
	return text->bytes + (vaddr - text->start);
}

void code_module_notes(const struct code_module *module,
		       bool (*each)(void *data, const struct code_note *note), void *data)
{
	code_notes_read(&module->file, each, data);
}

bool code_module_is_target(const struct code_module *module, uint64_t vaddr)
{
	return code_module_marked(module, CODE_MARK_DIRECT, vaddr) ||
	       code_module_marked(module, CODE_MARK_HARD, vaddr);
}
