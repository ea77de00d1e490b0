/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/image.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/array.h"
#include "base/hash.h"
#include "code/notes.h"
#include "probe/image_cache.h"
#include "probe/point_line.h"
#include "symbolize/symbol_table.h"
#include "target/mapped_file.h"
#include "target/maps.h"

#define MAX_DYNAMIC_BYTES 65536u

enum status image_read_maps(struct image *image, struct error *error)
{
	char path[64];

	free(image->maps);
	image->maps = NULL;
	snprintf(path, sizeof(path), "/proc/%d/maps", image->pid);
	return sys_read_file(image->sys, -1, path, MAPS_MAX_BYTES, &image->maps, NULL, error);
}

static struct image_module *module_of(struct image *image, const struct map *map)
{
	for (size_t i = 0; i < image->n; i++) {
		struct image_module *module = &image->modules[i];

		if (module->inode == map->inode && module->presence != IMAGE_OTHER &&
		    module->device == makedev(map->major, map->minor) &&
		    !strcmp(module->path, map->path))
			return module;
	}
	return NULL;
}

/* Whether a function of this model is meant: analysing code is dear, names are cheap. */
static bool model_is_meant(const struct selection *selection, const char *path,
			   const struct function *functions, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (selection_means(selection, path, functions[i].symbol) ||
		    selection_means(selection, path, functions[i].name))
			return true;
	}
	return false;
}

struct wanted_marks {
	struct selection *selection;
	const char *path;
	bool found;
};

static bool mark_seen(void *data, const struct code_note *note)
{
	struct wanted_marks *wanted = data;

	for (size_t i = 0; i < wanted->selection->n && !wanted->found; i++)
		wanted->found = selection_means_mark(&wanted->selection->words[i], wanted->path,
						     note->provider, note->name);
	return !wanted->found;
}

/* The model names each function once; its other names stand in the tables alone. */
static bool alias_is_meant(const struct image *image, struct selection *selection, const char *path,
			   const char *file_path)
{
	struct wanted_marks marks = { selection, path, false };
	struct symbol_table table = { 0 };
	struct elf_file file;
	size_t n;
	bool meant = false;

	if (elf_file_open(&file, image->sys, file_path) != SYMBOL_OK)
		return true; /* the analysis will say what is wrong */
	(void)symbol_table_read(&table, &file, SHT_SYMTAB, &n);
	(void)symbol_table_read(&table, &file, SHT_DYNSYM, &n);
	for (size_t i = 0; i < table.n && !meant; i++)
		meant = selection_means(selection, path, table.symbols[i].name);
	code_notes_read(&file, mark_seen, &marks);
	symbol_table_release(&table);
	elf_file_release(&file);
	return meant || marks.found;
}

static uint64_t stamp_ns(const struct timespec *stamp)
{
	return (uint64_t)stamp->tv_sec * UINT64_C(1000000000) + (uint64_t)stamp->tv_nsec;
}

static enum status module_file_open(const struct image *image, const struct image_module *module,
				    struct mapped_file *file, struct error *error)
{
	const struct mapping mapping = { image->pid,
					 module->start,
					 module->first_end,
					 major(module->device),
					 minor(module->device),
					 module->inode,
					 module->path };

	return mapped_file_open(file, image->sys, &mapping, error);
}

bool image_is_same_file(const struct image *image, const struct image_module *module)
{
	uint8_t id[BUILD_ID_MAX_BYTES];
	struct mapped_file file;
	struct error ignored;
	size_t n;
	bool same;

	if (module_file_open(image, module, &file, &ignored) != STATUS_OK)
		return false;
	n = build_id_read(image->sys, file.fd, id);
	same = (uint64_t)file.stat.st_size == module->size &&
	       stamp_ns(&file.stat.st_ctim) == module->changed_ns && n == module->build_id_bytes &&
	       !memcmp(id, module->build_id, n);
	image->sys->close(image->sys->state, file.fd);
	return same;
}

/* DT_TEXTREL or DF_TEXTREL: the loader writes into the code, at a time that nobody outside sees. */
static bool relocates_text(const struct sys *sys, int fd, const Elf64_Phdr *dynamic)
{
	Elf64_Dyn item;

	for (uint64_t at = 0; at + sizeof(item) <= dynamic->p_filesz && at < MAX_DYNAMIC_BYTES;
	     at += sizeof(item)) {
		if (sys_pread_full(sys, fd, &item, sizeof(item), (off_t)(dynamic->p_offset + at)) !=
			    (ssize_t)sizeof(item) ||
		    item.d_tag == DT_NULL)
			return false;
		if (item.d_tag == DT_TEXTREL ||
		    (item.d_tag == DT_FLAGS && (item.d_un.d_val & DF_TEXTREL)))
			return true;
	}
	return false;
}

static bool file_relocates_text(const struct sys *sys, int fd)
{
	Elf64_Ehdr header;
	Elf64_Phdr segment;

	if (sys_pread_full(sys, fd, &header, sizeof(header), 0) != (ssize_t)sizeof(header) ||
	    header.e_phentsize != sizeof(segment))
		return false;
	for (uint64_t i = 0; i < header.e_phnum; i++) {
		if (sys_pread_full(sys, fd, &segment, sizeof(segment),
				   (off_t)(header.e_phoff + i * sizeof(segment))) !=
		    (ssize_t)sizeof(segment))
			return false;
		if (segment.p_type == PT_DYNAMIC)
			return relocates_text(sys, fd, &segment);
	}
	return false;
}

/* Reads the file that is mapped: its identity, names and, if any of them is meant, its code. */
static enum status module_read(struct image *image, struct selection *selection,
			       struct image_module *module, struct error *error)
{
	struct module_identity identity = { .path = module->path,
					    .device = module->device,
					    .inode = module->inode };
	struct code_module_options options = { 0 };
	struct mapped_file file;
	char path[64];
	enum status status = module_file_open(image, module, &file, error);

	if (status == STATUS_OK) {
		module->size = identity.size = (uint64_t)file.stat.st_size;
		module->changed_ns = stamp_ns(&file.stat.st_ctim);
		module->relocates_text = file_relocates_text(image->sys, file.fd);
		module->build_id_bytes = build_id_read(image->sys, file.fd, module->build_id);
		identity.mtime_ns = stamp_ns(&file.stat.st_mtim);
		if (module->build_id_bytes) {
			identity.build_id = module->build_id;
			identity.build_id_size = module->build_id_bytes;
		}
		if (image->cache && image_cache_find(image->cache, module)) {
			image->sys->close(image->sys->state, file.fd);
			return STATUS_OK;
		}
		snprintf(path, sizeof(path), "/proc/self/fd/%d", file.fd);
		if (!file.path_is_it) /* deleted or replaced since, or of another root */
			identity.path = path;
		module->symbols = symbolizer_module(image->symbolizer, &identity);
		if (module->symbols && module_miss(module->symbols) == SYMBOL_OK)
			options.functions = module_functions(module->symbols, &options.n_functions);
		if (!options.functions ||
		    model_is_meant(selection, module->path, options.functions,
				   options.n_functions) ||
		    alias_is_meant(image, selection, module->path, path) ||
		    point_line_any(selection, module))
			status = code_module_open(&module->code, image->sys, path, &options, error);
		image->sys->close(image->sys->state, file.fd);
		if (status != STATUS_OK)
			module->code = NULL;
		else if (image->cache)
			image_cache_keep(image->cache, module);
	}
	return status;
}

static void module_analyse(struct image *image, struct selection *selection,
			   struct image_module *module)
{
	struct elf_vaddr vaddr;
	struct error error;

	if (module_read(image, selection, module, &error) != STATUS_OK) {
		module->why = strdup(error.text);
		return;
	}
	if (!module->code) /* nothing of it is meant */
		return;
	if (module->symbols && module_miss(module->symbols) == SYMBOL_OK &&
	    module_vaddr(module->symbols, (struct file_offset){ module->offset }, &vaddr)) {
		module->bias = module->start - vaddr.value;
		return;
	}
	if (!module->borrowed)
		code_module_close(module->code);
	module->code = NULL;
	module->why = strdup("its file cannot be read as it was mapped");
}

static enum status mapping_add(struct image *image, struct selection *selection,
			       const struct map *map, struct error *error)
{
	struct image_module *module = module_of(image, map);
	const char *slash = strrchr(map->path, '/');

	if (module) {
		module->high = map->end > module->high ? map->end : module->high;
		return STATUS_OK;
	}
	if (selection_skips_module(selection, map->path))
		return STATUS_OK;
	if (image->n >= image->most ||
	    !array_reserve(&image->modules, &image->capacity, image->n + 1))
		return error_set(error, STATUS_LIMIT, "process %d has too many modules",
				 image->pid);
	module = &image->modules[image->n++];
	*module = (struct image_module){ .path = strdup(map->path),
					 .device = makedev(map->major, map->minor),
					 .inode = map->inode,
					 .start = map->start,
					 .first_end = map->end,
					 .offset = map->offset,
					 .low = map->start,
					 .high = map->end };
	if (!module->path)
		return error_set(error, STATUS_NO_MEMORY, "out of memory");
	module->name = slash ? module->path + (slash - map->path) + 1 : module->path;
	module_analyse(image, selection, module);
	return STATUS_OK;
}

static bool is_code(const struct map *map)
{
	return (map->protection & PROT_EXEC) && map->inode && *map->path == '/';
}

enum status image_open(struct image *image, const struct sys *sys, pid_t pid,
		       struct selection *selection, struct image_cache *cache, struct error *error)
{
	const struct symbolizer_options options = { .demangle = true };
	struct map map;
	const char *at;
	enum status status = STATUS_OK;

	*image =
		(struct image){ .sys = sys, .pid = pid, .cache = cache, .most = IMAGE_MAX_MODULES };
	if (cache)
		image->symbolizer = cache->symbolizer;
	else
		status = symbolizer_new(&image->symbolizer, sys, &options, error);
	if (status == STATUS_OK)
		status = image_read_maps(image, error);
	at = image->maps;
	while (status == STATUS_OK && maps_next(&at, &map)) {
		if (is_code(&map))
			status = mapping_add(image, selection, &map, error);
	}
	image->most = image->n + IMAGE_MAX_LATER;
	if (status == STATUS_OK && !array_reserve(&image->modules, &image->capacity, image->most))
		status = error_set(error, STATUS_NO_MEMORY, "out of memory");
	return status;
}

/* A mapping of code, short. */
struct code_map {
	uint64_t start, offset, device, inode, path_hash;
};

static struct code_map code_map_of(const struct map *map)
{
	return (struct code_map){ map->start, map->offset, makedev(map->major, map->minor),
				  map->inode, hash_bytes(map->path, strlen(map->path)) };
}

static struct code_map *code_maps_read(const struct image *image, size_t *n)
{
	struct code_map *maps = NULL;
	const char *at = image->maps;
	size_t capacity = 0;
	struct map map;

	*n = 0;
	while (maps_next(&at, &map)) {
		if (!is_code(&map))
			continue;
		if (!array_reserve(&maps, &capacity, *n + 1)) {
			free(maps);
			return NULL;
		}
		maps[(*n)++] = code_map_of(&map);
	}
	/* none at all is no failure */
	if (!maps && !array_reserve(&maps, &capacity, 1))
		return NULL;
	return maps;
}

/* The module's first code where it was, else the first that its file has anywhere; NULL: it is gone. */
static const struct code_map *mapping_of(const struct image_module *module,
					 const struct code_map *maps, size_t n)
{
	const uint64_t path_hash = hash_bytes(module->path, strlen(module->path));
	const struct code_map *found = NULL;

	for (size_t i = 0; i < n; i++) {
		if (maps[i].inode != module->inode || maps[i].offset != module->offset ||
		    maps[i].device != module->device || maps[i].path_hash != path_hash)
			continue;
		if (maps[i].start == module->start)
			return &maps[i];
		found = found ? found : &maps[i];
	}
	return found;
}

/* Code of a file lies together: its other mappings move by as much. */
static void module_move(struct image_module *module, uint64_t start)
{
	const uint64_t by = start - module->start;

	module->start += by;
	module->first_end += by;
	module->bias += by;
	module->low += by;
	module->high += by;
}

static void presence_update(const struct image *image, struct image_module *module,
			    const struct code_map *maps, size_t n)
{
	const struct code_map *map = mapping_of(module, maps, n);

	if (module->presence == IMAGE_OTHER)
		return;
	if (!map) {
		module->presence = IMAGE_GONE;
		return;
	}
	if (map->start == module->start && module->presence == IMAGE_HERE)
		return;
	module_move(module, map->start);
	module->presence = image_is_same_file(image, module) ? IMAGE_BACK : IMAGE_OTHER;
}

enum status image_update(struct image *image, struct selection *selection, struct error *error)
{
	const size_t n_before = image->n;
	const char *at = image->maps;
	struct code_map *maps;
	struct map map;
	size_t n;
	enum status status = STATUS_OK;

	maps = code_maps_read(image, &n);
	if (!maps)
		return error_set(error, STATUS_NO_MEMORY, "out of memory");
	for (size_t i = 0; i < image->n; i++)
		presence_update(image, &image->modules[i], maps, n);
	free(maps);
	while (status == STATUS_OK && maps_next(&at, &map)) {
		const struct image_module *known = is_code(&map) ? module_of(image, &map) : NULL;

		if (is_code(&map) && (!known || known >= &image->modules[n_before]))
			status = mapping_add(image, selection, &map, error);
	}
	return status;
}

void image_release(struct image *image)
{
	for (size_t i = 0; i < image->n; i++) {
		if (image->modules[i].code && !image->modules[i].borrowed)
			code_module_close(image->modules[i].code);
		free(image->modules[i].path);
		free(image->modules[i].why);
	}
	free(image->modules);
	free(image->maps);
	if (image->symbolizer && !image->cache)
		symbolizer_free(image->symbolizer);
	*image = (struct image){ .sys = image->sys };
}

size_t image_names(const struct image_module *module, const struct code_function *function,
		   const char *names[IMAGE_MAX_NAMES + 1], const char **shown)
{
	const struct function *known =
		module_function_at(module->symbols, (struct elf_vaddr){ function->range.start });
	size_t n =
		code_module_names_at(module->code, function->range.start, names, IMAGE_MAX_NAMES);

	*shown = n ? names[0] : "";
	if (known && known->start.value == function->range.start && known->name) {
		*shown = known->name;
		names[n++] = known->name;
	}
	return n;
}
