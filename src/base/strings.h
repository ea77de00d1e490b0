/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A pool of interned strings: each distinct string is stored once and named by a small index.
 *
 * Indices count up from 0 in order of first appearance; string 0 is always "". Strings may hold any
 * byte but NUL. The pointers that strings_get returns stay valid until strings_release.
 */
#ifndef ASSAY_BASE_STRINGS_H
#define ASSAY_BASE_STRINGS_H

#include <stddef.h>
#include <stdint.h>

#define STRINGS_NONE UINT32_MAX

struct strings {
	char **chunks;
	size_t n_chunks, chunks_capacity;
	size_t chunk_used, chunk_size;
	const char **items;
	size_t n_items, items_capacity;
	uint32_t *slots; /* open addressing, index + 1, 0 = free */
	size_t n_slots;
};

void strings_init(struct strings *strings);
void strings_release(struct strings *strings);

/* The index of `text`, added when new; STRINGS_NONE when memory is short. */
uint32_t strings_add(struct strings *strings, const char *text);
uint32_t strings_add_n(struct strings *strings, const char *text, size_t length);

/* The string with this index, "" for one that does not exist. */
const char *strings_get(const struct strings *strings, uint32_t index);

#endif
