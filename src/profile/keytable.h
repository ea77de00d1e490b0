/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A table from 64-bit keys to small numbers: process ids, thread ids, event ids, packed pairs.
 *
 * Open addressing, at most half full, never shrinks. Entries cannot be removed.
 */
#ifndef ASSAY_PROFILE_KEYTABLE_H
#define ASSAY_PROFILE_KEYTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KEYTABLE_NONE UINT32_MAX

struct keytable {
	struct keytable_slot {
		uint64_t key;
		uint32_t value; /* KEYTABLE_NONE: free */
	} * slots;
	size_t n, n_slots;
};

void keytable_init(struct keytable *table);
void keytable_release(struct keytable *table);

/* The value of `key`, KEYTABLE_NONE when it has none. */
uint32_t keytable_get(const struct keytable *table, uint64_t key);

/* Sets the value (not KEYTABLE_NONE) of a key, new or known; false when memory is short. */
bool keytable_set(struct keytable *table, uint64_t key, uint32_t value);

#endif
