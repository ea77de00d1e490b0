/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diagnose/alias_axis.h"

#include <stdlib.h>
#include <string.h>

/* A thread is an axis of its own with so many samples, and unless it is nearly all of the program. */
#define THREAD_SAMPLES_MIN 100
#define THREAD_PART_MAX    0.95
/* Off the CPU for more than this part of its life, a thread's CPU time is another axis than time. */
#define OFF_CPU_PART 0.03

void axes_release(struct axes *axes)
{
	for (size_t i = 0; i < axes->n; i++) {
		free(axes->items[i].times);
		free(axes->items[i].functions);
		free(axes->items[i].slots);
	}
}

static bool axis_init(struct axis *axis, size_t capacity)
{
	memset(axis, 0, sizeof(*axis));
	axis->times = malloc((capacity + 1) * sizeof(*axis->times));
	axis->functions = malloc((capacity + 1) * sizeof(*axis->functions));
	axis->slots = malloc(capacity + 1);
	return axis->times && axis->functions && axis->slots;
}

/* Whether a sample takes part: of a randomised clock, and in the program. */
static bool is_wanted(const struct alias *alias, const struct trace_sample *sample)
{
	return sample->column < alias->matrix->n_clocks && (alias->kernel_too || !sample->kernel);
}

/* Samples by time; `thread` UINT32_MAX: of all. Times count from the first sample, which keeps their
 * fractions exact in a double. */
static bool axis_by_time(struct axis *axis, const struct alias *alias, uint32_t thread)
{
	const struct trace *trace = alias->trace;
	size_t all = 0;

	if (!axis_init(axis, trace->n))
		return false;
	for (size_t i = 0; i < trace->n; i++) {
		const struct trace_sample *sample = &trace->samples[i];

		all += sample->column < alias->matrix->n_clocks;
		if (!is_wanted(alias, sample))
			continue;
		if (thread != UINT32_MAX && sample->thread != thread)
			continue;
		axis->times[axis->n] = (double)(sample->time_ns - trace->samples[0].time_ns);
		axis->functions[axis->n++] = sample->function;
	}
	axis->part = all ? (double)axis->n / (double)all : 0;
	axis->thread = thread != UINT32_MAX;
	return true;
}

/* The stream (a clock on one CPU or in one thread) in which most of a thread's samples are. */
static uint32_t main_stream(const struct alias *alias, uint32_t thread, size_t *samples)
{
	const struct trace *trace = alias->trace;
	uint32_t *counts = calloc(trace->n_streams + 1, sizeof(*counts)), best = UINT32_MAX;

	*samples = 0;
	for (size_t i = 0; counts && i < trace->n; i++) {
		const struct trace_sample *sample = &trace->samples[i];

		if (!is_wanted(alias, sample) || sample->thread != thread || !sample->reading ||
		    sample->stream >= trace->n_streams)
			continue;
		if (++counts[sample->stream] > *samples) {
			*samples = counts[sample->stream];
			best = sample->stream;
		}
	}
	free(counts);
	return best;
}

/* A thread's samples of one stream by the event's own count: its CPU time, when the clock is the thread's
 * own. Left empty when that count ran all the time (the axis of time says the same), or is not there. */
static bool axis_by_count(struct axis *axis, const struct alias *alias, uint32_t thread)
{
	const struct trace *trace = alias->trace;
	const struct trace_sample *first = NULL, *last = NULL;
	size_t n;
	const uint32_t stream = main_stream(alias, thread, &n);

	if (!axis_init(axis, n))
		return false;
	for (size_t i = 0; i < trace->n && stream != UINT32_MAX; i++) {
		const struct trace_sample *sample = &trace->samples[i];

		if (sample->stream != stream || sample->thread != thread ||
		    !is_wanted(alias, sample) || !sample->reading)
			continue;
		if (!first)
			first = sample;
		last = sample;
		axis->times[axis->n] = (double)(sample->reading - first->reading);
		axis->functions[axis->n++] = sample->function;
	}
	axis->part = (double)axis->n / (double)(trace->n ? trace->n : 1);
	axis->thread = axis->cpu_time = true;
	if (axis->n < THREAD_SAMPLES_MIN || last->reading <= first->reading ||
	    (double)(last->reading - first->reading) >
		    (1 - OFF_CPU_PART) * (double)(last->time_ns - first->time_ns))
		axis->n = 0;
	return true;
}

static void axis_keep(struct axes *axes, const struct axis *axis)
{
	if (axis->n && axes->n < sizeof(axes->items) / sizeof(axes->items[0])) {
		axes->items[axes->n++] = *axis;
		return;
	}
	free(axis->times);
	free(axis->functions);
	free(axis->slots);
}

/* The threads with most samples, largest first. */
static size_t threads_choose(const struct trace *trace, uint32_t chosen[ALIAS_THREADS])
{
	size_t n = 0;

	for (uint32_t t = 0; t < trace->n_threads; t++) {
		size_t at = n;

		while (at > 0 && trace->threads[chosen[at - 1]].samples < trace->threads[t].samples)
			at--;
		if (at == ALIAS_THREADS)
			continue;
		n = n < ALIAS_THREADS ? n + 1 : n;
		for (size_t i = n - 1; i > at; i--)
			chosen[i] = chosen[i - 1];
		chosen[at] = t;
	}
	return n;
}

bool axes_make(struct axes *axes, const struct alias *alias)
{
	uint32_t chosen[ALIAS_THREADS];
	const size_t n = threads_choose(alias->trace, chosen);
	bool off_cpu = false;
	struct axis axis;

	axes->n = 0;
	if (!axis_by_time(&axis, alias, UINT32_MAX))
		return false;
	axis_keep(axes, &axis);
	for (size_t i = 0; i < n; i++) {
		if (!axis_by_time(&axis, alias, chosen[i]))
			return false;
		axis.tid = alias->trace->threads[chosen[i]].tid;
		if (axis.n < THREAD_SAMPLES_MIN || axis.part > THREAD_PART_MAX)
			axis.n = 0;
		axis_keep(axes, &axis);
		if (!axis_by_count(&axis, alias, chosen[i]))
			return false;
		axis.tid = alias->trace->threads[chosen[i]].tid;
		off_cpu |= axis.n > 0;
		axis_keep(axes, &axis);
	}
	for (size_t a = 0; a < axes->n; a++)
		axes->items[a].interrupted = off_cpu && !axes->items[a].cpu_time;
	return true;
}
