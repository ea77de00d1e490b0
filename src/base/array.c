/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/array.h"

#include <stdlib.h>

#include "base/checked.h"

bool array_reserve_bytes(void **pointer, size_t *capacity, size_t wanted, size_t element_size)
{
	size_t grown = *capacity ? *capacity : 8, bytes;
	void *moved;

	if (wanted <= *capacity)
		return true;
	while (grown < wanted)
		if (!checked_mul_size(grown, 2, &grown))
			return false;
	if (!checked_mul_size(grown, element_size, &bytes))
		return false;
	moved = realloc(*pointer, bytes);
	if (!moved)
		return false;
	*pointer = moved;
	*capacity = grown;
	return true;
}
