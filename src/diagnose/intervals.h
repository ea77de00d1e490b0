/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Intended and realised sampling intervals of each clock, sample by sample.
 *
 * The intended interval is the sample's PERIOD (assay stores the drawn value there); the realised one
 * is the difference of the event's own count (READ) between two samples of one stream, in the event's
 * unit. A file without READ has times only: then intervals are in ns, gaps in which the thread was off
 * the CPU are among them, and those longer than twice the intended ones are counted as gaps instead.
 *
 * A new period restarts the interval under way. Where the period of a sample differs from that of the
 * one before, something was redrawn in between and the interval proves nothing, unless the clock is
 * redrawn with every sample.
 *
 * Means and deviations are of all intervals; quantiles of at most INTERVALS_KEPT of them.
 */
#ifndef ASSAY_DIAGNOSE_INTERVALS_H
#define ASSAY_DIAGNOSE_INTERVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define INTERVALS_KEPT  16384
#define INTERVALS_BINS  25
#define INTERVALS_RANGE 2.5 /* the histogram goes from 0 to so many means */

struct intervals_pair {
	double intended, realised;
	uint64_t order; /* decides what is kept when there are too many */
};

struct intervals_moments {
	double n, mean, m2;
};

struct intervals_clock {
	struct intervals_pair *pairs;
	size_t n, capacity;
	unsigned int level; /* one in 2^level is among the pairs */
	struct intervals_moments intended, realised;
	uint64_t samples, redrawn, retuned, gaps;
	bool by_time;      /* realised ones are times in ns */
	bool every_sample; /* each sample has a draw of its own */
	bool unit_is_ns;   /* intended intervals are times: times can stand in for counts */
	bool steered;      /* the kernel sets the period: changes are retunes, not redraws */
};

struct intervals_summary {
	double n, mean, cv, p01, p50, p99; /* NAN without intervals */
};

/* The last sample of one stream. */
struct intervals_last {
	bool seen;
	uint64_t time_ns, reading, period;
};

void intervals_release(struct intervals_clock *clock);

/* One sample of a stream; `reading` 0: none. `intended`: 0 when the sample has no period. */
MUST_CHECK enum status intervals_add(struct intervals_clock *clock, struct intervals_last *last,
				     uint64_t time_ns, uint64_t reading, uint64_t period,
				     struct error *error);

struct intervals_summary intervals_of_intended(const struct intervals_clock *clock);
struct intervals_summary intervals_of_realised(const struct intervals_clock *clock);

/* Share of realised intervals within `tolerance` (0.01: one percent) of the intended ones; NAN without. */
double intervals_faithful(const struct intervals_clock *clock, double tolerance);

/* Counts of intervals / mean in bins of INTERVALS_RANGE/INTERVALS_BINS; the last bin takes all above. */
void intervals_histogram(const struct intervals_clock *clock, bool realised,
			 double bins[INTERVALS_BINS]);

#endif
