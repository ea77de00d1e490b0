/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/key_sort.h"

#include <stdlib.h>
#include <string.h>

#define DIGIT_BITS 11u
#define N_DIGITS   (1u << DIGIT_BITS)

/* One pass by the digit at `shift`. False when all keys share it, so that nothing was moved. */
static bool pass(const struct sort_key *from, struct sort_key *to, size_t n, unsigned int shift)
{
	size_t starts[N_DIGITS] = { 0 }, sum = 0;

	for (size_t i = 0; i < n; i++)
		starts[from[i].key >> shift & (N_DIGITS - 1)]++;
	if (starts[from[0].key >> shift & (N_DIGITS - 1)] == n)
		return false;
	for (size_t digit = 0; digit < N_DIGITS; digit++) {
		const size_t count = starts[digit];

		starts[digit] = sum;
		sum += count;
	}
	for (size_t i = 0; i < n; i++)
		to[starts[from[i].key >> shift & (N_DIGITS - 1)]++] = from[i];
	return true;
}

static bool is_sorted(const struct sort_key *keys, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (keys[i].key < keys[i - 1].key)
			return false;
	return true;
}

bool key_sort(struct sort_key *keys, size_t n)
{
	struct sort_key *other, *from = keys, *to;

	if (is_sorted(keys, n))
		return true;
	other = malloc(n * sizeof(*other));
	if (!other)
		return false;
	to = other;
	for (unsigned int shift = 0; shift < 64; shift += DIGIT_BITS)
		if (pass(from, to, n, shift)) {
			struct sort_key *swap = from;

			from = to;
			to = swap;
		}
	if (from != keys)
		memcpy(keys, from, n * sizeof(*keys));
	free(other);
	return true;
}
