/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two recordings, unchanged and changed: how often "changed" is said of any function of an unchanged
 * program, how often a real change is found, and whether the simultaneous intervals hold the truth.
 */
#include <math.h>
#include <stdlib.h>

#include "estimate/change.h"
#include "study/counts.h"
#include "study/study.h"

#define RECORDINGS 2000
#define CLOCKS     2
#define S_MOST     200

struct setting {
	const char *name;
	enum process process;
	size_t functions, epochs, per_cell;
	double factor; /* of the first function's share in B */
	double limit;  /* of false alarms */
};

struct outcome {
	size_t n, false_alarm, found, uncovered;
};

static void side_fill(struct estimate_change_side *sides,
		      struct estimate_change_recording *recording, const struct counts *counts)
{
	struct estimate_shares shares;

	if (estimate_shares(&shares, &counts->table, NULL, NULL) != STATUS_OK)
		abort();
	*recording = (struct estimate_change_recording){
		.samples = shares.samples,
		.n_epochs = shares.n_epochs,
		.design_effect = shares.design_effect_workload,
		.correlation = shares.correlation,
	};
	for (size_t s = 0; s < counts->n_functions; s++)
		sides[s] = (struct estimate_change_side){
			.share = shares.rows[s].workload.share,
			.samples = shares.rows[s].samples,
			.effective_samples = shares.rows[s].effective_samples_workload,
			.changes = shares.rows[s].changes,
		};
	estimate_shares_release(&shares);
}

static void pair_judge(struct outcome *outcome, const struct setting *setting,
		       const struct estimate_change *changes, const double *share_a,
		       const double *share_b)
{
	bool alarm = false, uncovered = false;

	for (size_t s = 0; s < setting->functions; s++) {
		const double truth = share_b[s] - share_a[s];

		alarm |= changes[s].differs &&
			 (truth == 0 || signbit(truth) != signbit(changes[s].difference));
		uncovered |= changes[s].tested && (truth < changes[s].lo || truth > changes[s].hi);
	}
	outcome->n++;
	outcome->false_alarm += alarm;
	outcome->uncovered += uncovered;
	outcome->found += changes[0].differs && changes[0].difference > 0;
}

static struct outcome setting_run(const struct setting *setting, size_t n, uint64_t seed)
{
	struct estimate_change_side sides[2][S_MOST];
	struct estimate_change_recording recordings[2];
	struct estimate_change changes[S_MOST];
	double share[2][S_MOST], sum[2] = { 0, 0 };
	struct outcome outcome = { 0 };
	struct counts counts[2];

	/* the largest one half as large as the smallest is small: 1/(s + 3) */
	for (size_t s = 0; s < setting->functions; s++)
		for (int side = 0; side < 2; side++) {
			share[side][s] = 1 / (double)(s + 3) * (s || !side ? 1 : setting->factor);
			sum[side] += share[side][s];
		}
	for (int side = 0; side < 2; side++) {
		for (size_t s = 0; s < setting->functions; s++)
			share[side][s] /= sum[side];
		if (!counts_init(&counts[side], setting->functions, setting->epochs, CLOCKS,
				 setting->per_cell, setting->process, share[side]))
			abort();
	}
	for (size_t r = 0; r < n; r++) {
		for (int side = 0; side < 2; side++) {
			counts_draw(&counts[side], seed + 2 * r + (size_t)side);
			side_fill(sides[side], &recordings[side], &counts[side]);
		}
		if (estimate_changes(changes, sides[0], sides[1], setting->functions, recordings,
				     NULL, NULL, NULL) != STATUS_OK)
			abort();
		pair_judge(&outcome, setting, changes, share[0], share[1]);
	}
	counts_release(&counts[0]);
	counts_release(&counts[1]);
	return outcome;
}

void part_diff(struct study *study)
{
	static const struct setting settings[] = {
		{ "8 functions, iid, 20 epochs", PROCESS_IID, 8, 20, 25, 1, 0.05 },
		{ "8 functions, iid, 60 epochs", PROCESS_IID, 8, 60, 25, 1, 0.05 },
		{ "8 functions, iid, few samples", PROCESS_IID, 8, 20, 4, 1, 0.05 },
		{ "200 functions, iid", PROCESS_IID, 200, 20, 25, 1, 0.05 },
		{ "8 functions, noisy epochs", PROCESS_NOISE, 8, 20, 25, 1, 0.05 },
		{ "200 functions, noisy epochs", PROCESS_NOISE, 200, 20, 25, 1, 0.05 },
		{ "8 functions, skewed bursts", PROCESS_BURSTS, 8, 20, 25, 1, 0.05 },
		{ "8 functions, AR(0.6)", PROCESS_AR, 8, 20, 25, 1, 0.05 },
		{ "8 functions, AR(0.6), 60 epochs", PROCESS_AR, 8, 60, 25, 1, 0.05 },
		{ "8 functions, first +25 %, iid", PROCESS_IID, 8, 20, 25, 1.25, 1 },
		{ "8 functions, first +25 %, noisy", PROCESS_NOISE, 8, 60, 25, 1.25, 1 },
		{ "200 functions, first x2, iid", PROCESS_IID, 200, 20, 25, 2, 1 },
	};
	const size_t n = study_recordings(study, RECORDINGS);

	fprintf(study->out,
		"\n## assay diff: false alarms (any function of an unchanged program), changes of "
		"the "
		"first function found, pairs with a truth outside its simultaneous interval, %%\n");
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		const struct setting *setting = &settings[i];
		const struct outcome outcome = setting_run(setting, n, 1000000 * (700 + i));
		const double percent = 100 / (double)outcome.n;

		fprintf(study->out, "    %-32s false %5.1f  found %5.1f  outside %5.1f\n",
			setting->name,
			setting->factor > 1 ? NAN : percent * (double)outcome.false_alarm,
			setting->factor > 1 ? percent * (double)outcome.found : NAN,
			percent * (double)outcome.uncovered);
		if (setting->factor <= 1)
			study_at_most(study, outcome.false_alarm, outcome.n, setting->limit,
				      "diff, %s: false alarm", setting->name);
	}
}
