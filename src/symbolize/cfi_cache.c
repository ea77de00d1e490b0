/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/cfi_cache.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

#define NO_ROW    1u
#define FIRST_ROW 2u

void cfi_cache_init(struct cfi_cache *cache, const struct elf_file *file,
		    const struct elf_file *debug)
{
	memset(cache, 0, sizeof(*cache));
	cache->file = file;
	cache->debug = debug;
}

static void rows_release(struct cfi_cache *cache)
{
	free(cache->rows);
	free(cache->row_slots);
	free(cache->addresses);
	cache->rows = NULL;
	cache->row_slots = NULL;
	cache->addresses = NULL;
	cache->n_rows = cache->rows_capacity = cache->n_row_slots = 0;
	cache->n_addresses = cache->n_slots = 0;
}

void cfi_cache_release(struct cfi_cache *cache)
{
	rows_release(cache);
	fde_table_release(&cache->fdes);
	memset(cache, 0, sizeof(*cache));
}

static size_t address_slot(const struct cfi_cache *cache, uint64_t vaddr)
{
	size_t slot = hash_u64(vaddr) & (cache->n_slots - 1);

	while (cache->addresses[slot].row && cache->addresses[slot].vaddr != vaddr)
		slot = (slot + 1) & (cache->n_slots - 1);
	return slot;
}

static bool addresses_grow(struct cfi_cache *cache)
{
	const size_t old_n = cache->n_slots, n = old_n ? 2 * old_n : 1024;
	struct cfi_address *old = cache->addresses;

	if (2 * (cache->n_addresses + 1) <= old_n)
		return true;
	cache->addresses = calloc(n, sizeof(*cache->addresses));
	if (!cache->addresses) {
		cache->addresses = old;
		return false;
	}
	cache->n_slots = n;
	for (size_t i = 0; i < old_n; i++)
		if (old[i].row)
			cache->addresses[address_slot(cache, old[i].vaddr)] = old[i];
	free(old);
	return true;
}

_Static_assert(sizeof(struct cfi_rule) == 16 &&
		       sizeof(struct cfi_row) == 16 + 8 + 16 * CFI_N_REGISTERS,
	       "a row with padding could differ from an equal one");

static bool rows_equal(const struct cfi_row *a, const struct cfi_row *b)
{
	return !memcmp((const void *)a, (const void *)b, sizeof(*a));
}

static size_t row_slot(const struct cfi_cache *cache, const struct cfi_row *row)
{
	size_t slot = hash_bytes(row, sizeof(*row)) & (cache->n_row_slots - 1);

	for (; cache->row_slots[slot]; slot = (slot + 1) & (cache->n_row_slots - 1))
		if (rows_equal(&cache->rows[cache->row_slots[slot] - 1], row))
			break;
	return slot;
}

static bool row_slots_grow(struct cfi_cache *cache)
{
	const size_t n = cache->n_row_slots ? 2 * cache->n_row_slots : 256;
	uint32_t *slots;

	if (2 * (cache->n_rows + 1) <= cache->n_row_slots)
		return true;
	slots = calloc(n, sizeof(*slots));
	if (!slots)
		return false;
	free(cache->row_slots);
	cache->row_slots = slots;
	cache->n_row_slots = n;
	for (size_t i = 0; i < cache->n_rows; i++)
		cache->row_slots[row_slot(cache, &cache->rows[i])] = (uint32_t)i + 1;
	return true;
}

/* The number of an equal row that is kept; 0 when memory was short. */
static uint32_t row_keep(struct cfi_cache *cache, const struct cfi_row *row)
{
	size_t slot;

	if (!row_slots_grow(cache))
		return 0;
	slot = row_slot(cache, row);
	if (cache->row_slots[slot])
		return cache->row_slots[slot] - 1 + FIRST_ROW;
	if (!array_reserve(&cache->rows, &cache->rows_capacity, cache->n_rows + 1))
		return 0;
	cache->rows[cache->n_rows++] = *row;
	cache->row_slots[slot] = (uint32_t)cache->n_rows;
	return (uint32_t)cache->n_rows - 1 + FIRST_ROW;
}

static uint32_t row_compute(struct cfi_cache *cache, uint64_t vaddr)
{
	const struct fde_range *range;
	struct cfi_row row;

	if (!cache->read) {
		cache->read = true;
		if (!fde_table_read(&cache->fdes, cache->file, cache->debug))
			return NO_ROW;
	}
	range = fde_table_at(&cache->fdes, vaddr);
	if (!range || !cfi_row_at(&row, cache->file, &cache->fdes, range, vaddr))
		return NO_ROW;
	return row_keep(cache, &row);
}

const struct cfi_row *cfi_cache_at(struct cfi_cache *cache, uint64_t vaddr)
{
	struct cfi_address *address;
	uint32_t row;

	if (cache->n_addresses >= CFI_CACHE_MAX_ADDRESSES)
		rows_release(cache);
	if (!addresses_grow(cache))
		return NULL;
	address = &cache->addresses[address_slot(cache, vaddr)];
	if (!address->row) {
		row = row_compute(cache, vaddr);
		if (!row)
			return NULL;
		*address = (struct cfi_address){ vaddr, row };
		cache->n_addresses++;
	}
	return address->row == NO_ROW || !cache->rows ? NULL
						      : &cache->rows[address->row - FIRST_ROW];
}
