/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "record/id_map.h"

#include <stdlib.h>

#include "base/hash.h"

void id_map_release(struct id_map *map)
{
	free(map->entries);
	*map = (struct id_map){ 0 };
}

static size_t home_of(const struct id_map *map, uint64_t key)
{
	return hash_u64(key) & (map->capacity - 1);
}

static size_t place_of(const struct id_map *map, uint64_t key)
{
	size_t at = home_of(map, key);

	while (map->entries[at].value != ID_MAP_NONE && map->entries[at].key != key)
		at = (at + 1) & (map->capacity - 1);
	return at;
}

/* At most half full. */
static bool map_grow(struct id_map *map)
{
	struct id_map grown = { .capacity = map->capacity ? 2 * map->capacity : 64 };

	if (2 * (map->n + 1) <= map->capacity)
		return true;
	grown.entries = malloc(grown.capacity * sizeof(*grown.entries));
	if (!grown.entries)
		return false;
	for (size_t i = 0; i < grown.capacity; i++)
		grown.entries[i].value = ID_MAP_NONE;
	for (size_t i = 0; i < map->capacity; i++)
		if (map->entries[i].value != ID_MAP_NONE)
			grown.entries[place_of(&grown, map->entries[i].key)] = map->entries[i];
	grown.n = map->n;
	free(map->entries);
	*map = grown;
	return true;
}

bool id_map_put(struct id_map *map, uint64_t key, uint32_t value)
{
	size_t at;

	if (!map_grow(map))
		return false;
	at = place_of(map, key);
	if (map->entries[at].value == ID_MAP_NONE)
		map->n++;
	map->entries[at] = (struct id_map_entry){ key, value };
	return true;
}

uint32_t id_map_get(const struct id_map *map, uint64_t key)
{
	return map->n ? map->entries[place_of(map, key)].value : ID_MAP_NONE;
}

/* Closes the gap: each follower whose home lies at or before the gap (cyclically) moves into it. */
void id_map_remove(struct id_map *map, uint64_t key)
{
	const size_t mask = map->capacity - 1;
	size_t gap, at;

	if (!map->n)
		return;
	gap = place_of(map, key);
	if (map->entries[gap].value == ID_MAP_NONE)
		return;
	for (at = (gap + 1) & mask; map->entries[at].value != ID_MAP_NONE; at = (at + 1) & mask) {
		const size_t home = home_of(map, map->entries[at].key);

		if (((at - home) & mask) < ((at - gap) & mask))
			continue;
		map->entries[gap] = map->entries[at];
		gap = at;
	}
	map->entries[gap].value = ID_MAP_NONE;
	map->n--;
}
