/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Growth of a plain C array kept as (pointer, length, capacity).
 *
 *	struct thing *things; size_t n_things, things_capacity;
 *	if (!array_reserve(&things, &things_capacity, n_things + 1)) return STATUS_NO_MEMORY;
 *	things[n_things++] = thing;
 *
 * Capacity doubles; sizes are checked; on failure the array is untouched.
 */
#ifndef ASSAY_BASE_ARRAY_H
#define ASSAY_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

#define array_reserve(pointer, capacity, wanted) \
	array_reserve_bytes((void **)(pointer), (capacity), (wanted), sizeof(**(pointer)))

/* True when *capacity >= wanted afterwards. New elements are not initialised. */
bool array_reserve_bytes(void **pointer, size_t *capacity, size_t wanted, size_t element_size);

#endif
