/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diagnose/intervals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

#define GAP_FACTOR 2.0 /* by time: longer than this many intended intervals is no interval */

void intervals_release(struct intervals_clock *clock)
{
	free(clock->pairs);
	memset(clock, 0, sizeof(*clock));
}

/* Welford 1962. */
static void moments_add(struct intervals_moments *moments, double value)
{
	const double delta = value - moments->mean;

	moments->n++;
	moments->mean += delta / moments->n;
	moments->m2 += delta * (value - moments->mean);
}

static bool is_kept(uint64_t order, unsigned int level)
{
	return !(order & ((UINT64_C(1) << level) - 1));
}

static enum status pair_add(struct intervals_clock *clock, const struct intervals_pair *pair,
			    struct error *error)
{
	if (clock->n == INTERVALS_KEPT && clock->level < 40) {
		size_t n = 0;

		clock->level++;
		for (size_t i = 0; i < clock->n; i++)
			if (is_kept(clock->pairs[i].order, clock->level))
				clock->pairs[n++] = clock->pairs[i];
		clock->n = n;
	}
	if (!is_kept(pair->order, clock->level) || clock->n == INTERVALS_KEPT)
		return STATUS_OK;
	if (!array_reserve(&clock->pairs, &clock->capacity, clock->n + 1))
		return error_set(error, STATUS_NO_MEMORY, "not enough memory for the intervals");
	clock->pairs[clock->n++] = *pair;
	return STATUS_OK;
}

enum status intervals_add(struct intervals_clock *clock, struct intervals_last *last,
			  uint64_t time_ns, uint64_t reading, uint64_t period, struct error *error)
{
	const struct intervals_last before = *last;
	struct intervals_pair pair = { .intended = (double)period };
	bool changed;

	*last = (struct intervals_last){ true, time_ns, reading, period };
	clock->samples++;
	if (!before.seen || !period)
		return STATUS_OK;
	changed = before.period != period;
	if (changed && clock->steered)
		clock->retuned++;
	else if (changed)
		clock->redrawn++;
	if (changed && !clock->every_sample && !clock->steered)
		return STATUS_OK;
	if (reading && before.reading && reading > before.reading)
		pair.realised = (double)(reading - before.reading);
	else if (!reading && clock->unit_is_ns && time_ns > before.time_ns)
		pair.realised = (double)(time_ns - before.time_ns);
	else
		return STATUS_OK;
	clock->by_time = !reading;
	if (clock->by_time && pair.realised > GAP_FACTOR * pair.intended) {
		clock->gaps++;
		return STATUS_OK;
	}
	pair.order = hash_combine(time_ns, clock->samples);
	moments_add(&clock->intended, pair.intended);
	moments_add(&clock->realised, pair.realised);
	return pair_add(clock, &pair, error);
}

static int number_compare(const void *left, const void *right)
{
	const double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static struct intervals_summary summary_of(const struct intervals_clock *clock,
					   const struct intervals_moments *moments, bool realised)
{
	struct intervals_summary summary = { moments->n, NAN, NAN, NAN, NAN, NAN };
	double *values = calloc(clock->n + 1, sizeof(*values));

	if (moments->n > 0) {
		summary.mean = moments->mean;
		summary.cv = moments->n > 1 && moments->mean > 0
				     ? sqrt(moments->m2 / (moments->n - 1)) / moments->mean
				     : 0;
	}
	if (values && clock->n) {
		for (size_t i = 0; i < clock->n; i++)
			values[i] = realised ? clock->pairs[i].realised : clock->pairs[i].intended;
		qsort(values, clock->n, sizeof(*values), number_compare);
		summary.p01 = values[(size_t)(0.01 * (double)(clock->n - 1))];
		summary.p50 = values[(clock->n - 1) / 2];
		summary.p99 = values[(size_t)ceil(0.99 * (double)(clock->n - 1))];
	}
	free(values);
	return summary;
}

struct intervals_summary intervals_of_intended(const struct intervals_clock *clock)
{
	return summary_of(clock, &clock->intended, false);
}

struct intervals_summary intervals_of_realised(const struct intervals_clock *clock)
{
	return summary_of(clock, &clock->realised, true);
}

double intervals_faithful(const struct intervals_clock *clock, double tolerance)
{
	size_t faithful = 0;

	for (size_t i = 0; i < clock->n; i++)
		faithful += fabs(clock->pairs[i].realised - clock->pairs[i].intended) <=
			    tolerance * clock->pairs[i].intended;
	return clock->n ? (double)faithful / (double)clock->n : NAN;
}

void intervals_histogram(const struct intervals_clock *clock, bool realised,
			 double bins[INTERVALS_BINS])
{
	const double mean = clock->intended.mean;

	memset(bins, 0, INTERVALS_BINS * sizeof(*bins));
	for (size_t i = 0; i < clock->n && mean > 0; i++) {
		const double value = realised ? clock->pairs[i].realised : clock->pairs[i].intended;
		const double bin = value / mean / INTERVALS_RANGE * INTERVALS_BINS;

		bins[bin < INTERVALS_BINS ? (size_t)bin : INTERVALS_BINS - 1]++;
	}
}
