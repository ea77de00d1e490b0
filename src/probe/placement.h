/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where in a target's address space the regions of trampolines go: within reach of the code that jumps to
 * them, and not where the target's own heap or stack wants to grow. Pure: text of maps in, addresses out.
 */
#ifndef ASSAY_PROBE_PLACEMENT_H
#define ASSAY_PROBE_PLACEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLACEMENT_LOWEST    0x10000u             /* vm.mmap_min_addr as distributions set it */
#define PLACEMENT_ABOVE_GAP (UINT64_C(16) << 20) /* kept free above a mapping, for a heap to grow */
#define PLACEMENT_TOP       (UINT64_C(1) << 47)

/* A range of addresses that is taken, or will be. */
struct placement_range {
	uint64_t start, size;
};

/* Finds room of `size` bytes (a multiple of pages) from which all of [low, high) is within `reach` bytes, clear of
 * `taken`, the nearest. 0: there is none. */
uint64_t placement_find(const char *maps, const struct placement_range *taken, size_t n_taken,
			uint64_t low, uint64_t high, uint64_t size, uint64_t reach);

/* True when every byte of a region is within reach of all of [low, high). */
bool placement_reaches(uint64_t region, uint64_t size, uint64_t low, uint64_t high, uint64_t reach);

#endif
