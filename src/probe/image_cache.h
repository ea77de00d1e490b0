/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Files whose code was analysed, for the images of many processes that have them mapped: of a hundred compilers that are
 * followed the first one is dear.
 *
 * A file is known by device, inode, size, time of change, build-id and path, as in image.h. What the selection did not
 * mean is kept, too. The cache owns what it keeps; images borrow it.
 */
#ifndef ASSAY_PROBE_IMAGE_CACHE_H
#define ASSAY_PROBE_IMAGE_CACHE_H

#include "probe/image.h"

#define IMAGE_CACHE_MAX_FILES 1024u /* analysed beyond these: by each process for itself */

struct image_cache {
	struct symbolizer *symbolizer;
	struct image_module *files; /* without a place */
	size_t n, capacity;
};

/* Release it after all images that borrow from it. */
MUST_CHECK enum status image_cache_init(struct image_cache *cache, const struct sys *sys,
					struct error *error);
void image_cache_release(struct image_cache *cache);

/* Takes symbols and code from the cache, if it has the file; the module's identity must be known. */
bool image_cache_find(const struct image_cache *cache, struct image_module *module);

/* Hands what was analysed over to the cache; when it is full, or there is no memory, the module keeps it. */
void image_cache_keep(struct image_cache *cache, struct image_module *module);

#endif
