/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Hash functions for tables inside one process. Not stable between versions and not for storage.
 */
#ifndef ASSAY_BASE_HASH_H
#define ASSAY_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The finaliser of splitmix64: every input bit reaches every output bit. */
static inline uint64_t hash_u64(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

static inline uint64_t hash_combine(uint64_t seed, uint64_t x)
{
	return hash_u64(seed ^ (x + 0x9e3779b97f4a7c15u + (seed << 6) + (seed >> 2)));
}

/* Eight bytes a step by one widening multiplication (the idea of wyhash, Wang Yi 2019). */
static inline uint64_t hash_bytes(const void *data, size_t size)
{
	const unsigned char *p = data;
	uint64_t h = 0x9e3779b97f4a7c15u ^ size, word = 0;

	for (; size >= 8; p += 8, size -= 8) {
		memcpy(&word, p, 8);
		unsigned __int128 m = (unsigned __int128)(h ^ word) * 0xa0761d6478bd642fu;

		h = (uint64_t)m ^ (uint64_t)(m >> 64);
	}
	word = 0;
	if (size)
		memcpy(&word, p, size); /* `data` may be NULL when there are no bytes */
	return hash_u64(h ^ word ^ ((uint64_t)size << 56));
}

#endif
