/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/sampler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "study/draw.h"

struct clock {
	double next, redraw; /* in the clock's own time */
	double period;
	double epoch_end; /* CLOCK_BLOCK and CLOCK_FIXED_PHASED restart there */
	size_t epoch;
	bool redraw_due;
};

struct sampling {
	const struct design *design;
	struct recording *recording;
	struct random random;
	double mean;             /* period of one clock */
	struct clock *clocks;    /* n_clocks, and the canary */
	struct clock **of_tasks; /* per_task: by task, made when first met */
	double *task_time;
	size_t n_tasks, tasks_capacity, times_capacity;
	double *ends; /* of epochs */
	size_t epoch; /* of now */
};

struct design design_standard(void)
{
	return (struct design){
		.name = "block",
		.kind = CLOCK_BLOCK,
		.n_clocks = 2,
		.rate = 500,
		.redraw_min = 5,
		.redraw_max = 15,
	};
}

size_t epochs_uniform(double *lengths, size_t n, double nominal, double spread, uint64_t seed)
{
	struct random random;

	random_init(&random, seed, 2, 0, 0);
	for (size_t e = 0; e < n; e++)
		lengths[e] = nominal * draw_uniform(&random, 1 - spread, 1 + spread);
	return n;
}

size_t epochs_growing(double *lengths, double duration, uint64_t seed)
{
	struct random random;
	double elapsed = 0;
	size_t n = 0;

	random_init(&random, seed, 2, 0, 0);
	while (elapsed < duration && n < EPOCHS_LIMIT) {
		const double nominal = fmin(fmax(elapsed / 10, 0.025), 0.2);

		lengths[n] = fmin(nominal * draw_uniform(&random, 0.6, 1.4), duration - elapsed);
		elapsed += lengths[n++];
	}
	return n;
}

static double interval_draw(struct sampling *sampling)
{
	switch (sampling->design->kind) {
	case CLOCK_BLOCK:
	case CLOCK_SAMPLE: return sampling->mean * draw_uniform(&sampling->random, 0.5, 1.5);
	case CLOCK_EXPONENTIAL:
		return fmin(fmax(draw_exponential(&sampling->random, sampling->mean),
				 0.05 * sampling->mean),
			    5 * sampling->mean);
	case CLOCK_FIXED:
	case CLOCK_FIXED_PHASED:
	default: return sampling->mean;
	}
}

static void clock_redraw(struct sampling *sampling, struct clock *clock, double now)
{
	const struct design *design = sampling->design;

	clock->period = interval_draw(sampling);
	clock->redraw = INFINITY;
	clock->redraw_due = false;
	if (design->kind == CLOCK_BLOCK)
		clock->redraw =
			now + sampling->mean * draw_uniform(&sampling->random, design->redraw_min,
							    design->redraw_max);
	clock->next = now + clock->period;
}

static void clock_start(struct sampling *sampling, struct clock *clock)
{
	const struct design *design = sampling->design;

	clock->epoch = 0;
	clock->epoch_end = sampling->ends[0];
	clock_redraw(sampling, clock, 0);
	/* free-running clocks were running before the recording began */
	if (design->kind != CLOCK_BLOCK)
		clock->next = clock->period * random_double(&sampling->random);
	if (design->per_task) {
		clock->epoch_end = INFINITY;
		clock->next = clock->period;
		/* length-biased interval times uniform: what is left of a running one */
		if (design->residual) {
			while (random_double(&sampling->random) * 1.5 * sampling->mean >
			       clock->period)
				clock->period = interval_draw(sampling);
			clock->next = clock->period * random_double(&sampling->random);
		}
	}
}

static bool sample_add(struct sampling *sampling, size_t k, double time, double period,
		       uint32_t function)
{
	struct recording *recording = sampling->recording;

	if (!array_reserve(&recording->samples, &recording->samples_capacity,
			   recording->n_samples + 1))
		return false;
	recording->samples[recording->n_samples++] = (struct sample){
		.time = time, .period = period, .function = function, .clock = (uint16_t)k
	};
	return true;
}

static void clock_epoch(struct sampling *sampling, struct clock *clock)
{
	const double now = clock->epoch_end;

	clock->epoch++;
	clock->epoch_end = clock->epoch < sampling->recording->n_epochs
				   ? sampling->ends[clock->epoch]
				   : INFINITY;
	if (sampling->design->kind == CLOCK_BLOCK)
		clock_redraw(sampling, clock, now);
	else if (sampling->design->kind == CLOCK_FIXED_PHASED)
		clock->next = now + clock->period * random_double(&sampling->random);
}

/* Lets one clock see the piece that fills [from, to) of its own time; `shift` is wall time minus that. */
static bool clock_advance(struct sampling *sampling, size_t k, struct clock *clock, double to,
			  double shift, uint32_t function)
{
	const struct design *design = sampling->design;

	for (;;) {
		const double event = fmin(fmin(clock->next, clock->redraw), clock->epoch_end);

		if (event >= to)
			return true;
		if (event >= clock->epoch_end) {
			clock_epoch(sampling, clock);
		} else if (event >= clock->next) {
			if (!sample_add(sampling, k, clock->next + shift, clock->period, function))
				return false;
			if (clock->redraw_due)
				clock_redraw(sampling, clock, clock->next);
			else if (design->kind == CLOCK_SAMPLE || design->kind == CLOCK_EXPONENTIAL)
				clock->next += clock->period = interval_draw(sampling);
			else
				clock->next += clock->period;
		} else if (design->redraw_keeps) {
			clock->redraw = INFINITY;
			clock->redraw_due = true;
		} else {
			clock_redraw(sampling, clock, clock->redraw);
		}
	}
}

static struct clock *clocks_of_task(struct sampling *sampling, uint32_t task)
{
	while (sampling->n_tasks <= task) {
		const size_t t = sampling->n_tasks;

		if (!array_reserve(&sampling->of_tasks, &sampling->tasks_capacity, t + 1) ||
		    !array_reserve(&sampling->task_time, &sampling->times_capacity, t + 1))
			return NULL;
		sampling->of_tasks[t] = calloc(sampling->design->n_clocks, sizeof(struct clock));
		if (!sampling->of_tasks[t])
			return NULL;
		sampling->task_time[t] = 0;
		sampling->n_tasks++;
		for (size_t k = 0; k < sampling->design->n_clocks; k++)
			clock_start(sampling, &sampling->of_tasks[t][k]);
	}
	return sampling->of_tasks[task];
}

static bool piece_sample(struct sampling *sampling, const struct piece *piece, double from)
{
	const struct design *design = sampling->design;
	struct clock *clocks = sampling->clocks;
	double to = from + piece->length, shift = 0;

	if (design->canary_rate > 0) {
		struct clock *canary = &sampling->clocks[design->n_clocks];

		for (; canary->next < to; canary->next += canary->period)
			if (!sample_add(sampling, design->n_clocks, canary->next, canary->period,
					piece->function))
				return false;
	}
	if (design->per_task) {
		clocks = clocks_of_task(sampling, piece->task);
		if (!clocks)
			return false;
		shift = from - sampling->task_time[piece->task];
		sampling->task_time[piece->task] += piece->length;
		to = sampling->task_time[piece->task];
	}
	for (size_t k = 0; k < design->n_clocks; k++)
		if (!clock_advance(sampling, k, &clocks[k], to, shift, piece->function))
			return false;
	return true;
}

static void sampling_release(struct sampling *sampling)
{
	for (size_t t = 0; t < sampling->n_tasks; t++)
		free(sampling->of_tasks[t]);
	free(sampling->of_tasks);
	free(sampling->task_time);
	free(sampling->clocks);
	free(sampling->ends);
}

static int sample_compare(const void *left, const void *right)
{
	const struct sample *a = left, *b = right;

	return (a->time > b->time) - (a->time < b->time);
}

struct tabling {
	struct estimate_table *table;
	size_t **first;
	struct estimate_count **counts;
	double **weight;
	uint32_t **count;
	size_t clock_low, n_clocks;
};

/* Dense counts by function and cell, then by rows. */
static bool table_build(struct recording *recording, const struct tabling *tabling,
			const double *ends)
{
	const size_t n_cells = recording->n_epochs * tabling->n_clocks;
	const size_t n_functions = recording->n_functions;
	struct estimate_count *dense = calloc(n_functions * n_cells + 1, sizeof(*dense));
	size_t epoch = 0, n = 0;

	*tabling->first = calloc(n_functions + 1, sizeof(**tabling->first));
	*tabling->weight = calloc(n_cells + 1, sizeof(**tabling->weight));
	*tabling->count = calloc(n_cells + 1, sizeof(**tabling->count));
	if (!dense || !*tabling->first || !*tabling->weight || !*tabling->count) {
		free(dense);
		return false;
	}
	for (size_t i = 0; i < recording->n_samples; i++) {
		const struct sample *sample = &recording->samples[i];
		size_t cell;

		while (epoch + 1 < recording->n_epochs && sample->time >= ends[epoch])
			epoch++;
		if (sample->clock < tabling->clock_low ||
		    sample->clock >= tabling->clock_low + tabling->n_clocks)
			continue;
		cell = epoch * tabling->n_clocks + sample->clock - tabling->clock_low;
		n += !dense[sample->function * n_cells + cell].count++;
		dense[sample->function * n_cells + cell].weight += sample->period;
		++(*tabling->count)[cell];
		(*tabling->weight)[cell] += sample->period;
	}
	*tabling->counts = calloc(n + 1, sizeof(**tabling->counts));
	n = 0;
	for (size_t s = 0; *tabling->counts && s < n_functions; s++) {
		(*tabling->first)[s] = n;
		for (size_t cell = 0; cell < n_cells; cell++) {
			if (!dense[s * n_cells + cell].count)
				continue;
			(*tabling->counts)[n] = dense[s * n_cells + cell];
			(*tabling->counts)[n++].cell = (uint32_t)cell;
		}
	}
	(*tabling->first)[n_functions] = n;
	free(dense);
	*tabling->table = (struct estimate_table){
		.n_functions = n_functions,
		.n_epochs = recording->n_epochs,
		.n_clocks = tabling->n_clocks,
		.first = *tabling->first,
		.counts = *tabling->counts,
		.cell_weight = *tabling->weight,
		.cell_count = *tabling->count,
		.randomised = tabling->clock_low == 0,
	};
	return *tabling->counts;
}

static bool recording_sample(struct recording *recording, struct sampling *sampling,
			     const struct workload *workload, uint64_t seed)
{
	const struct design *design = sampling->design;
	struct execution execution;
	struct piece piece;
	double from = 0;
	bool done = true;

	if (!execution_init(&execution, workload, recording->duration, seed))
		return false;
	for (size_t k = 0; k < design->n_clocks; k++)
		clock_start(sampling, &sampling->clocks[k]);
	if (design->canary_rate > 0) {
		struct clock *canary = &sampling->clocks[design->n_clocks];

		canary->period = 1 / design->canary_rate;
		canary->next = canary->period * random_double(&sampling->random);
	}
	while (done && execution_next(&execution, &piece)) {
		recording->truth[piece.function] += piece.length / recording->duration;
		done = piece_sample(sampling, &piece, from);
		from = execution.at;
	}
	execution_release(&execution);
	return done;
}

bool recording_make(struct recording *recording, const struct workload *workload,
		    const struct design *design, const double *lengths, size_t n_epochs,
		    uint64_t seed)
{
	struct sampling sampling = { .design = design, .recording = recording };
	const struct tabling own = { &recording->table,      &recording->first,
				     &recording->counts,     &recording->cell_weight,
				     &recording->cell_count, 0,
				     design->n_clocks };
	const struct tabling canary = { &recording->canary,
					&recording->canary_first,
					&recording->canary_counts,
					&recording->canary_weight,
					&recording->canary_count,
					design->n_clocks,
					1 };
	bool done = false;

	*recording = (struct recording){ .n_functions = workload->n_functions,
					 .n_epochs = n_epochs,
					 .n_clocks = design->n_clocks };
	random_init(&sampling.random, seed, 3, 0, 0);
	sampling.mean = (double)design->n_clocks / design->rate;
	sampling.clocks = calloc(design->n_clocks + 1, sizeof(*sampling.clocks));
	sampling.ends = calloc(n_epochs + 1, sizeof(*sampling.ends));
	recording->lengths = calloc(n_epochs + 1, sizeof(*recording->lengths));
	recording->truth = calloc(workload->n_functions + 1, sizeof(*recording->truth));
	if (sampling.clocks && sampling.ends && recording->lengths && recording->truth) {
		for (size_t e = 0; e < n_epochs; e++) {
			recording->lengths[e] = lengths[e];
			recording->duration += lengths[e];
			sampling.ends[e] = recording->duration;
		}
		done = recording_sample(recording, &sampling, workload, seed);
	}
	if (done) {
		qsort(recording->samples, recording->n_samples, sizeof(*recording->samples),
		      sample_compare);
		done = table_build(recording, &own, sampling.ends) &&
		       (!(design->canary_rate > 0) ||
			table_build(recording, &canary, sampling.ends));
	}
	sampling_release(&sampling);
	if (!done)
		recording_release(recording);
	return done;
}

void recording_release(struct recording *recording)
{
	free(recording->lengths);
	free(recording->truth);
	free(recording->samples);
	free(recording->first);
	free(recording->counts);
	free(recording->cell_weight);
	free(recording->cell_count);
	free(recording->canary_first);
	free(recording->canary_counts);
	free(recording->canary_weight);
	free(recording->canary_count);
	*recording = (struct recording){ 0 };
}
