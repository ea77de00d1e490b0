/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/flip.h"

#include <math.h>

#include "estimate/quantile.h"

static double flip_p(double count_shown, double count_truly, double design_effect)
{
	const double sum = count_shown + count_truly;

	if (!(sum > 0))
		return 1;
	return tail_normal((count_truly - count_shown) / sqrt(sum * fmax(1, design_effect)));
}

/* The functions with the largest counts, ties by number. */
static size_t top_of(size_t *top, const uint64_t *counts, size_t n)
{
	size_t n_top = 0;

	for (size_t s = 0; s < n; s++) {
		size_t at = n_top;

		if (!counts[s])
			continue;
		while (at > 0 && counts[top[at - 1]] < counts[s])
			at--;
		if (at == ESTIMATE_FLIP_TOP)
			continue;
		n_top = n_top < ESTIMATE_FLIP_TOP ? n_top + 1 : n_top;
		for (size_t i = n_top - 1; i > at; i--)
			top[i] = top[i - 1];
		top[at] = s;
	}
	return n_top;
}

/* Holm over all pairs of the top: only inverted ones are listed, the others have p > 1/2. */
static void pairs_judge(struct estimate_flip *flip, size_t n_tests, double alpha)
{
	for (size_t accepted = 0; accepted < flip->n_pairs; accepted++) {
		struct estimate_flip_pair *best = NULL;

		for (size_t i = 0; i < flip->n_pairs; i++)
			if (!flip->pairs[i].flipped &&
			    (!best || flip->pairs[i].p_value < best->p_value))
				best = &flip->pairs[i];
		if (!best || best->p_value > alpha / (double)(n_tests - accepted))
			return;
		best->flipped = true;
	}
}

struct estimate_flip estimate_flip(const uint64_t *conventional, const uint64_t *randomised,
				   size_t n_functions, double design_effect, double alpha)
{
	struct estimate_flip flip = { .p_value = 1 };
	size_t shown[ESTIMATE_FLIP_TOP], truly[ESTIMATE_FLIP_TOP];
	const size_t n_shown = top_of(shown, conventional, n_functions);
	const size_t n_truly = top_of(truly, randomised, n_functions);

	if (!n_shown || !n_truly)
		return flip;
	flip.shown = shown[0];
	flip.truly = truly[0];
	flip.differs = flip.shown != flip.truly && randomised[flip.truly] > randomised[flip.shown];
	if (flip.differs)
		flip.p_value = flip_p((double)randomised[flip.shown],
				      (double)randomised[flip.truly], design_effect);
	for (size_t i = 0; i < n_shown; i++)
		for (size_t j = i + 1; j < n_shown; j++) {
			const uint64_t a = randomised[shown[i]], b = randomised[shown[j]];

			if (conventional[shown[i]] == conventional[shown[j]] || b <= a)
				continue;
			flip.pairs[flip.n_pairs++] = (struct estimate_flip_pair){
				.shown_above = shown[i],
				.truly_above = shown[j],
				.p_value = flip_p((double)a, (double)b, design_effect),
			};
		}
	pairs_judge(&flip, n_shown * (n_shown - 1) / 2, alpha > 0 ? alpha : 0.05);
	return flip;
}
