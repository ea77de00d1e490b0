/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/module.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/minidebug.h"
#include "symbolize/perf_map.h"
#include "symbolize/plt.h"
#include "symbolize/symbolizer_state.h"
#include "symbolize/vdso.h"

static bool text_copy(const char **to, const char *from)
{
	*to = from ? strdup(from) : NULL;
	return *to || !from;
}

/* The file's own name. A path that ends in a slash, or a pseudo path such as "[vdso]", is its name; so
 * is that of a file whose own name looks like a pseudo path. */
static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] && slash[1] != '[' ? slash + 1 : path;
}

struct module *module_new(struct symbolizer *symbolizer, enum module_kind kind,
			  const struct module_identity *identity)
{
	struct module *module = calloc(1, sizeof(*module));
	uint8_t *build_id = NULL;

	if (!module)
		return NULL;
	module->kind = kind;
	module->symbolizer = symbolizer;
	module->identity = *identity;
	module->identity.copy = NULL;
	module->identity.build_id = NULL;
	if (!text_copy(&module->identity.path, identity->path ? identity->path : "") ||
	    !text_copy(&module->identity.copy, identity->copy))
		goto no_memory;
	if (identity->build_id && identity->build_id_size) {
		build_id = malloc(identity->build_id_size);
		if (!build_id)
			goto no_memory;
		memcpy(build_id, identity->build_id, identity->build_id_size);
		module->identity.build_id = build_id;
	} else {
		module->identity.build_id_size = 0;
	}
	module->name = name_of(module->identity.path);
	if (kind == MODULE_KERNEL) {
		module->kernel = kernel_new();
		if (!module->kernel)
			goto no_memory;
	}
	return module;
no_memory:
	module_free(module);
	return NULL;
}

void module_free(struct module *module)
{
	if (!module)
		return;
	if (module->cfi)
		cfi_cache_release(module->cfi);
	free(module->cfi);
	debug_info_close(module->info);
	function_model_release(&module->model);
	symbol_table_release(&module->symbols);
	elf_file_release(&module->mini);
	elf_file_release(&module->debug);
	elf_file_release(&module->file);
	kernel_free(module->kernel);
	free(module->text);
	free(module->remedy);
	free((char *)module->identity.path);
	free((char *)module->identity.copy);
	free((uint8_t *)module->identity.build_id);
	free(module);
}

/* Mappings that are backed by no file: their code has a name only through a perf map. */
static bool path_is_anonymous(const char *path)
{
	return !path[0] || !strcmp(path, "//anon") || path[0] == '[' ||
	       !strncmp(path, "anon_inode:", 11) || !strcmp(path, "/dev/zero") ||
	       !strncmp(path, "/SYSV", 5);
}

static enum symbol_miss file_open(struct module *module)
{
	struct symbolizer *symbolizer = module->symbolizer;
	const struct module_identity *identity = &module->identity;

	if (!identity->copy && path_is_anonymous(identity->path))
		return SYMBOL_ANONYMOUS;
	return debug_search_object(&symbolizer->search, identity, &module->file,
				   &module->unverified);
}

/* The recording's own maps first, then those the user points at, then where runtimes write them. */
static enum symbol_miss perf_map_open(struct module *module)
{
	const struct symbolizer_options *options = &module->symbolizer->options;
	const struct sys *sys = module->symbolizer->sys;
	enum symbol_miss miss = SYMBOL_ANONYMOUS;
	char below[DEBUG_SEARCH_MAX_PATH];
	size_t size;

	if (options->map_dir)
		miss = perf_map_read(sys, options->map_dir, module->pid, true, &module->text,
				     &size);
	if (miss != SYMBOL_OK && options->symfs &&
	    (size_t)snprintf(below, sizeof(below), "%s/tmp", options->symfs) < sizeof(below))
		miss = perf_map_read(sys, below, module->pid, true, &module->text, &size);
	if (miss != SYMBOL_OK && !module->identity.foreign)
		miss = perf_map_read(sys, "/tmp", module->pid, false, &module->text, &size);
	if (miss == SYMBOL_OK)
		module->memory_short = !perf_map_parse(module->text, size, &module->model);
	return miss;
}

enum symbol_miss module_open(struct module *module)
{
	if (module->opened)
		return module->miss;
	module->opened = true;
	switch (module->kind) {
	case MODULE_FILE: module->miss = file_open(module); break;
	case MODULE_VDSO:
		module->miss = vdso_open(&module->file, module->symbolizer->sys, &module->identity);
		break;
	case MODULE_KERNEL: module->miss = kernel_open(module); break;
	case MODULE_PERF_MAP: module->miss = perf_map_open(module); break;
	case MODULE_LABEL: module->miss = SYMBOL_OK; break;
	}
	return module->miss;
}

/* Tables are read from the fullest to the poorest; the same name twice does no harm. */
static bool symbols_read(struct module *module)
{
	struct symbol_table *table = &module->symbols;
	size_t n_debug = 0, n_own = 0, n_mini = 0, n_dynamic;

	if (debug_search_debug(&module->symbolizer->search, &module->file, &module->debug) &&
	    !symbol_table_read(table, &module->debug, SHT_SYMTAB, &n_debug))
		return false;
	if (!n_debug && !symbol_table_read(table, &module->file, SHT_SYMTAB, &n_own))
		return false;
	module->has_symtab = n_debug || n_own;
	if (!module->has_symtab && minidebug_open(&module->mini, &module->file) == SYMBOL_OK &&
	    !symbol_table_read(table, &module->mini, SHT_SYMTAB, &n_mini))
		return false;
	module->has_symtab |= n_mini > 0;
	return symbol_table_read(table, &module->file, SHT_DYNSYM, &n_dynamic) &&
	       plt_read(table, &module->file);
}

/* The model points at the names, no longer at the array. */
static void symbols_drop(struct symbol_table *table)
{
	free(table->symbols);
	table->symbols = NULL;
	table->n = table->capacity = 0;
}

/* The vdso calls its functions twice, "__vdso_time" and, weak, "time": the latter is what libc calls its
 * own, and a reader could not tell the two apart. */
static void vdso_names_drop(struct symbol_table *table)
{
	size_t n = 0;

	for (size_t i = 0; i < table->n; i++)
		if (table->symbols[i].binding != STB_WEAK)
			table->symbols[n++] = table->symbols[i];
	table->n = n;
}

static bool elf_model_build(struct module *module)
{
	struct fde_table fdes = { 0 };
	bool good = symbols_read(module);

	if (module->kind == MODULE_VDSO)
		vdso_names_drop(&module->symbols);
	good = good &&
	       fde_table_read(&fdes, &module->file, module->debug.elf ? &module->debug : NULL) &&
	       function_model_build(&module->model, &module->symbols, &fdes);
	fde_table_release(&fdes);
	return good;
}

static bool kernel_model_build(struct module *module)
{
	const struct fde_table none = { 0 };

	return function_model_build(&module->model, &module->symbols, &none);
}

struct function_model *module_model(struct module *module)
{
	if (module_open(module) != SYMBOL_OK)
		return NULL;
	if (!module->modelled) {
		module->modelled = true;
		if (module->kind == MODULE_FILE || module->kind == MODULE_VDSO)
			module->memory_short = !elf_model_build(module);
		else if (module->kind == MODULE_KERNEL)
			module->memory_short = !kernel_model_build(module);
		module->symbols_damaged = module->symbols.damaged;
		symbols_drop(&module->symbols);
	}
	return module->memory_short ? NULL : &module->model;
}

/* The model is built first: that finds the separate debug file, which may hold .debug_frame. */
struct cfi_cache *module_cfi(struct module *module)
{
	if (module->cfi || module_open(module) != SYMBOL_OK || !module->file.elf)
		return module->cfi;
	module_model(module);
	module->cfi = malloc(sizeof(*module->cfi));
	if (module->cfi)
		cfi_cache_init(module->cfi, &module->file,
			       module->debug.elf ? &module->debug : NULL);
	return module->cfi;
}

/* Closes what was not used for longest until the rest is within the limit. What frames were given before
 * stays valid: strings are the symbolizer's. */
static void debug_info_make_room(struct symbolizer *symbolizer, const struct module *keep)
{
	while (symbolizer->debug_bytes > symbolizer->debug_limit) {
		struct module *oldest = NULL;

		for (size_t i = 0; i < symbolizer->n_modules; i++) {
			struct module *module = symbolizer->modules[i];

			if (module->info && module != keep &&
			    (!oldest || module->info_used < oldest->info_used))
				oldest = module;
		}
		if (!oldest)
			return;
		symbolizer->debug_bytes -= debug_info_bytes(oldest->info);
		debug_info_close(oldest->info);
		oldest->info = NULL;
		oldest->info_closed = true;
	}
}

/* The separate file is the better one when both have some. */
static struct debug_info *module_info_open(struct module *module)
{
	struct symbolizer *symbolizer = module->symbolizer;
	struct debug_info *info = NULL;

	if (!module_model(module) || !module->file.elf)
		return NULL;
	if (module->debug.elf)
		info = debug_info_open(symbolizer, &module->debug, &module->file);
	if (!info)
		info = debug_info_open(symbolizer, &module->file, &module->file);
	if (!info)
		return NULL;
	symbolizer->debug_bytes += debug_info_bytes(info);
	debug_info_make_room(symbolizer, module);
	return info;
}

struct debug_info *module_debug_info(struct module *module)
{
	if (!module->informed || module->info_closed) {
		module->informed = true;
		module->info_closed = false;
		module->info = module_info_open(module);
	}
	module->info_used = ++module->symbolizer->debug_clock;
	return module->info;
}

/* Names and wholes are found when a function is first looked at: most never are. */
const char *module_function_name(struct module *module, struct function *function)
{
	struct function_model *model = &module->model;
	char text[64 + 4096];

	if (function->name)
		return function->name;
	if (module->kind == MODULE_PERF_MAP) {
		function->name = symbolizer_string(module->symbolizer, function->symbol);
	} else if (function->symbol) {
		function->name = symbolizer_name(module->symbolizer, function->symbol);
		if (model->n && function >= model->functions &&
		    function < model->functions + model->n)
			function->parent = function_model_whole(
				model, (uint32_t)(function - model->functions));
	} else {
		snprintf(text, sizeof(text), "%.4096s+%#" PRIx64, module->name,
			 function->start.value);
		function->name = symbolizer_string(module->symbolizer, text);
	}
	return function->name;
}

struct function *module_function_find(struct module *module, uint64_t vaddr, struct module **part)
{
	struct function_model *model = module_model(module);
	struct function *function = NULL;
	uint32_t index;

	*part = module;
	if (!model)
		return NULL;
	if (module->kind == MODULE_KERNEL) {
		function = kernel_function_at(module, vaddr, part);
	} else {
		index = function_model_at(model, vaddr);
		if (index != FUNCTION_NONE)
			function = &model->functions[index];
	}
	if (function)
		module_function_name(module, function);
	return function;
}

const char *module_name(const struct module *module)
{
	return module->name;
}

const char *module_path(const struct module *module)
{
	return module->identity.path;
}

enum symbol_miss module_miss(const struct module *module)
{
	return module_open((struct module *)module);
}

bool module_unverified(const struct module *module)
{
	module_open((struct module *)module);
	return module->unverified;
}

const struct function *module_functions(struct module *module, size_t *n)
{
	struct function_model *model = module_model(module);

	*n = 0;
	if (!model || module->kind == MODULE_KERNEL)
		return NULL;
	for (size_t i = 0; i < model->n; i++)
		module_function_name(module, &model->functions[i]);
	*n = model->n;
	return model->functions;
}

const struct function *module_function_at(struct module *module, struct elf_vaddr address)
{
	struct module *part;

	return module_function_find(module, address.value, &part);
}

const struct function *module_function_parent(struct module *module,
					      const struct function *function)
{
	struct function_model *model;
	struct function *parent = NULL;

	if (module->whole)
		module = module->whole;
	model = module_model(module);
	if (!model)
		return function;
	if (model->n && function >= model->functions && function < model->functions + model->n)
		parent = &model->functions[function->parent];
	else if (module->kind == MODULE_KERNEL)
		parent = kallsyms_function(&module->kernel->kallsyms, function->parent);
	if (!parent)
		return function;
	module_function_name(module, parent);
	return parent;
}

/* Segments of one file can share a page of it, so the exact segment is preferred; the rest of its first
 * and last page is mapped with it. */
bool module_vaddr(struct module *module, struct file_offset offset, struct elf_vaddr *address)
{
	const uint64_t page_mask = 0xffff;
	const struct elf_segment *near = NULL;

	if (module->kind == MODULE_KERNEL || module->kind == MODULE_PERF_MAP) {
		address->value = offset.value;
		return true;
	}
	if (module_open(module) != SYMBOL_OK)
		return false;
	for (size_t i = 0; i < module->file.n_segments; i++) {
		const struct elf_segment *segment = &module->file.segments[i];

		if (!segment->executable || !segment->file_size)
			continue;
		if (offset.value >= segment->offset &&
		    offset.value - segment->offset < segment->file_size) {
			near = segment;
			break;
		}
		if (!near && offset.value >= (segment->offset & ~page_mask) &&
		    offset.value <= ((segment->offset + segment->file_size) | page_mask))
			near = segment;
	}
	if (!near)
		return false;
	address->value = offset.value - near->offset + near->vaddr;
	return true;
}
