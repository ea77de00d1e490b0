/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Short and long recordings: epochs as the collector makes them (short at first, 200 ms later), as
 * recorded and after merging.
 */
#include <stdlib.h>

#include "estimate/merge.h"
#include "study/tally.h"

#define RECORDINGS_FEW 100

struct length {
	double seconds;
	size_t recordings;
	double piece; /* of iid stretches: coarser in long recordings, to save time */
	double rate;  /* samples per second of both clocks together */
};

struct pair_of_tallies {
	struct tally plain, merged;
	double merged_epochs;
};

static bool length_run(struct pair_of_tallies *pair, const struct workload *workload,
		       const struct length *length, size_t n, uint64_t seed)
{
	static double lengths[EPOCHS_LIMIT];
	static size_t place[EPOCHS_LIMIT];
	struct design design = design_standard();

	design.rate = length->rate;
	tally_init(&pair->plain, n);
	tally_init(&pair->merged, n);
	for (size_t r = 0; r < n; r++) {
		const size_t epochs = epochs_growing(lengths, length->seconds, seed + r);
		struct recording recording;
		struct estimate_merged merged;
		size_t n_merged;

		if (!recording_make(&recording, workload, &design, lengths, epochs, seed + r))
			return false;
		tally_add(&pair->plain, &recording, &recording.table, workload, false);
		n_merged = estimate_merge_plan(place, lengths, epochs, NULL);
		if (estimate_merge(&merged, &recording.table, place, n_merged, NULL) != STATUS_OK)
			return false;
		tally_add(&pair->merged, &recording, &merged.table, workload, false);
		estimate_merge_release(&merged);
		recording_release(&recording);
	}
	return true;
}

static void tally_print(struct study *study, const char *name, struct tally *tally)
{
	double low, high, low_workload, high_workload;

	tally_range(tally->recording[METHOD_ASSAY], &low, &high);
	tally_range(tally->workload[METHOD_ASSAY], &low_workload, &high_workload);
	fprintf(study->out,
		"      %-9s epochs %5.0f  recording %5.1f..%-5.1f (%5.2f points)  workload "
		"%5.1f..%-5.1f (%5.2f points) unsupported %4.1f %%\n",
		name, tally->epochs / (double)tally->recordings, low, high,
		100 * tally_width(&tally->recording[METHOD_ASSAY][0]), low_workload, high_workload,
		100 * tally_width(&tally->workload[METHOD_ASSAY][0]),
		100 - 100 * (double)tally->workload[METHOD_ASSAY][0].supported /
				(double)tally->recordings);
}

/* Of few recordings a single function says little: all of them together, each recording counted once. */
static void length_claims(struct study *study, const struct tally *tally, const char *name,
			  double seconds)
{
	size_t covered = 0, supported = 0;

	for (size_t w = 0; w < WATCHED; w++) {
		const struct tally_method *method = &tally->recording[METHOD_ASSAY][w];

		covered += method->covered;
		supported += method->supported;
		if (tally->recordings >= RECORDINGS_FEW)
			study_at_least(study, method->covered, method->supported, 0.93,
				       "%s, %g s, function %zu: this recording", name, seconds,
				       watched_functions[w]);
	}
	if (tally->recordings < RECORDINGS_FEW)
		study_at_least(study, covered / WATCHED, supported / WATCHED, 0.93,
			       "%s, %g s: this recording", name, seconds);
}

void part_lengths(struct study *study)
{
	const struct length lengths[] = {
		{ 0.3, 2000, 100e-6, 400 }, { 0.5, 2000, 100e-6, 400 }, { 1, 2000, 100e-6, 400 },
		{ 2, 1000, 100e-6, 400 },   { 4, 1000, 100e-6, 400 },   { 10, 400, 200e-6, 400 },
		{ 60, 200, 1e-3, 400 },     { 3600, 40, 10e-3, 100 },
	};
	const size_t which[] = { 0, 1, 3, 4, 7, 9 };
	struct workload workloads[WORKLOADS_STANDARD];

	workloads_standard(workloads);
	fprintf(study->out,
		"\n## Recordings of other lengths: epochs clamp(elapsed/10, 25 ms, 200 ms) x "
		"0.6-1.4, 400 samples/s (3600 s: 100)\n"
		"coverage %% and median width of the 40 %% function, as recorded and merged\n");
	for (size_t l = 0; l < sizeof(lengths) / sizeof(lengths[0]); l++) {
		if (study->brief && lengths[l].seconds > 2)
			break;
		fprintf(study->out, "%g s\n", lengths[l].seconds);
		for (size_t i = 0; i < sizeof(which) / sizeof(which[0]); i++) {
			struct workload *workload = &workloads[which[i]];
			const size_t n = study_recordings(study, lengths[l].recordings);
			struct pair_of_tallies pair = { 0 };

			if (study->brief && i % 2)
				continue;
			/* a cycle cannot be made coarser */
			if (workload->behaviour == BEHAVIOUR_CYCLE && lengths[l].seconds > 10 &&
			    workload->cycle < 50e-3)
				continue;
			workload->piece = lengths[l].piece;
			fprintf(study->out, "    %s\n", workload->name);
			if (length_run(&pair, workload, &lengths[l], n,
				       1000000 * (300 + 10 * l + i))) {
				tally_print(study, "recorded", &pair.plain);
				tally_print(study, "merged", &pair.merged);
				length_claims(study, &pair.merged, workload->name,
					      lengths[l].seconds);
			}
			tally_release(&pair.plain);
			tally_release(&pair.merged);
		}
	}
	for (size_t i = 0; i < WORKLOADS_STANDARD; i++)
		workload_free(&workloads[i]);
}
