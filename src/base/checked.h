/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Arithmetic on sizes that came from a file, a ring or a target: every step says whether it
 * overflowed, so that a hostile length cannot become a small allocation or a wild pointer.
 */
#ifndef ASSAY_BASE_CHECKED_H
#define ASSAY_BASE_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Each returns true and stores the exact result, or returns false and stores nothing of use. */
static inline bool checked_add_u64(uint64_t a, uint64_t b, uint64_t *sum)
{
	return !__builtin_add_overflow(a, b, sum);
}

static inline bool checked_mul_u64(uint64_t a, uint64_t b, uint64_t *product)
{
	return !__builtin_mul_overflow(a, b, product);
}

static inline bool checked_mul_size(size_t a, size_t b, size_t *product)
{
	return !__builtin_mul_overflow(a, b, product);
}

/* True when [offset, offset + length) lies inside [0, limit). */
static inline bool checked_range(uint64_t offset, uint64_t length, uint64_t limit)
{
	return offset <= limit && length <= limit - offset;
}

/* The next multiple; UINT64_MAX, which no range holds, when there is none in 64 bits. */
static inline uint64_t checked_align_up(uint64_t value, uint64_t power_of_two)
{
	uint64_t sum;

	if (!checked_add_u64(value, power_of_two - 1, &sum))
		return UINT64_MAX;
	return sum & ~(power_of_two - 1);
}

#endif
