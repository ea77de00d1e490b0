/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Does a lower stability score mean a wrong top five more often? Recordings of all kinds, easy and hard,
 * with randomised and with locked clocks, sorted by score.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "estimate/rank.h"
#include "estimate/stability.h"
#include "study/draw.h"
#include "study/sampler.h"
#include "study/study.h"

#define RECORDINGS 3000
#define FUNCTIONS  15
#define TOP        5
#define BINS       5

struct judged {
	double set, expected, top1;
	bool wrong_set, wrong_top1, fixed;
};

/* A random program: shares, behaviour, length and clocks are drawn. */
static bool judged_make(struct judged *judged, uint64_t seed)
{
	const enum behaviour behaviours[] = { BEHAVIOUR_IID, BEHAVIOUR_CYCLE, BEHAVIOUR_PHASES };
	const double cycles[] = { 1e-3, 4e-3, 10e-3, 7.3e-3 };
	double share[FUNCTIONS], lengths[20];
	struct design design = design_standard();
	struct recording recording;
	struct estimate_shares shares;
	struct estimate_ranks ranks;
	struct estimate_stability stability;
	struct estimate_rank_options options = { .top_k = TOP };
	struct workload workload;
	struct random random;
	size_t top[TOP];

	random_init(&random, seed, 9, 0, 0);
	for (size_t s = 0; s < FUNCTIONS; s++)
		share[s] = exp(draw_uniform(&random, 0.2, 1.2) * draw_normal(&random));
	workload = workload_new("any", behaviours[random_below(&random, 3)], share, FUNCTIONS);
	workload.cycle = cycles[random_below(&random, 4)];
	workload.stretch_min = 0.1;
	workload.stretch_max = 0.5;
	workload.concentration = 30;
	judged->fixed = random_double(&random) < 0.4;
	if (judged->fixed)
		design.kind = CLOCK_FIXED;
	design.rate = 500;
	epochs_uniform(lengths, 20, draw_uniform(&random, 0.05, 0.3), 0.4, seed);
	if (!recording_make(&recording, &workload, &design, lengths, 20, seed) ||
	    estimate_shares(&shares, &recording.table, NULL, NULL) != STATUS_OK ||
	    estimate_ranks(&ranks, &recording.table, &shares, &options, NULL) != STATUS_OK)
		return false;
	for (size_t s = 0; s < FUNCTIONS; s++)
		if (ranks.place[s] < TOP)
			top[ranks.place[s]] = s;
	if (estimate_stability(&stability, &recording.table, &shares,
			       &(struct estimate_claim){ top, TOP }, NULL) != STATUS_OK)
		return false;
	judged->set = stability.observed.set;
	judged->top1 = stability.observed.top1;
	judged->expected = stability.expected_set;
	judged->wrong_set = judged->wrong_top1 = false;
	for (size_t s = 0; s < FUNCTIONS; s++) {
		judged->wrong_top1 |= recording.truth[s] > recording.truth[top[0]];
		for (size_t i = 0; i < TOP && ranks.place[s] >= TOP; i++)
			judged->wrong_set |= recording.truth[s] > recording.truth[top[i]];
	}
	estimate_ranks_release(&ranks);
	estimate_shares_release(&shares);
	recording_release(&recording);
	workload_free(&workload);
	return true;
}

static int score_compare(const void *left, const void *right)
{
	const struct judged *a = left, *b = right;

	return (a->set > b->set) - (a->set < b->set);
}

/* Chance that a recording with a wrong set scores lower than one with a right set. */
static double auc(const struct judged *all, size_t n)
{
	double pairs = 0, lower = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n && all[i].wrong_set; j++) {
			if (all[j].wrong_set)
				continue;
			pairs++;
			lower += all[i].set < all[j].set ? 1 : all[i].set > all[j].set ? 0 : 0.5;
		}
	return pairs > 0 ? lower / pairs : NAN;
}

void part_stability(struct study *study)
{
	const size_t n = study_recordings(study, RECORDINGS);
	struct judged *all = calloc(n, sizeof(*all));
	size_t made = 0;
	double last = 200, area;
	bool falling = true;

	fprintf(study->out, "\n## Rank stability: recordings by score of the top-5 set\n");
	for (size_t r = 0; all && r < n; r++) {
		if (!judged_make(&all[made], 1000000000 + r))
			abort();
		made += isnan(all[made].set) ? 0 : 1;
	}
	qsort(all, made, sizeof(*all), score_compare);
	for (size_t bin = 0; bin < BINS; bin++) {
		const size_t from = made * bin / BINS, to = made * (bin + 1) / BINS;
		double set = 0, expected = 0, wrong = 0, wrong_top1 = 0, fixed = 0;

		for (size_t i = from; i < to; i++) {
			set += all[i].set / (double)(to - from);
			expected += all[i].expected / (double)(to - from);
			wrong += 100.0 * all[i].wrong_set / (double)(to - from);
			wrong_top1 += 100.0 * all[i].wrong_top1 / (double)(to - from);
			fixed += 100.0 * all[i].fixed / (double)(to - from);
		}
		fprintf(study->out,
			"    score %.2f (noise alone %.2f): wrong top 5 in %5.1f %%, wrong first "
			"in %5.1f %%, fixed clock %3.0f %%\n",
			set, expected, wrong, wrong_top1, fixed);
		/* two standard errors of a rate of 50 % in one fifth of the recordings */
		falling &= wrong <= last + 200 * 0.5 / sqrt((double)(to - from));
		last = wrong;
	}
	area = auc(all, made);
	study_claim(study, falling, "wrong top fives fall from fifth to fifth of the score");
	study_claim(study, area > 0.7,
		    "a wrong top 5 scores lower than a right one with probability %.2f", area);
	fprintf(study->out,
		"    a wrong top 5 scores lower than a right one with probability %.2f\n", area);
	free(all);
}
