/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/keytable.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/hash.h"

void keytable_init(struct keytable *table)
{
	memset(table, 0, sizeof(*table));
}

void keytable_release(struct keytable *table)
{
	free(table->slots);
	keytable_init(table);
}

/* The slot that holds `key`, or the free one where it belongs. */
static size_t slot_of(const struct keytable *table, uint64_t key)
{
	const size_t mask = table->n_slots - 1;
	size_t at = hash_u64(key) & mask;

	while (table->slots[at].value != KEYTABLE_NONE && table->slots[at].key != key)
		at = (at + 1) & mask;
	return at;
}

static bool table_grow(struct keytable *table)
{
	struct keytable old = *table;
	size_t bytes;

	table->n_slots = old.n_slots ? 2 * old.n_slots : 64;
	if (!checked_mul_size(table->n_slots, sizeof(*table->slots), &bytes) ||
	    !(table->slots = malloc(bytes))) {
		*table = old;
		return false;
	}
	memset(table->slots, 0xff, bytes); /* every value KEYTABLE_NONE */
	for (size_t i = 0; i < old.n_slots; i++)
		if (old.slots[i].value != KEYTABLE_NONE)
			table->slots[slot_of(table, old.slots[i].key)] = old.slots[i];
	free(old.slots);
	return true;
}

uint32_t keytable_get(const struct keytable *table, uint64_t key)
{
	return table->n_slots ? table->slots[slot_of(table, key)].value : KEYTABLE_NONE;
}

bool keytable_set(struct keytable *table, uint64_t key, uint32_t value)
{
	size_t at;

	if (2 * (table->n + 1) > table->n_slots && !table_grow(table))
		return false;
	at = slot_of(table, key);
	if (table->slots[at].value == KEYTABLE_NONE)
		table->n++;
	table->slots[at].key = key;
	table->slots[at].value = value;
	return true;
}
