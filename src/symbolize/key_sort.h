/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sorts (key, index) pairs by key: a stable radix sort, linear in the number of pairs. A model sorts a
 * hundred thousand addresses, where comparing takes most of its time.
 */
#ifndef ASSAY_SYMBOLIZE_KEY_SORT_H
#define ASSAY_SYMBOLIZE_KEY_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sort_key {
	uint64_t key;
	uint32_t index;
};

/* Pairs of equal keys keep their order. False when memory was short; then nothing has changed. */
bool key_sort(struct sort_key *keys, size_t n);

#endif
