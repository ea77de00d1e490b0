/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/image_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

enum status image_cache_init(struct image_cache *cache, const struct sys *sys, struct error *error)
{
	const struct symbolizer_options options = { .demangle = true };

	*cache = (struct image_cache){ .symbolizer = NULL };
	return symbolizer_new(&cache->symbolizer, sys, &options, error);
}

void image_cache_release(struct image_cache *cache)
{
	for (size_t i = 0; i < cache->n; i++) {
		if (cache->files[i].code)
			code_module_close(cache->files[i].code);
		free(cache->files[i].path);
	}
	free(cache->files);
	if (cache->symbolizer)
		symbolizer_free(cache->symbolizer);
	*cache = (struct image_cache){ .symbolizer = NULL };
}

static bool is_same(const struct image_module *a, const struct image_module *b)
{
	return a->inode == b->inode && a->device == b->device && a->size == b->size &&
	       a->changed_ns == b->changed_ns && a->build_id_bytes == b->build_id_bytes &&
	       !memcmp(a->build_id, b->build_id, a->build_id_bytes) && !strcmp(a->path, b->path);
}

bool image_cache_find(const struct image_cache *cache, struct image_module *module)
{
	for (size_t i = 0; i < cache->n; i++) {
		if (!is_same(&cache->files[i], module))
			continue;
		module->symbols = cache->files[i].symbols;
		module->code = cache->files[i].code;
		module->borrowed = true;
		return true;
	}
	return false;
}

void image_cache_keep(struct image_cache *cache, struct image_module *module)
{
	struct image_module file = *module;

	if (cache->n >= IMAGE_CACHE_MAX_FILES ||
	    !array_reserve(&cache->files, &cache->capacity, cache->n + 1))
		return;
	file.path = strdup(module->path);
	file.name = NULL;
	file.why = NULL;
	if (!file.path)
		return;
	cache->files[cache->n++] = file;
	module->borrowed = true;
}
