/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A map from 64-bit keys (event ids, thread ids, inodes) to 32-bit numbers, with removal.
 *
 * Open addressing with linear probing; removal shifts the followers back, so that hours of threads
 * coming and going leave no tombstones. Memory follows the largest number of living keys.
 */
#ifndef ASSAY_RECORD_ID_MAP_H
#define ASSAY_RECORD_ID_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ID_MAP_NONE UINT32_MAX

struct id_map_entry {
	uint64_t key;
	uint32_t value; /* ID_MAP_NONE: free */
};

struct id_map {
	struct id_map_entry *entries;
	size_t n, capacity; /* capacity 0 or a power of two */
};

/* A zeroed struct is an empty map. */
void id_map_release(struct id_map *map);

/* Adds or replaces; value must not be ID_MAP_NONE. False when memory is short. */
bool id_map_put(struct id_map *map, uint64_t key, uint32_t value);
uint32_t id_map_get(const struct id_map *map, uint64_t key);
void id_map_remove(struct id_map *map, uint64_t key);

#endif
