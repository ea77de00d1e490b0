/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From resolved pairs to what is printed: transitive closure, rank ranges, order of rows, groups.
 */
#ifndef ASSAY_ESTIMATE_RANK_ORDER_H
#define ASSAY_ESTIMATE_RANK_ORDER_H

#include "estimate/rank.h"

#define BITS_WORDS(n) (((n) + 63) / 64)

static inline bool bits_get(const uint64_t *bits, size_t i)
{
	return bits[i / 64] >> (i % 64) & 1;
}

static inline void bits_set(uint64_t *bits, size_t i)
{
	bits[i / 64] |= (uint64_t)1 << (i % 64);
}

/* `ranks` with n_rows, n_examined, top_k, place and below filled in (contender c is the function in
 * place c); by_place is the inverse of place. Fills everything but the rivals. */
void ranks_arrange(struct estimate_ranks *ranks, const size_t *by_place, const char *const *names);

#endif
