/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Totals from timing one call in N: coverage of the interval, for skewed, drifting and bursty durations.
 */
#include <math.h>
#include <stdlib.h>

#include "estimate/timed.h"
#include "study/draw.h"
#include "study/study.h"

#define BLOCK 16

enum durations {
	DURATIONS_LOGNORMAL,
	DURATIONS_HEAVY,
	DURATIONS_DRIFT,
	DURATIONS_EVERY_16TH,
	DURATIONS_BURSTS,
	DURATIONS_RARE,
	DURATIONS
};

static const char *const duration_names[DURATIONS] = { "lognormal 1.5",  "lognormal 2.2",
						       "drift x 4",      "every 16th slow x 50",
						       "bursts of slow", "1 % x 200" };

static double duration_of(enum durations durations, size_t call, size_t n_calls, bool *slow,
			  struct random *random)
{
	switch (durations) {
	case DURATIONS_LOGNORMAL: return exp(1.5 * draw_normal(random));
	case DURATIONS_HEAVY: return exp(2.2 * draw_normal(random));
	case DURATIONS_DRIFT:
		return (1 + 3 * (double)call / (double)n_calls) * exp(0.3 * draw_normal(random));
	case DURATIONS_EVERY_16TH: return (call % 16 ? 1 : 50) * exp(0.1 * draw_normal(random));
	case DURATIONS_BURSTS:
		if (call % 64 == 0)
			*slow = random_double(random) < 0.1;
		return (*slow ? 20 : 1) * exp(0.2 * draw_normal(random));
	case DURATIONS_RARE:
	default: return (random_double(random) < 0.01 ? 200 : 1) * exp(0.2 * draw_normal(random));
	}
}

static size_t covered(enum durations durations, size_t n_timed, size_t trials, bool every,
		      uint64_t seed)
{
	double *y = calloc(n_timed, sizeof(*y));
	struct random random;
	size_t hits = 0;

	random_init(&random, seed, 8, 0, 0);
	for (size_t r = 0; y && r < trials; r++) {
		const size_t n_calls = n_timed * BLOCK, fixed = random_below(&random, BLOCK);
		double truth = 0;
		bool slow = false;
		struct estimate_timed timed;

		for (size_t block = 0; block < n_timed; block++) {
			const size_t at = every ? fixed : random_below(&random, BLOCK);

			for (size_t i = 0; i < BLOCK; i++) {
				const double value = duration_of(durations, block * BLOCK + i,
								 n_calls, &slow, &random);

				truth += value;
				if (i == at)
					y[block] = value;
			}
		}
		timed = estimate_timed(y, n_timed, BLOCK, n_calls, 0.95);
		hits += timed.lo <= truth && truth <= timed.hi;
	}
	free(y);
	return hits;
}

void part_timed(struct study *study)
{
	const size_t n = study_recordings(study, 600);
	const struct {
		enum durations durations;
		double limit;
	} claims[] = { { DURATIONS_LOGNORMAL, 0.90 },
		       { DURATIONS_DRIFT, 0.93 },
		       { DURATIONS_EVERY_16TH, 0.91 },
		       { DURATIONS_BURSTS, 0.93 },
		       { DURATIONS_RARE, 0.91 } };

	fprintf(study->out,
		"\n## Totals from one call in %d: coverage %% at 62, 500, 2000 timed calls\n",
		BLOCK);
	for (int d = 0; d < DURATIONS; d++) {
		const size_t few =
			covered((enum durations)d, 62, n, false, 1000000 * 900 + (uint64_t)d);
		const size_t mid =
			covered((enum durations)d, 500, n, false, 1000000 * 901 + (uint64_t)d);
		const size_t many =
			covered((enum durations)d, 2000, n / 3, false, 1000000 * 902 + (uint64_t)d);

		fprintf(study->out, "    %-22s %5.1f %5.1f %5.1f\n", duration_names[d],
			100 * (double)few / (double)n, 100 * (double)mid / (double)n,
			100 * (double)many / (double)(n / 3));
		for (size_t c = 0; c < sizeof(claims) / sizeof(claims[0]); c++)
			if (claims[c].durations == (enum durations)d)
				study_at_least(study, mid, n, claims[c].limit,
					       "one call in 16, %s, 500 timed", duration_names[d]);
	}
	study_at_most(study, covered(DURATIONS_EVERY_16TH, 500, n, true, 1000000 * 903), n, 0.5,
		      "a fixed every-16th count on every 16th slow covers");
}
