/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/tags.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

void tags_init(struct tags *tags)
{
	memset(tags, 0, sizeof(*tags));
}

void tags_release(struct tags *tags)
{
	free(tags->items);
	keytable_release(&tags->index);
	tags_init(tags);
}

static bool tag_same(const struct tag *a, const struct tag *b)
{
	return a->comm == b->comm && a->pid == b->pid && a->tid == b->tid && a->cpu == b->cpu;
}

enum status tags_at(struct tags *tags, const struct tag *tag, uint32_t *index, struct error *error)
{
	uint64_t key;

	if (tags->n && tag_same(&tags->items[tags->newest], tag)) {
		*index = tags->newest;
		return STATUS_OK;
	}
	key = hash_combine((uint64_t)tag->comm << 32 | tag->pid,
			   (uint64_t)tag->tid << 32 | tag->cpu);
	/* Keys that collide are told apart by counting up. */
	while ((*index = keytable_get(&tags->index, key)) != KEYTABLE_NONE &&
	       !tag_same(&tags->items[*index], tag))
		key++;
	if (*index == KEYTABLE_NONE) {
		if (!array_reserve(&tags->items, &tags->capacity, tags->n + 1) ||
		    !keytable_set(&tags->index, key, (uint32_t)tags->n))
			return error_set(error, STATUS_NO_MEMORY,
					 "no memory for the tags of samples");
		*index = (uint32_t)tags->n;
		tags->items[tags->n++] = *tag;
	}
	tags->newest = *index;
	return STATUS_OK;
}
