/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Never-seen execution: estimate and bound against the truth, for independent samples, runs of one
 * function, and functions that live in bursts of epochs; Good-Turing on single samples beside it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "estimate/effective.h"
#include "estimate/quantile.h"
#include "estimate/unseen.h"
#include "study/draw.h"
#include "study/study.h"

#define RECORDINGS 500
#define EPOCHS     20
#define FUNCTIONS  4000

enum habit { HABIT_IID, HABIT_RUNS, HABIT_BURSTS };

struct unseen_scene {
	double *share, *sums, *now;
	uint32_t *dense; /* by function, epoch */
	struct estimate_count *rows;
	size_t *first;
	uint32_t *symbols;
	uint64_t *totals;
};

/* Draws n samples; the share that functions without a sample have in the long run is returned. */
static double scene_draw(struct unseen_scene *scene, enum habit habit, size_t n,
			 struct random *random)
{
	size_t at = 0, symbol = 0;
	double unseen = 0;

	memset(scene->dense, 0, FUNCTIONS * EPOCHS * sizeof(*scene->dense));
	memset(scene->totals, 0, FUNCTIONS * sizeof(*scene->totals));
	for (size_t e = 0; e < EPOCHS; e++) {
		if (habit == HABIT_BURSTS) { /* each function is awake in a quarter of the epochs */
			double sum = 0;

			for (size_t s = 0; s < FUNCTIONS; s++)
				sum += scene->now[s] =
					scene->share[s] * (random_double(random) < 0.25);
			for (size_t s = 0; s < FUNCTIONS; s++)
				scene->now[s] /= sum;
			cumulate(scene->now, FUNCTIONS, scene->sums);
		}
		for (size_t i = 0; i < n / EPOCHS; i++) {
			if (habit != HABIT_RUNS || at % 4 == 0)
				symbol = draw_index(random, scene->sums, FUNCTIONS);
			scene->symbols[at++] = (uint32_t)symbol;
			scene->dense[symbol * EPOCHS + e]++;
			scene->totals[symbol]++;
		}
	}
	for (size_t s = 0; s < FUNCTIONS; s++)
		if (!scene->totals[s])
			unseen += scene->share[s];
	return unseen;
}

static struct estimate_table scene_table(struct unseen_scene *scene, const double *weight,
					 const uint32_t *count)
{
	size_t n = 0;

	for (size_t s = 0; s < FUNCTIONS; s++) {
		scene->first[s] = n;
		for (size_t e = 0; e < EPOCHS; e++)
			if (scene->dense[s * EPOCHS + e])
				scene->rows[n++] =
					(struct estimate_count){ (uint32_t)e,
								 scene->dense[s * EPOCHS + e],
								 scene->dense[s * EPOCHS + e] };
	}
	scene->first[FUNCTIONS] = n;
	return (struct estimate_table){ .n_functions = FUNCTIONS,
					.n_epochs = EPOCHS,
					.n_clocks = 1,
					.first = scene->first,
					.counts = scene->rows,
					.cell_weight = weight,
					.cell_count = count,
					.randomised = true };
}

static void habit_run(struct study *study, struct unseen_scene *scene, enum habit habit,
		      const char *name, size_t n, uint64_t seed)
{
	const size_t recordings = study_recordings(study, RECORDINGS);
	double weight[EPOCHS], truth_sum = 0, single_sum = 0, hi_sum = 0;
	size_t single_covered = 0, plain_covered = 0, two_covered = 0, ruled_covered = 0, runs = 0;
	uint32_t count[EPOCHS];
	struct random random;

	random_init(&random, seed, 5, 0, 0);
	for (size_t e = 0; e < EPOCHS; e++) {
		count[e] = (uint32_t)(n / EPOCHS);
		weight[e] = count[e];
	}
	cumulate(scene->share, FUNCTIONS, scene->sums);
	for (size_t r = 0; r < recordings; r++) {
		const double truth = scene_draw(scene, habit, n, &random);
		const struct estimate_table table = scene_table(scene, weight, count);
		const bool run = estimate_runs(scene->symbols, n, scene->totals, FUNCTIONS) > 2.33;
		struct estimate_unseen plain, two;
		double once = 0;

		if (estimate_unseen(&plain, &table, false, 0, NULL) != STATUS_OK ||
		    estimate_unseen(&two, &table, true, 0, NULL) != STATUS_OK)
			abort();
		for (size_t s = 0; s < FUNCTIONS; s++)
			once += scene->totals[s] == 1;
		truth_sum += truth;
		single_sum += once / (double)n;
		hi_sum += run ? two.hi : plain.hi;
		single_covered += quantile_chi2(0.95, 2 * (once + 1)) / (2 * (double)n) >= truth;
		plain_covered += plain.hi >= truth;
		two_covered += two.hi >= truth;
		ruled_covered += (run ? two.hi : plain.hi) >= truth;
		runs += run;
	}
	fprintf(study->out,
		"    %-22s n %5zu  truth %5.1f %%  single samples %5.1f %%, cover %5.1f  epochs "
		"cover %5.1f  "
		"two epochs %5.1f  as ruled %5.1f (mean bound %.1f %%; runs seen in %.0f %%)\n",
		name, n, 100 * truth_sum / (double)recordings,
		100 * single_sum / (double)recordings,
		100 * (double)single_covered / (double)recordings,
		100 * (double)plain_covered / (double)recordings,
		100 * (double)two_covered / (double)recordings,
		100 * (double)ruled_covered / (double)recordings, 100 * hi_sum / (double)recordings,
		100 * (double)runs / (double)recordings);
	study_at_least(study, ruled_covered, recordings, 0.92, "unseen, %s, n = %zu: bound", name,
		       n);
}

void part_unseen(struct study *study)
{
	struct unseen_scene scene = {
		.share = calloc(FUNCTIONS, sizeof(double)),
		.sums = calloc(FUNCTIONS, sizeof(double)),
		.now = calloc(FUNCTIONS, sizeof(double)),
		.dense = calloc(FUNCTIONS * EPOCHS, sizeof(uint32_t)),
		.rows = calloc(FUNCTIONS * EPOCHS, sizeof(struct estimate_count)),
		.first = calloc(FUNCTIONS + 1, sizeof(size_t)),
		.symbols = calloc(20000, sizeof(uint32_t)),
		.totals = calloc(FUNCTIONS, sizeof(uint64_t)),
	};
	const char *names[] = { "iid", "runs of 4", "bursts of epochs" };
	double sum = 0;

	for (size_t s = 0; s < FUNCTIONS; s++)
		sum += scene.share[s] = 1 / (double)(s + 1);
	for (size_t s = 0; s < FUNCTIONS; s++)
		scene.share[s] /= sum;
	fprintf(study->out,
		"\n## Never-seen share: 4000 functions, Zipf, 20 epochs, upper 95 %% bound\n");
	for (int habit = 0; habit < 3; habit++)
		for (size_t n = 500; n <= 8000; n *= 4)
			habit_run(study, &scene, (enum habit)habit, names[habit], n,
				  1000000 * (600 + (uint64_t)habit) + n);
	free(scene.share);
	free(scene.sums);
	free(scene.now);
	free(scene.dense);
	free(scene.rows);
	free(scene.first);
	free(scene.symbols);
	free(scene.totals);
}
