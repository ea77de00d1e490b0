/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/change.h"

#include <math.h>
#include <stdlib.h>

#include "estimate/interval.h"
#include "estimate/quantile.h"

#define ALPHA_STANDARD  0.05
#define UNSEEN          1.5 /* over E: correlation that so few epochs hide */
#define CORRELATION_MAX 0.9

/* What is the same for all functions of one recording. */
struct level {
	const struct estimate_change_recording *recording;
	double tail; /* chance beyond each end */
	double t;    /* of functions whose epochs do not repeat each other */
	double g;    /* their variance is so many times larger by the pooled correlation */
	double t_stretches[64]; /* by degrees of freedom; 0: not yet asked for */
	struct small_count small;
};

static void level_init(struct level *level, const struct estimate_change_recording *recording,
		       double tail)
{
	const double n = fmax(1, (double)recording->n_epochs);

	*level = (struct level){ .recording = recording, .tail = tail, .g = 1 };
	const double r = fmin(fmax(0, recording->correlation), CORRELATION_MAX) + UNSEEN / n;

	level->g = (1 + fmin(r, 0.99)) / (1 - fmin(r, 0.99));
	level->t = quantile_t_upper(tail, fmax(1, n / level->g - 1));
	small_count_init(&level->small, tail);
}

/* Where epochs repeat each other, there are as many degrees of freedom as stretches, less one, and not
 * more than the cosines from which that variance comes (section 3). */
static double quantile_of(struct level *level, const struct estimate_change_side *side)
{
	const double cosines =
		fmax(2, round(0.4 * cbrt(pow((double)level->recording->n_epochs, 2))));
	size_t df;

	if (isnan(side->changes))
		return level->t;
	df = (size_t)fmax(1, fmin(fmin(side->changes - 1, cosines), 63));
	if (level->t_stretches[df] <= 0)
		level->t_stretches[df] = quantile_t_upper(level->tail, (double)df);
	return fmax(level->t, level->t_stretches[df]);
}

static struct bounds side_bounds(struct level *level, const struct estimate_change_side *side)
{
	const double n = (double)level->recording->samples;
	const double guard = isnan(side->changes) ? level->g : 1;

	if (!side->samples || !(side->effective_samples > 0))
		return (struct bounds){
			0, fmin(1, -log(level->tail) * fmax(1, level->recording->design_effect) / n)
		};
	return bounds_share(side->share, side->effective_samples / guard, quantile_of(level, side),
			    side->samples, level->recording->samples - side->samples,
			    &level->small);
}

/* The least chance that any split of `samples` between two recordings could have, all of them on the side
 * that is likelier to get them: above the level it can be no evidence. */
static bool could_differ(uint64_t samples, const struct estimate_change_recording recordings[2],
			 double tail)
{
	const double a = (double)recordings[0].samples, b = (double)recordings[1].samples;
	const double rarer = fmin(a, b) / (a + b);

	return (double)samples * log(rarer) <= log(tail);
}

/* Tarone: the number M of functions for which some split would pass at alpha/M. */
static size_t family_size(const struct estimate_change_side *a,
			  const struct estimate_change_side *b, size_t n,
			  const struct estimate_change_recording recordings[2], double alpha)
{
	size_t m = 1;

	for (;; m++) {
		size_t able = 0;

		for (size_t i = 0; i < n; i++)
			able += could_differ(a[i].samples + b[i].samples, recordings,
					     alpha / (2 * (double)m));
		if (able <= m)
			return m;
	}
}

static void change_set(struct estimate_change *change, struct level levels[2],
		       const struct estimate_change_side *a, const struct estimate_change_side *b)
{
	const struct bounds of_a = side_bounds(&levels[0], a), of_b = side_bounds(&levels[1], b);

	change->difference = b->share - a->share;
	change->lo = change->difference - hypot(b->share - of_b.lo, of_a.hi - a->share);
	change->hi = change->difference + hypot(of_b.hi - b->share, a->share - of_a.lo);
	change->differs = change->tested && (change->lo > 0 || change->hi < 0);
}

enum status estimate_changes(struct estimate_change *changes, const struct estimate_change_side *a,
			     const struct estimate_change_side *b, size_t n,
			     const struct estimate_change_recording recordings[2],
			     const struct estimate_change_options *options, size_t *n_tested,
			     struct error *error)
{
	const double alpha = options && options->alpha > 0 ? options->alpha : ALPHA_STANDARD;
	struct level *levels;
	double tail;
	size_t tested = 0;

	if (!recordings[0].samples || !recordings[1].samples)
		return error_set(error, STATUS_USAGE,
				 "a recording without samples cannot be compared");
	levels = calloc(2, sizeof(*levels));
	if (!levels)
		return error_set(error, STATUS_NO_MEMORY, "estimate: no memory to compare");
	tail = alpha / (2 * (double)family_size(a, b, n, recordings, alpha));
	level_init(&levels[0], &recordings[0], tail);
	level_init(&levels[1], &recordings[1], tail);
	for (size_t i = 0; i < n; i++) {
		changes[i].tested = could_differ(a[i].samples + b[i].samples, recordings, tail);
		tested += changes[i].tested;
		change_set(&changes[i], levels, &a[i], &b[i]);
	}
	if (n_tested)
		*n_tested = tested;
	free(levels);
	return STATUS_OK;
}
