/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The unwind rows of one module, by address. A million sampled stacks stand at a few thousand addresses,
 * and those share a few hundred distinct rows.
 */
#ifndef ASSAY_SYMBOLIZE_CFI_CACHE_H
#define ASSAY_SYMBOLIZE_CFI_CACHE_H

#include "symbolize/cfi_row.h"

#define CFI_CACHE_MAX_ADDRESSES (1u << 20) /* then it starts anew */

struct cfi_address {
	uint64_t vaddr;
	uint32_t row; /* index + 2; 1: there is no row; 0: free slot */
};

struct cfi_cache {
	const struct elf_file *file; /* the object; and its separate debug file, or NULL */
	const struct elf_file *debug;
	struct fde_table fdes;
	bool read;

	struct cfi_address *addresses; /* open addressing */
	size_t n_addresses, n_slots;
	struct cfi_row *rows; /* distinct ones */
	size_t n_rows, rows_capacity;
	uint32_t *row_slots; /* open addressing by content, index + 1 */
	size_t n_row_slots;
};

/* Nothing is read until the first address is asked for. Both files are borrowed. */
void cfi_cache_init(struct cfi_cache *cache, const struct elf_file *file,
		    const struct elf_file *debug);
void cfi_cache_release(struct cfi_cache *cache);

/* The row at the address; NULL when no frame information covers it (or memory is short). Borrowed until
 * the next call. */
const struct cfi_row *cfi_cache_at(struct cfi_cache *cache, uint64_t vaddr);

#endif
