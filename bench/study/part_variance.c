/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The split of the variance into measurement and workload, where both are known; and effective sample
 * sizes of sequences that repeat themselves.
 */
#include <math.h>
#include <stdlib.h>

#include "estimate/effective.h"
#include "study/counts.h"
#include "study/draw.h"
#include "study/study.h"

#define RECORDINGS 1000
#define S          20
#define PER_CELL   50
#define WATCHED    0 /* the 40 % function */

static const double shares[S] = { .40,  .14,  .09,  .07,  .06,   .05,  .04,   .03,  .025, .02,
				  .017, .014, .011, .009, .0075, .006, .0045, .003, .002, .001 };

static void split_run(struct study *study, const char *name, enum process process, size_t epochs,
		      uint64_t seed)
{
	const size_t n = study_recordings(study, RECORDINGS);
	const double binomial = shares[WATCHED] * (1 - shares[WATCHED]);
	/* Dirichlet(49): shares of an epoch vary by p(1-p)/50, samples within it by p(1-p) 49/50 */
	const double drift = process == PROCESS_NOISE ? binomial / 50 : 0;
	const double measured = (binomial - drift) / (double)(epochs * 2 * PER_CELL);
	const double worked = drift / (double)epochs;
	double measurement = 0, workload = 0;
	size_t negative = 0, quiet = 0, covered = 0;
	struct counts counts;

	if (!counts_init(&counts, S, epochs, 2, PER_CELL, process, shares))
		abort();
	for (size_t r = 0; r < n; r++) {
		struct estimate_shares estimated;
		const struct estimate_row *row;

		counts_draw(&counts, seed + r);
		if (estimate_shares(&estimated, &counts.table, NULL, NULL) != STATUS_OK)
			abort();
		row = &estimated.rows[WATCHED];
		measurement += row->variance_measurement / (double)n;
		workload += row->variance_workload / (double)n;
		negative += row->variance_workload < 0;
		if (!isnan(row->variance_workload_hi)) {
			const double part = worked / (worked + measured);

			quiet++;
			covered += row->variance_workload_lo <= part + 1e-12 &&
				   part <= row->variance_workload_hi;
		}
		estimate_shares_release(&estimated);
	}
	fprintf(study->out,
		"    %-12s E = %2zu  measurement %5.0f (true %4.0f)  workload %6.1f (true %5.1f) x "
		"1e-6, "
		"negative in %4.1f %%, range covers %4.1f %%\n",
		name, epochs, 1e6 * measurement, 1e6 * measured, 1e6 * workload, 1e6 * worked,
		100 * (double)negative / (double)n, 100 * (double)covered / (double)quiet);
	/* relative standard errors: sqrt(2/E)/sqrt(n) of each variance of an epoch, times four */
	study_claim(study,
		    fabs(measurement / measured - 1) <
			    4 * sqrt(2 / (double)epochs) / sqrt((double)n) + 0.02,
		    "%s, E = %zu: measurement part %.3g, true %.3g", name, epochs, measurement,
		    measured);
	study_claim(study,
		    fabs(workload - worked) < 4 * sqrt(2.0 * 2 / (double)epochs) *
							      (worked + measured) /
							      sqrt((double)n) +
						      0.03 * worked,
		    "%s, E = %zu: workload part %.3g, true %.3g", name, epochs, workload, worked);
	study_at_least(study, covered, quiet, 0.90, "%s, E = %zu: range of the workload part", name,
		       epochs);
	counts_release(&counts);
}

/* A chain redrawn with chance q per sample: tau = (2 - q)/q. */
static void effective_run(struct study *study, double tau, size_t n, uint64_t seed)
{
	const size_t trials = study_recordings(study, RECORDINGS);
	const double q = 2 / (1 + tau), truth = (double)n / tau;
	bool *hits = calloc(n, sizeof(*hits));
	struct random random;
	double sum = 0;
	size_t double_truth = 0;

	random_init(&random, seed, 10, 0, 0);
	for (size_t t = 0; hits && t < trials; t++) {
		bool hit = random_double(&random) < 0.3;
		double effective;

		for (size_t i = 0; i < n; i++) {
			if (random_double(&random) < q)
				hit = random_double(&random) < 0.3;
			hits[i] = hit;
		}
		effective = estimate_effective((double)n, (double)n,
					       estimate_correlation_time(hits, n));
		sum += effective / (double)trials;
		double_truth += effective > 2 * truth;
	}
	fprintf(study->out,
		"    tau = %2.0f, n = %4zu: effective %5.0f (true %4.0f), twice too large in %4.1f "
		"%%\n",
		tau, n, sum, truth, 100 * (double)double_truth / (double)trials);
	if (truth > 20)
		study_at_most(study, double_truth, trials, 0.05,
			      "effective sample size twice too large, tau %g, n %zu", tau, n);
	free(hits);
}

void part_variance(struct study *study)
{
	const size_t epochs[] = { 10, 20, 60 };

	fprintf(study->out, "\n## Variance of the 40 %% function's share, split\n");
	for (size_t i = 0; i < 3; i++) {
		split_run(study, "iid", PROCESS_IID, epochs[i], 1000000 * (950 + i));
		split_run(study, "noisy epochs", PROCESS_NOISE, epochs[i], 1000000 * (960 + i));
	}
	fprintf(study->out, "\n## Effective samples of a sequence that repeats itself\n");
	effective_run(study, 5, 300, 1000000 * 970);
	effective_run(study, 5, 1000, 1000000 * 971);
	effective_run(study, 50, 300, 1000000 * 972);
}
