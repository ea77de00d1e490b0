/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Simulated clocks that sample a simulated execution into epochs, and the table that results.
 */
#ifndef ASSAY_STUDY_SAMPLER_H
#define ASSAY_STUDY_SAMPLER_H

#include "estimate/estimate.h"
#include "study/execution.h"

enum clock_kind {
	CLOCK_FIXED,        /* free-running at one period */
	CLOCK_FIXED_PHASED, /* one period, a random phase in every epoch */
	CLOCK_BLOCK,        /* uniform in +-50 %, redrawn at random moments and at epochs */
	CLOCK_SAMPLE,       /* uniform in +-50 %, redrawn for every sample */
	CLOCK_EXPONENTIAL,  /* exponential, bounded to 0.05..5 mean periods, for every sample */
};

struct design {
	const char *name;
	enum clock_kind kind;
	size_t n_clocks;
	double rate;                   /* samples per second, all clocks together */
	double redraw_min, redraw_max; /* CLOCK_BLOCK: mean periods between redraws */
	/* CLOCK_BLOCK: a new period takes effect with the next sample; else it restarts the interval, as
	 * setting it on a live perf event does, which loses the part that had passed. */
	bool redraw_keeps;
	double canary_rate; /* of one further, fixed clock; 0: none */
	/* Clocks of tasks count the time of their task only. `residual`: their first interval is drawn
	 * from what is left of one that began earlier, else it is a whole one. */
	bool per_task, residual;
};

struct design design_standard(void); /* K = 2, 500/s, blocks 5-15 mean periods apart */

struct sample {
	double time, period;
	uint32_t function;
	uint16_t clock; /* n_clocks: the canary */
};

struct recording {
	size_t n_functions, n_epochs, n_clocks;
	double *lengths; /* of epochs */
	double duration;
	double *truth; /* shares of the execution */
	struct sample *samples;
	size_t n_samples, samples_capacity;
	struct estimate_table table, canary;
	/* what tables point to */
	size_t *first, *canary_first;
	struct estimate_count *counts, *canary_counts;
	double *cell_weight, *canary_weight;
	uint32_t *cell_count, *canary_count;
};

/* Epoch lengths. */
#define EPOCHS_LIMIT 100000
/* n lengths uniform in (1 -+ spread) x nominal; returns n. */
size_t epochs_uniform(double *lengths, size_t n, double nominal, double spread, uint64_t seed);
/* As the collector does it: nominal = clamp(elapsed/10, 25 ms, 200 ms), uniform 0.6-1.4 of it, until
 * `duration` is reached; the last one is cut. */
size_t epochs_growing(double *lengths, double duration, uint64_t seed);

/* Runs one execution of the sum of `lengths` and samples it. False without memory. */
bool recording_make(struct recording *recording, const struct workload *workload,
		    const struct design *design, const double *lengths, size_t n_epochs,
		    uint64_t seed);
void recording_release(struct recording *recording);

#endif
