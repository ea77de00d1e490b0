/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A against A, and A against a changed B, on machines that are noisy, drift or wander.
 */
#include <math.h>
#include <stdlib.h>

#include "estimate/ab.h"
#include "study/draw.h"
#include "study/study.h"

#define RECORDINGS 2000
#define PAIRS_MAX  20

enum machine { MACHINE_NORMAL, MACHINE_OUTLIERS, MACHINE_DRIFT, MACHINE_WALK, MACHINES };

static const char *const machine_names[MACHINES] = { "normal 3 %", "8 % outliers", "drift 15 %",
						     "random walk" };

/* One pair of runs in random order within it; `change` multiplies B. */
static void pair_draw(enum machine machine, size_t pair, size_t n, double change, double *level,
		      double *a, double *b, struct random *random)
{
	const bool b_first = random_double(random) < 0.5;

	for (int second = 0; second < 2; second++) {
		double y = 0.03 * draw_normal(random);

		if (machine == MACHINE_OUTLIERS && random_double(random) < 0.08)
			y += 0.3;
		if (machine == MACHINE_DRIFT)
			y += 0.15 * (double)(2 * pair + (size_t)second) / (double)(2 * n);
		if (machine == MACHINE_WALK)
			y += *level += 0.02 * draw_normal(random);
		if ((second == 1) != b_first)
			b[pair] = 1e6 * change * exp(y);
		else
			a[pair] = 1e6 * exp(y);
	}
}

static size_t changed(enum machine machine, size_t n, double change, size_t recordings,
		      uint64_t seed)
{
	const struct estimate_ab_options options = { 0 };
	struct random random;
	size_t hits = 0;

	random_init(&random, seed, 6, 0, 0);
	for (size_t r = 0; r < recordings; r++) {
		double a[PAIRS_MAX], b[PAIRS_MAX], level = 0;
		const struct estimate_ab_function function = { a, b, NULL, NULL };
		struct estimate_ab_row row;

		for (size_t pair = 0; pair < n; pair++)
			pair_draw(machine, pair, n, change, &level, a, b, &random);
		if (estimate_ab(&row, &function, 1, n, &options, NULL) != STATUS_OK)
			abort();
		hits += row.verdict == ESTIMATE_AB_LESS || row.verdict == ESTIMATE_AB_MORE;
	}
	return hits;
}

static void one_function(struct study *study)
{
	const size_t pairs[] = { 2, 5, 10, 20 };
	const size_t n = study_recordings(study, RECORDINGS);

	fprintf(study->out, "\n## A/B, one function: called changed %%, A/A and B = A + 5 %%, by "
			    "number of pairs\n");
	for (int machine = 0; machine < MACHINES; machine++) {
		fprintf(study->out, "    %-14s", machine_names[machine]);
		for (size_t i = 0; i < 4; i++) {
			const uint64_t seed = 1000000 * (800 + (uint64_t)machine) + i;
			const size_t same = changed((enum machine)machine, pairs[i], 1, n, seed);
			const size_t power =
				changed((enum machine)machine, pairs[i], 1.05, n, seed);

			fprintf(study->out, "  n = %zu: %4.1f, %5.1f", pairs[i],
				100 * (double)same / (double)n, 100 * (double)power / (double)n);
			/* 6 % is 5 % and two standard errors of 2000 trials */
			study_at_most(study, same, n, 0.06, "A/A, %s, %zu pairs",
				      machine_names[machine], pairs[i]);
		}
		fputc('\n', study->out);
	}
}

struct many {
	size_t trials, wrong, found, possible;
};

static void many_run(struct many *many, size_t n, double spread, size_t trials, uint64_t seed)
{
	enum { F = 200, CHANGED = 10 };
	static double a[F][PAIRS_MAX], b[F][PAIRS_MAX];
	struct estimate_ab_function functions[F];
	struct estimate_ab_row rows[F];
	const struct estimate_ab_options options = { 0 };
	struct random random;

	random_init(&random, seed, 7, 0, 0);
	*many = (struct many){ .trials = trials, .possible = trials * CHANGED };
	for (size_t r = 0; r < trials; r++) {
		bool wrong = false;

		for (size_t f = 0; f < F; f++) {
			const double sd = 0.03 * exp(spread * draw_normal(&random)) / sqrt(2);

			functions[f] = (struct estimate_ab_function){ a[f], b[f], NULL, NULL };
			for (size_t i = 0; i < n; i++) {
				a[f][i] = 1e6 * exp(sd * draw_normal(&random));
				b[f][i] = 1e6 * exp(sd * draw_normal(&random)) *
					  (f < CHANGED ? 1.08 : 1);
			}
		}
		if (estimate_ab(rows, functions, F, n, &options, NULL) != STATUS_OK)
			abort();
		for (size_t f = 0; f < F; f++) {
			const bool hit = rows[f].verdict == ESTIMATE_AB_LESS ||
					 rows[f].verdict == ESTIMATE_AB_MORE;

			many->found += hit && f < CHANGED;
			wrong |= hit && f >= CHANGED;
		}
		many->wrong += wrong;
	}
}

static void many_functions(struct study *study)
{
	const size_t pairs[] = { 3, 5, 8 };
	const size_t n = study_recordings(study, 300);

	fprintf(study->out, "\n## A/B, 200 functions, 10 changed by 8 %%, sd 3 %% (varying by "
			    "e^spread): family error, power %%\n");
	for (int spread = 0; spread < 2; spread++)
		for (size_t i = 0; i < 3; i++) {
			struct many many;

			many_run(&many, pairs[i], spread * 0.5, n,
				 1000000 * (810 + (uint64_t)spread) + i);
			fprintf(study->out, "    spread %.1f, %zu pairs: %4.1f, %5.1f\n",
				spread * 0.5, pairs[i], 100 * (double)many.wrong / (double)n,
				100 * (double)many.found / (double)many.possible);
			study_at_most(study, many.wrong, n, 0.06,
				      "A/B of many, %zu pairs: family error", pairs[i]);
		}
}

void part_ab(struct study *study)
{
	one_function(study);
	many_functions(study);
}
