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

/* The pointer takes a detour through a void *, since a `struct thing *` may not be written as if it
 * were one (C17 6.5p7). Statement expression: GNU. */
#define array_reserve(pointer, capacity, wanted)                                                \
	({                                                                                      \
		__auto_type array_at_ = (pointer);                                              \
		void *array_moved_ = (void *)*array_at_;                                        \
		const bool array_ok_ = array_reserve_bytes(&array_moved_, (capacity), (wanted), \
							   sizeof(**array_at_));                \
		*array_at_ = array_moved_;                                                      \
		array_ok_;                                                                      \
	})

/* True when *capacity >= wanted afterwards. New elements are not initialised. */
bool array_reserve_bytes(void **pointer, size_t *capacity, size_t wanted, size_t element_size);

#endif
