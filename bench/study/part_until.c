/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stopping when settled: how often a look-after-every-epoch rule stops falsely, and how long it takes.
 */
#include <math.h>
#include <stdlib.h>

#include "estimate/quantile.h"
#include "estimate/sequential.h"
#include "study/counts.h"
#include "study/study.h"

#define LOOKS      400
#define RECORDINGS 1000
#define TOP        5
#define S          12

struct outcome {
	size_t n, stopped, wrong, naive;
	double epochs; /* summed over those that stopped */
	size_t forecasts;
	double *forecast; /* needed epochs forecast at half time, over the truth */
};

/* The rule that most tools would use: a 5 % test of the weakest pair at every look. */
static bool naive_settled(const struct counts *counts, size_t epochs)
{
	const size_t n_cells = counts->n_epochs * counts->n_clocks;
	double total[S], order[S];

	for (size_t s = 0; s < counts->n_functions; s++) {
		total[s] = 0;
		for (size_t e = 0; e < epochs; e++)
			total[s] += counts->dense[s * n_cells + e];
		order[s] = total[s];
	}
	for (size_t i = 1; i < counts->n_functions; i++)
		for (size_t j = i; j > 0 && order[j] > order[j - 1]; j--) {
			const double kept = order[j];

			order[j] = order[j - 1];
			order[j - 1] = kept;
		}
	for (size_t i = 0; i < TOP; i++)
		if ((order[i] - order[i + 1]) / sqrt(order[i] + order[i + 1]) < 1.96)
			return false;
	return true;
}

static bool stop_wrong(const struct counts *counts, size_t epochs)
{
	const size_t n_cells = counts->n_epochs * counts->n_clocks;
	double total[S];

	for (size_t s = 0; s < counts->n_functions; s++) {
		total[s] = 0;
		for (size_t e = 0; e < epochs; e++)
			total[s] += counts->dense[s * n_cells + e];
	}
	/* whatever is asserted of two functions with equal shares is wrong; else the order must be right */
	for (size_t i = 0; i < TOP; i++)
		for (size_t j = i + 1; j < counts->n_functions; j++)
			if (!(counts->share[i] > counts->share[j]) || total[i] <= total[j])
				return true;
	return false;
}

static void until_run(struct outcome *outcome, enum process process, const double *share,
		      size_t per_epoch, size_t looks, size_t recordings, uint64_t seed)
{
	const struct estimate_until_options options = { .kind = ESTIMATE_UNTIL_ORDER,
							.top_k = TOP };
	struct counts counts;

	*outcome = (struct outcome){ .n = recordings };
	outcome->forecast = calloc(recordings, sizeof(*outcome->forecast));
	if (!outcome->forecast || !counts_init(&counts, S, looks, 1, per_epoch, process, share))
		abort();
	for (size_t r = 0; r < recordings; r++) {
		double needed[LOOKS + 1] = { 0 };
		bool naive = false;

		counts_start(&counts, seed + r);
		for (size_t e = 0; e < looks; e++) {
			struct estimate_until until;

			counts_epoch(&counts, e);
			if (e + 1 < ESTIMATE_UNTIL_EPOCHS_MIN)
				continue;
			if (!naive && naive_settled(&counts, e + 1)) {
				naive = true;
				outcome->naive += stop_wrong(&counts, e + 1);
			}
			counts_table(&counts, e + 1);
			if (estimate_until(&until, &counts.table, &options, NULL) != STATUS_OK)
				abort();
			needed[e + 1] = (until.epochs_more_max + (double)(e + 1)) / 1.1;
			if (!until.settled)
				continue;
			outcome->stopped++;
			outcome->epochs += (double)(e + 1);
			outcome->wrong += stop_wrong(&counts, e + 1);
			if (needed[(e + 1) / 2] > 0 && isfinite(needed[(e + 1) / 2]))
				outcome->forecast[outcome->forecasts++] =
					needed[(e + 1) / 2] / (double)(e + 1);
			break;
		}
	}
	counts_release(&counts);
}

static int double_compare(const void *left, const void *right)
{
	const double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

/* Epochs at which a single 5 % test of every needed pair, at a time fixed in advance, has 80 % power: by
 * simulation of the weakest pair alone (normal approximation). */
static double oracle_epochs(const double *share, size_t per_epoch)
{
	for (double e = 1; e < 1e6; e *= 1.01) {
		double power = 1;

		for (size_t i = 0; i < TOP; i++) {
			const double d = share[i] - share[i + 1], sum = share[i] + share[i + 1];

			power *= tail_normal(1.96 - d * sqrt(e * (double)per_epoch / sum));
		}
		if (power >= 0.8)
			return e;
	}
	return NAN;
}

static void outcome_print(struct study *study, const char *name, const struct outcome *outcome)
{
	fprintf(study->out,
		"    %-30s false stop %5.2f %%  (5 %% test at every epoch: %5.1f %%)  stopped "
		"%5.1f %%\n",
		name, 100 * (double)outcome->wrong / (double)outcome->n,
		100 * (double)outcome->naive / (double)outcome->n,
		100 * (double)outcome->stopped / (double)outcome->n);
}

static void false_stops(struct study *study, const double *tie)
{
	const struct {
		const char *name;
		enum process process;
		bool claimed;
	} all[] = {
		{ "5th = 6th, iid", PROCESS_IID, true },
		{ "5th = 6th, noisy epochs", PROCESS_NOISE, true },
		{ "5th = 6th, AR(0.6)", PROCESS_AR, true },
		{ "5th = 6th, skewed bursts", PROCESS_BURSTS, false },
	};
	const size_t n = study_recordings(study, RECORDINGS);

	fprintf(study->out, "\n## --until top=5: false stops in %d looks\n", LOOKS);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct outcome outcome;

		until_run(&outcome, all[i].process, tie, 100, study->brief ? LOOKS / 4 : LOOKS, n,
			  1000000 * (500 + i));
		outcome_print(study, all[i].name, &outcome);
		if (all[i].claimed)
			study_at_most(study, outcome.wrong, n, 0.05, "%s: false stop", all[i].name);
		free(outcome.forecast);
	}
}

static void stopping_times(struct study *study, const double *apart)
{
	const struct {
		const char *name;
		enum process process;
	} all[] = { { "iid", PROCESS_IID }, { "noisy epochs", PROCESS_NOISE } };
	const double oracle = oracle_epochs(apart, 100);
	const size_t n = study_recordings(study, RECORDINGS / 2);

	fprintf(study->out,
		"\n## --until top=5: time to stop over that of a test at a fixed time with 80 %% "
		"power "
		"(%.0f epochs), and the forecast at half time\n",
		oracle);
	for (size_t i = 0; i < 2; i++) {
		struct outcome outcome;
		size_t f;

		until_run(&outcome, all[i].process, apart, 100, LOOKS, n, 1000000 * (510 + i));
		f = outcome.forecasts;
		qsort(outcome.forecast, f, sizeof(double), double_compare);
		fprintf(study->out,
			"    %-14s stopped %5.1f %%  mean time %5.2f  forecast/truth 10/50/90 %%: "
			"%.2f / %.2f / %.2f\n",
			all[i].name, 100 * (double)outcome.stopped / (double)n,
			outcome.epochs / (double)outcome.stopped / oracle,
			f ? outcome.forecast[f / 10] : NAN, f ? outcome.forecast[f / 2] : NAN,
			f ? outcome.forecast[f * 9 / 10] : NAN);
		study_at_most(study, outcome.wrong, n, 0.05, "%s, all apart: false stop",
			      all[i].name);
		if (i == 0)
			study_claim(study, outcome.epochs / (double)outcome.stopped < 1.6 * oracle,
				    "iid: mean time to stop %.2f of the oracle's",
				    outcome.epochs / (double)outcome.stopped / oracle);
		free(outcome.forecast);
	}
}

void part_until(struct study *study)
{
	double tie[S] = { .22, .17, .13, .10, .07, .07 },
	       apart[S] = { .20, .175, .15, .128, .107, .088 };
	double rest = 0, left[2] = { 0, 0 };

	for (size_t s = 6; s < S; s++)
		rest += 1 / (double)(s - 3);
	for (size_t s = 0; s < 6; s++) {
		left[0] += tie[s];
		left[1] += apart[s];
	}
	for (size_t s = 6; s < S; s++) {
		tie[s] = (1 - left[0]) / rest / (double)(s - 3);
		apart[s] = (1 - left[1]) / rest / (double)(s - 3);
		/* nobody behind the sixth comes near it */
		tie[s] = fmin(tie[s], 0.055);
		apart[s] = fmin(apart[s], 0.05);
	}
	false_stops(study, tie);
	stopping_times(study, apart);
}
