/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/rank_order.h"

#include <stdlib.h>
#include <string.h>

/* below(i) takes in below(j) for every j below i. From the lowest contender up, so that what is taken
 * in is closed already. */
static void below_close(struct estimate_ranks *ranks)
{
	const size_t words = BITS_WORDS(ranks->n_rows);

	for (size_t i = ranks->n_examined; i-- > 0;) {
		uint64_t *mine = ranks->below + i * words;

		for (size_t j = i + 1; j < ranks->n_examined; j++) {
			if (!bits_get(mine, j))
				continue;
			for (size_t w = 0; w < words; w++)
				mine[w] |= ranks->below[j * words + w];
		}
	}
}

static void ranges_set(struct estimate_ranks *ranks, const size_t *by_place)
{
	const size_t words = BITS_WORDS(ranks->n_rows);

	for (size_t s = 0; s < ranks->n_rows; s++) {
		ranks->rows[s].rank_lo = 1;
		ranks->rows[s].rank_hi = ranks->n_rows;
		ranks->rows[s].examined = ranks->place[s] < ranks->n_examined;
	}
	for (size_t i = 0; i < ranks->n_examined; i++) {
		struct estimate_rank *row = &ranks->rows[by_place[i]];

		for (size_t j = i + 1; j < ranks->n_rows; j++) {
			if (!bits_get(ranks->below + i * words, j))
				continue;
			row->rank_hi--;
			ranks->rows[by_place[j]].rank_lo++;
			ranks->n_resolved++;
		}
	}
	for (size_t s = 0; s < ranks->n_rows; s++)
		ranks->rows[s].resolved = ranks->rows[s].rank_lo == ranks->rows[s].rank_hi;
}

struct order_context {
	const struct estimate_ranks *ranks;
	const char *const *names;
};

static int order_compare(const void *left, const void *right, void *argument)
{
	const struct order_context *context = argument;
	const size_t a = *(const size_t *)left, b = *(const size_t *)right;
	const struct estimate_rank *rank_a = &context->ranks->rows[a];
	const struct estimate_rank *rank_b = &context->ranks->rows[b];
	int by_name;

	if (rank_a->rank_lo != rank_b->rank_lo)
		return rank_a->rank_lo < rank_b->rank_lo ? -1 : 1;
	if (rank_a->rank_hi != rank_b->rank_hi)
		return rank_a->rank_hi < rank_b->rank_hi ? -1 : 1;
	by_name = context->names ? strcmp(context->names[a], context->names[b]) : 0;
	return by_name ? by_name : (a > b) - (a < b);
}

/* Greedy: a row joins the group above it when it is unresolved from every member of it. */
static void groups_set(struct estimate_ranks *ranks)
{
	size_t start = 0;

	for (size_t at = 0; at < ranks->n_examined; at++) {
		bool joins = at > 0;

		for (size_t i = start; joins && i < at; i++)
			joins = !estimate_ranks_above(ranks, ranks->order[i], ranks->order[at]) &&
				!estimate_ranks_above(ranks, ranks->order[at], ranks->order[i]);
		if (!joins) {
			start = at;
			ranks->n_groups++;
		}
		ranks->rows[ranks->order[at]].group = ranks->n_groups;
	}
}

static void settled_set(struct estimate_ranks *ranks)
{
	const size_t words = BITS_WORDS(ranks->n_rows);

	ranks->set_settled = ranks->order_settled = ranks->top_k > 0 && !ranks->why;
	for (size_t i = 0; i < ranks->top_k; i++)
		for (size_t j = i + 1; j < ranks->n_rows; j++) {
			if (bits_get(ranks->below + i * words, j))
				continue;
			ranks->order_settled = false;
			if (j >= ranks->top_k)
				ranks->set_settled = false;
		}
}

void ranks_arrange(struct estimate_ranks *ranks, const size_t *by_place, const char *const *names)
{
	struct order_context context = { ranks, names };

	below_close(ranks);
	ranges_set(ranks, by_place);
	memcpy(ranks->order, by_place, ranks->n_rows * sizeof(*ranks->order));
	qsort_r(ranks->order, ranks->n_examined, sizeof(*ranks->order), order_compare, &context);
	groups_set(ranks);
	settled_set(ranks);
}

bool estimate_ranks_above(const struct estimate_ranks *ranks, size_t a, size_t b)
{
	const size_t words = BITS_WORDS(ranks->n_rows);

	return ranks->place[a] < ranks->n_examined &&
	       bits_get(ranks->below + ranks->place[a] * words, ranks->place[b]);
}
