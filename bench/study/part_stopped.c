/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Intervals of a recording that ended when its question was answered (--until): a length that the data
 * chose could spoil intervals that are made for a length fixed beforehand. Covered are the functions that
 * the question is about, at the stop, and the same functions after as many epochs fixed in advance.
 */
#include <math.h>
#include <stdlib.h>

#include "estimate/sequential.h"
#include "study/counts.h"
#include "study/study.h"

#define LOOKS      200
#define RECORDINGS 1000
#define PER_CELL   25
#define CLOCKS     2
#define S          8

struct covered {
	size_t n, recording, workload, workload_n;
	size_t stopped;
	double epochs;
};

static void covered_add(struct covered *covered, const struct counts *counts, size_t epochs,
			size_t k)
{
	struct estimate_shares shares;

	if (estimate_shares(&shares, &counts->table, NULL, NULL) != STATUS_OK)
		abort();
	for (size_t s = 0; s < k; s++) {
		const struct estimate_row *row = &shares.rows[s];
		const double truth = counts->truth[s] * (double)counts->n_epochs / (double)epochs;

		covered->n++;
		covered->recording += row->recording.lo <= truth && truth <= row->recording.hi;
		if (!row->workload.supported)
			continue;
		covered->workload_n++;
		covered->workload += row->workload.lo <= counts->share[s] &&
				     counts->share[s] <= row->workload.hi;
	}
	estimate_shares_release(&shares);
}

static void stopped_run(struct covered *stopped, struct covered *fixed, enum process process,
			const double *share, const struct estimate_until_options *options,
			size_t recordings, uint64_t seed)
{
	const size_t k = options->kind == ESTIMATE_UNTIL_SHARE ? 3 : options->top_k;
	struct counts counts;
	size_t length;

	*stopped = *fixed = (struct covered){ .n = 0 };
	if (!counts_init(&counts, S, LOOKS, CLOCKS, PER_CELL, process, share))
		abort();
	for (size_t r = 0; r < recordings; r++) {
		struct estimate_until until = { .settled = false };
		size_t e = 0;

		counts_start(&counts, seed + r);
		for (; e < LOOKS && !until.settled; e++) {
			counts_epoch(&counts, e);
			if (e + 1 < ESTIMATE_UNTIL_EPOCHS_MIN)
				continue;
			counts_table(&counts, e + 1);
			if (estimate_until(&until, &counts.table, options, NULL) != STATUS_OK)
				abort();
		}
		if (!until.settled)
			continue;
		stopped->stopped++;
		stopped->epochs += (double)e;
		covered_add(stopped, &counts, e, k);
	}
	length = stopped->stopped ? (size_t)round(stopped->epochs / (double)stopped->stopped)
				  : LOOKS;
	for (size_t r = 0; r < recordings; r++) {
		counts_start(&counts, seed + recordings + r);
		for (size_t e = 0; e < length; e++)
			counts_epoch(&counts, e);
		counts_table(&counts, length);
		covered_add(fixed, &counts, length, k);
	}
	counts_release(&counts);
}

void part_stopped(struct study *study)
{
	/* the second row of each question is settled late, where the boundary is narrow */
	static const double clear[S] = { .30, .22, .15, .11, .08, .06, .05, .03 },
			    close[S] = { .25, .20, .155, .12, .095, .075, .06, .045 };
	const struct {
		const char *name;
		enum process process;
		const double *share;
		struct estimate_until_options options;
	} all[] = {
		{ "top=1, clear",
		  PROCESS_IID,
		  clear,
		  { .kind = ESTIMATE_UNTIL_ORDER, .top_k = 1 } },
		{ "top=1, close",
		  PROCESS_IID,
		  close,
		  { .kind = ESTIMATE_UNTIL_ORDER, .top_k = 1 } },
		{ "top=3, clear",
		  PROCESS_IID,
		  clear,
		  { .kind = ESTIMATE_UNTIL_ORDER, .top_k = 3 } },
		{ "top=3:set, close",
		  PROCESS_IID,
		  close,
		  { .kind = ESTIMATE_UNTIL_SET, .top_k = 3 } },
		{ "top=3, noisy epochs",
		  PROCESS_NOISE,
		  clear,
		  { .kind = ESTIMATE_UNTIL_ORDER, .top_k = 3 } },
		{ "share=3%",
		  PROCESS_IID,
		  clear,
		  { .kind = ESTIMATE_UNTIL_SHARE, .half_width = 0.03 } },
		{ "share=5%, noisy epochs",
		  PROCESS_NOISE,
		  clear,
		  { .kind = ESTIMATE_UNTIL_SHARE, .half_width = 0.05 } },
	};
	const size_t n = study_recordings(study, RECORDINGS);

	fprintf(study->out, "\n## Intervals of recordings that --until ended: coverage %% of the "
			    "functions asked "
			    "about\n");
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct covered at_stop, fixed;

		stopped_run(&at_stop, &fixed, all[i].process, all[i].share, &all[i].options, n,
			    1000000 * (600 + i));
		fprintf(study->out,
			"    %-24s stopped %5.1f %% after %5.1f epochs: recording %5.1f (fixed "
			"length "
			"%5.1f)  workload %5.1f (%5.1f)\n",
			all[i].name, 100 * (double)at_stop.stopped / (double)n,
			at_stop.epochs / (double)at_stop.stopped,
			100 * (double)at_stop.recording / (double)at_stop.n,
			100 * (double)fixed.recording / (double)fixed.n,
			100 * (double)at_stop.workload / (double)at_stop.workload_n,
			100 * (double)fixed.workload / (double)fixed.workload_n);
		study_at_least(study, at_stop.recording, at_stop.n, 0.93,
			       "%s: coverage at the stop", all[i].name);
	}
}
