/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ranks: how often any asserted pair is wrong, and how much is resolved, beside other procedures.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "estimate/quantile.h"
#include "estimate/rank.h"
#include "estimate/rank_pairs.h"
#include "study/counts.h"
#include "study/sampler.h"
#include "study/study.h"

#define RECORDINGS 2000
#define TOP        5
#define S_SMALL    30
#define SAMPLES    2000 /* 20 epochs x 2 clocks x 50 */
#define STEP       3.4

/* Pairs asserted by one procedure in one recording. */
struct verdict {
	bool wrong_recording,
		wrong_workload; /* any asserted pair is false (a tie counts as false) */
	bool ordered;           /* the top five are one by one above the rest */
	double resolved;        /* share of the family's pairs */
};

struct score {
	size_t n, wrong_recording, wrong_workload, ordered;
	double resolved;
};

static void score_add(struct score *score, const struct verdict *verdict)
{
	score->n++;
	score->wrong_recording += verdict->wrong_recording;
	score->wrong_workload += verdict->wrong_workload;
	score->ordered += verdict->ordered;
	score->resolved += verdict->resolved;
}

static bool above_in(const double *shares, size_t a, size_t b)
{
	return shares[a] > shares[b] * (1 + 1e-9);
}

static struct verdict verdict_of(const struct estimate_ranks *ranks, const double *recording,
				 const double *workload)
{
	struct verdict verdict = { .ordered = ranks->order_settled };

	for (size_t a = 0; a < ranks->n_rows; a++) {
		if (!ranks->rows[a].examined)
			continue;
		for (size_t b = 0; b < ranks->n_rows; b++) {
			if (!estimate_ranks_above(ranks, a, b))
				continue;
			verdict.wrong_recording |= !above_in(recording, a, b);
			verdict.wrong_workload |= !above_in(workload, a, b);
		}
	}
	for (size_t i = 0; i < ranks->top_k; i++) /* fully and rightly ordered */
		verdict.ordered &= ranks->place[i] == i;
	verdict.resolved = ranks->n_pairs ? (double)ranks->n_resolved / (double)ranks->n_pairs : 0;
	return verdict;
}

static struct verdict assay_verdict(const struct estimate_table *table,
				    const struct estimate_shares *shares,
				    enum estimate_family family, const double *recording,
				    const double *workload)
{
	const struct estimate_rank_options options = { .family = family, .top_k = TOP };
	struct estimate_ranks ranks;
	struct verdict verdict;

	if (estimate_ranks(&ranks, table, shares, &options, NULL) != STATUS_OK)
		abort();
	verdict = verdict_of(&ranks, recording, workload);
	estimate_ranks_release(&ranks);
	return verdict;
}

enum baseline { BASELINE_OVERLAP, BASELINE_T, BASELINE_HOLM_ALL, BASELINES };

static const char *const baseline_names[BASELINES] = { "95 % intervals do not overlap",
						       "pairwise t, unadjusted",
						       "Holm, all pairs" };

struct baseline_test {
	double p;
	size_t high, low;
};

static int p_compare(const void *left, const void *right)
{
	const struct baseline_test *a = left, *b = right;

	return (a->p > b->p) - (a->p < b->p);
}

/* p-values of all pairs by the same t as in src/estimate. */
static size_t baseline_tests(struct baseline_test *tests, const struct estimate_table *table,
			     const struct estimate_shares *shares)
{
	const size_t n = table->n_functions, n_cells = table->n_epochs * table->n_clocks;
	double *vectors = calloc((n + 2) * n_cells, sizeof(*vectors));
	struct evidence evidence;
	struct family family;
	size_t tested = 0;

	if (!vectors || evidence_init(&evidence, table, shares->period_weights, NULL) != STATUS_OK)
		abort();
	family = family_of(ESTIMATE_FAMILY_RECORDING, &evidence, shares);
	for (size_t s = 0; s < n; s++)
		family_vector(&family, s, vectors + s * n_cells, vectors + n * n_cells);
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++) {
			const struct member high = { shares->rows[i].recording.share,
						     shares->rows[i].samples,
						     vectors + i * n_cells };
			const struct member low = { shares->rows[j].recording.share,
						    shares->rows[j].samples,
						    vectors + j * n_cells };
			const double f = (high.share + low.share) / family.n;
			double df, t;

			if (high.share <= low.share)
				continue;
			t = (high.share - low.share) /
			    sqrt(f * pair_effect(&family, &high, &low, &df));
			tests[tested++] = (struct baseline_test){ 2 * tail_t(t, df), i, j };
		}
	evidence_release(&evidence);
	free(vectors);
	return tested;
}

static struct verdict baseline_verdict(enum baseline baseline, struct baseline_test *tests,
				       size_t n_tests, const struct estimate_shares *shares,
				       const double *recording, const double *workload)
{
	const size_t n = shares->n_rows, n_pairs = n * (n - 1) / 2;
	struct verdict verdict = { .ordered = true };
	size_t resolved = 0, top = 0;
	bool stopped = false;

	qsort(tests, n_tests, sizeof(*tests), p_compare);
	for (size_t m = 0; m < n_tests; m++) {
		const struct estimate_row *high = &shares->rows[tests[m].high];
		const struct estimate_row *low = &shares->rows[tests[m].low];
		bool asserted = tests[m].p <= 0.05;

		if (baseline == BASELINE_OVERLAP)
			asserted = high->recording.lo > low->recording.hi;
		if (baseline == BASELINE_HOLM_ALL) {
			stopped |= tests[m].p > 0.05 / (double)(n_pairs - m);
			asserted = !stopped;
		}
		if (!asserted)
			continue;
		resolved++;
		top += tests[m].high < TOP && tests[m].low > tests[m].high;
		verdict.wrong_recording |= !above_in(recording, tests[m].high, tests[m].low);
		verdict.wrong_workload |= !above_in(workload, tests[m].high, tests[m].low);
	}
	verdict.ordered = top == TOP * n - TOP * (TOP + 1) / 2;
	verdict.resolved = (double)resolved / (double)n_pairs;
	return verdict;
}

struct scene {
	const char *name;
	enum process process;
	size_t n_functions, epochs, per_cell;
	const double *share;
	bool baselines;
	enum { SCENE_ANY, SCENE_STEPS, SCENE_ZIPF } share_is;
};

struct scene_scores {
	struct score recording, workload, baselines[BASELINES];
};

static void scene_run(struct scene_scores *scores, const struct scene *scene, size_t recordings,
		      uint64_t seed)
{
	struct baseline_test *tests = calloc(
		scene->baselines ? scene->n_functions * scene->n_functions : 1, sizeof(*tests));
	struct counts counts;

	memset(scores, 0, sizeof(*scores));
	if (!tests || !counts_init(&counts, scene->n_functions, scene->epochs, 2, scene->per_cell,
				   scene->process, scene->share))
		abort();
	for (size_t r = 0; r < recordings; r++) {
		struct estimate_shares shares;
		struct verdict verdict;

		counts_draw(&counts, seed + r);
		if (estimate_shares(&shares, &counts.table, NULL, NULL) != STATUS_OK)
			abort();
		verdict = assay_verdict(&counts.table, &shares, ESTIMATE_FAMILY_RECORDING,
					counts.truth, counts.share);
		score_add(&scores->recording, &verdict);
		verdict = assay_verdict(&counts.table, &shares, ESTIMATE_FAMILY_WORKLOAD,
					counts.truth, counts.share);
		score_add(&scores->workload, &verdict);
		if (scene->baselines) {
			const size_t n = baseline_tests(tests, &counts.table, &shares);

			for (enum baseline b = 0; b < BASELINES; b++) {
				verdict = baseline_verdict(b, tests, n, &shares, counts.truth,
							   counts.share);
				score_add(&scores->baselines[b], &verdict);
			}
		}
		estimate_shares_release(&shares);
	}
	counts_release(&counts);
	free(tests);
}

static void score_print(struct study *study, const char *name, const struct score *score)
{
	const double n = (double)score->n / 100;

	fprintf(study->out,
		"    %-32s wrong: recording %5.1f, workload %5.1f   top 5 ordered %5.1f   pairs "
		"resolved %5.1f\n",
		name, (double)score->wrong_recording / n, (double)score->wrong_workload / n,
		(double)score->ordered / n, score->resolved / n);
}

static void scene_print(struct study *study, const struct scene *scene,
			const struct scene_scores *scores)
{
	fprintf(study->out, "%s\n", scene->name);
	for (enum baseline b = 0; scene->baselines && b < BASELINES; b++)
		score_print(study, baseline_names[b], &scores->baselines[b]);
	score_print(study, "assay, this recording", &scores->recording);
	score_print(study, "assay, this workload", &scores->workload);
}

/* Five steps of equal difficulty down from 20 %, each STEP standard errors of its difference in 2000
 * samples: so that the unadjusted t orders the top five in about half of the recordings, as in the table
 * that the procedure was chosen by. The rest falls off well below. */
static void steps_set(double *share)
{
	double sum = 0;

	share[0] = 0.2;
	for (size_t s = 1; s <= TOP; s++) {
		/* the root of share[s] = share[s - 1] - STEP sqrt((share[s - 1] + share[s]) / 2000) */
		share[s] = share[s - 1];
		for (int i = 0; i < 50; i++)
			share[s] = share[s - 1] - STEP * sqrt((share[s - 1] + share[s]) / SAMPLES);
	}
	for (size_t s = 0; s <= TOP; s++)
		sum += share[s];
	for (size_t s = TOP + 1; s < S_SMALL; s++)
		share[s] = (1 - sum) / (S_SMALL - TOP - 1) *
			   (1.7 - 1.4 * (double)(s - TOP - 1) / (S_SMALL - TOP - 2));
}

/* The power that the procedures had when they were chosen, less the five points that may be lost. */
static void power_claims(struct study *study, const struct scene *scene,
			 const struct scene_scores *scores, size_t n)
{
	if (scene->share_is == SCENE_STEPS) {
		study_at_least(study, scores->recording.ordered, n, 0.39,
			       "%s: ordered, this recording", scene->name);
		study_at_least(study, scores->workload.ordered, n, 0.29,
			       "%s: ordered, this workload", scene->name);
		/* else the scene is harder or easier than the one meant */
		study_at_least(study, scores->baselines[BASELINE_T].ordered, n, 0.47,
			       "%s: ordered by unadjusted t", scene->name);
		study_at_most(study, scores->baselines[BASELINE_T].ordered, n, 0.57,
			      "%s: ordered by unadjusted t", scene->name);
	}
	if (scene->share_is == SCENE_ZIPF) {
		study_claim(study, scores->recording.resolved >= 0.83 * (double)n,
			    "%s: %.1f %% of pairs resolved, this recording, at least 83",
			    scene->name, 100 * scores->recording.resolved / (double)n);
		study_claim(study, scores->workload.resolved >= 0.77 * (double)n,
			    "%s: %.1f %% of pairs resolved, this workload, at least 77",
			    scene->name, 100 * scores->workload.resolved / (double)n);
	}
}

static void scenes(struct study *study)
{
	double flat[200], ties[S_SMALL] = { 20, 15, 11, 8.0, 8.0, 7.9, 7.9 }, steps[S_SMALL];
	double zipf[1000];
	const struct scene all[] = {
		{ "flat30, iid", PROCESS_IID, S_SMALL, 20, 50, flat, true, SCENE_ANY },
		{ "flat30, epoch noise", PROCESS_NOISE, S_SMALL, 20, 50, flat, true, SCENE_ANY },
		{ "flat30, skewed bursts", PROCESS_BURSTS, S_SMALL, 20, 50, flat, true, SCENE_ANY },
		{ "flat30, AR(0.6)", PROCESS_AR, S_SMALL, 20, 50, flat, true, SCENE_ANY },
		{ "flat200, iid", PROCESS_IID, 200, 20, 50, flat, false, SCENE_ANY },
		{ "8.0 / 7.9 % ties", PROCESS_IID, S_SMALL, 20, 50, ties, true, SCENE_ANY },
		{ "top 5 of 30 (power)", PROCESS_IID, S_SMALL, 20, 50, steps, true, SCENE_STEPS },
		{ "zipf1000 (power)", PROCESS_IID, 1000, 20, 50, zipf, false, SCENE_ZIPF },
	};

	for (size_t s = 0; s < 200; s++)
		flat[s] = 1.0 / (s < S_SMALL ? S_SMALL : 200);
	for (size_t s = 7; s < S_SMALL; s++)
		ties[s] = 22.2 / (S_SMALL - 7) * (1.3 - 0.6 * (double)(s - 7) / (S_SMALL - 8));
	for (size_t s = 0; s < S_SMALL; s++)
		ties[s] /= 100;
	steps_set(steps);
	for (size_t s = 0; s < 1000; s++)
		zipf[s] = 1 / (double)(s + 1);
	double sum_zipf = 0;
	for (size_t s = 0; s < 1000; s++)
		sum_zipf += zipf[s];
	for (size_t s = 0; s < 1000; s++)
		zipf[s] /= sum_zipf;
	fprintf(study->out, "\n## Ranks: %% of recordings, 20 epochs, 2000 samples\n");
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const size_t n = study_recordings(study, all[i].n_functions > 100 ? RECORDINGS / 4
										  : RECORDINGS);
		struct scene_scores scores;

		scene_run(&scores, &all[i], n, 1000000 * (400 + i));
		scene_print(study, &all[i], &scores);
		study_at_most(study, scores.recording.wrong_recording, n, 0.025,
			      "%s: a wrong pair, this recording", all[i].name);
		if (all[i].process != PROCESS_AR)
			study_at_most(study, scores.workload.wrong_workload, n,
				      all[i].process == PROCESS_BURSTS ? 0.08 : 0.05,
				      "%s: a wrong pair, this workload", all[i].name);
		power_claims(study, &all[i], &scores, n);
	}
}

/* Timelines with tied functions, by clock design. */
static void timelines(struct study *study)
{
	static const double tied[] = { 30, 14, 9, 9, 9, 6, 6, 4, 4, 3, 2, 2, 1, 1 };
	const struct design all[] = {
		design_standard(),
		{ "every sample", CLOCK_SAMPLE, 2, 500, 0, 0, false, 0, false, false },
		{ "fixed, phase redrawn", CLOCK_FIXED_PHASED, 2, 500, 0, 0, false, 0, false,
		  false },
		{ "fixed, free-running", CLOCK_FIXED, 2, 500, 0, 0, false, 0, false, false },
	};
	const enum behaviour behaviours[] = { BEHAVIOUR_IID, BEHAVIOUR_CYCLE, BEHAVIOUR_CYCLE,
					      BEHAVIOUR_CYCLE };
	const double cycles[] = { 0, 1e-3, 10e-3, 100e-3 };
	const char *names[] = { "iid", "per1", "per10", "per100" };
	const size_t n = study_recordings(study, RECORDINGS / 2);

	fprintf(study->out,
		"\n## Ranks of timelines with tied functions: wrong pair %% (this recording), "
		"pairs resolved %%\n");
	for (size_t d = 0; d < 4; d++)
		for (size_t b = 0; b < 4; b++) {
			struct workload workload = workload_new(names[b], behaviours[b], tied,
								sizeof(tied) / sizeof(tied[0]));
			struct score score = { 0 };
			double lengths[20];

			workload.cycle = cycles[b];
			for (size_t r = 0; r < n; r++) {
				const uint64_t seed = 1000000 * (450 + 10 * d + b) + r;
				struct recording recording;
				struct estimate_shares shares;
				struct verdict verdict;

				epochs_uniform(lengths, 20, 0.2, 0.4, seed);
				if (!recording_make(&recording, &workload, &all[d], lengths, 20,
						    seed) ||
				    estimate_shares(&shares, &recording.table, NULL, NULL) !=
					    STATUS_OK)
					abort();
				verdict = assay_verdict(&recording.table, &shares,
							ESTIMATE_FAMILY_RECORDING, recording.truth,
							workload.share);
				score_add(&score, &verdict);
				estimate_shares_release(&shares);
				recording_release(&recording);
			}
			fprintf(study->out, "    %-22s %-8s %5.1f  %5.1f\n", all[d].name, names[b],
				100 * (double)score.wrong_recording / (double)n,
				100 * score.resolved / (double)n);
			if (d < 2)
				study_at_most(study, score.wrong_recording, n, 0.025,
					      "%s, %s: a wrong pair", all[d].name, names[b]);
			if (d == 3 && b == 2)
				study_at_least(
					study, score.wrong_recording, n, 0.5,
					"a free-running fixed clock on %s asserts wrong pairs",
					names[b]);
			workload_free(&workload);
		}
}

void part_ranks(struct study *study)
{
	scenes(study);
	timelines(study);
}
