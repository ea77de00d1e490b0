/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/strings.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

#define CHUNK_SIZE (64u * 1024)

void strings_init(struct strings *strings)
{
	memset(strings, 0, sizeof(*strings));
}

void strings_release(struct strings *strings)
{
	for (size_t i = 0; i < strings->n_chunks; i++)
		free(strings->chunks[i]);
	free(strings->chunks);
	free(strings->items);
	free(strings->slots);
	strings_init(strings);
}

static char *chunk_take(struct strings *strings, size_t size)
{
	char *taken;

	if (!strings->n_chunks || strings->chunk_size - strings->chunk_used < size) {
		const size_t chunk_size = size > CHUNK_SIZE ? size : CHUNK_SIZE;
		char *chunk;

		if (!array_reserve(&strings->chunks, &strings->chunks_capacity,
				   strings->n_chunks + 1))
			return NULL;
		chunk = malloc(chunk_size);
		if (!chunk)
			return NULL;
		strings->chunks[strings->n_chunks++] = chunk;
		strings->chunk_size = chunk_size;
		strings->chunk_used = 0;
	}
	taken = strings->chunks[strings->n_chunks - 1] + strings->chunk_used;
	strings->chunk_used += size;
	return taken;
}

/* The slot that holds `text`, or the free one where it belongs. */
static size_t slot_find(const struct strings *strings, const char *text, size_t length)
{
	const size_t mask = strings->n_slots - 1;
	size_t slot = hash_bytes(text, length) & mask;

	for (; strings->slots[slot]; slot = (slot + 1) & mask) {
		const char *item = strings->items[strings->slots[slot] - 1];

		if (!strncmp(item, text, length) && !item[length])
			break;
	}
	return slot;
}

/* Keeps the table at most half full. */
static int slots_grow(struct strings *strings)
{
	uint32_t *old = strings->slots;
	const size_t old_n = strings->n_slots;

	if (2 * (strings->n_items + 1) <= old_n)
		return 1;
	strings->slots = calloc(old_n ? 2 * old_n : 256, sizeof(*strings->slots));
	if (!strings->slots) {
		strings->slots = old;
		return 0;
	}
	strings->n_slots = old_n ? 2 * old_n : 256;
	for (size_t i = 0; i < old_n; i++)
		if (old[i]) {
			const char *item = strings->items[old[i] - 1];

			strings->slots[slot_find(strings, item, strlen(item))] = old[i];
		}
	free(old);
	return 1;
}

static uint32_t item_add(struct strings *strings, const char *text, size_t length)
{
	size_t slot;
	char *copy;

	if (!slots_grow(strings))
		return STRINGS_NONE;
	slot = slot_find(strings, text, length);
	if (strings->slots[slot])
		return strings->slots[slot] - 1;
	if (strings->n_items >= STRINGS_NONE - 1 ||
	    !array_reserve(&strings->items, &strings->items_capacity, strings->n_items + 1))
		return STRINGS_NONE;
	copy = chunk_take(strings, length + 1);
	if (!copy)
		return STRINGS_NONE;
	memcpy(copy, text, length);
	copy[length] = '\0';
	strings->items[strings->n_items++] = copy;
	strings->slots[slot] = (uint32_t)strings->n_items;
	return strings->slots[slot] - 1;
}

uint32_t strings_add_n(struct strings *strings, const char *text, size_t length)
{
	if (!strings->n_items && item_add(strings, "", 0) == STRINGS_NONE)
		return STRINGS_NONE;
	return item_add(strings, text, strnlen(text, length));
}

uint32_t strings_add(struct strings *strings, const char *text)
{
	return strings_add_n(strings, text, strlen(text));
}

const char *strings_get(const struct strings *strings, uint32_t index)
{
	return index < strings->n_items ? strings->items[index] : "";
}
