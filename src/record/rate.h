/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From cost and budget to rates: arithmetic only.
 *
 * Cost of sampling = extra CPU of the target + all CPU of assay, as a share of the target's CPU time.
 * Per sample, at R samples per second of target CPU from K randomised clocks redrawn every B periods:
 *
 *	c = sample + drain + (redraw on the target + redraw here)/B + wake-up/(K B)
 *	share = R c + fixed costs per second (epochs)
 *
 * Rates are cut to preferred numbers (1, 1.25, 1.6, 2, 2.5, 3.15, 4, 5, 6.3, 8 times 10^n), so that
 * calibrations that differ a little give the same rate and a seed the same periods.
 */
#ifndef ASSAY_RECORD_RATE_H
#define ASSAY_RECORD_RATE_H

#include <stdint.h>

#include "bundle/manifest.h"

#define RATE_MAX_HZ          4000.0 /* per CPU, all clocks of an event: perf's default */
#define RATE_MIN_HZ          1.0
#define RATE_LEAST_PERIOD_NS 100000 /* safety bound, whatever the calibration says */
#define RATE_COST_MULTIPLE   10     /* no period below this many costs of a sample */
#define RATE_SHARE_LEAST     0.25   /* of the budget, for samples */
#define RATE_REDRAW_SHARE    0.10
#define RATE_BLOCK_LEAST     10
#define RATE_BLOCK_MOST      64
#define RATE_BLOCK_ASKED     16 /* with a rate or period that the user chose */

/* All in ns of CPU. */
struct cost {
	double sample;        /* of the target, per sample */
	double drain;         /* of assay, per sample */
	double redraw_target; /* of the target, per redraw */
	double redraw_own;    /* of assay, per redraw */
	double wake;          /* of assay, per wake-up */
	double epoch;         /* of assay, per epoch */
	double timed_wake;    /* of assay, per sample when every sample wakes it (redraw: sample) */
};

/* The block that keeps the cost of redraws to a share of that of sampling: RATE_REDRAW_SHARE more than
 * fixed sampling, within RATE_BLOCK_LEAST and _MOST mean periods. */
uint32_t rate_block(const struct cost *cost, uint32_t clocks);

/* Ticks per mean period of a clock. A period that stays in force for a block, or an epoch, gives its
 * time to as many ticks as fit: E[1/X] of them on average (`inverse_mean`), which exceeds 1; and each
 * redraw gives up the interval under way, half a tick. */
double rate_ticks(enum redraw_kind redraw, uint32_t block, double inverse_mean);

/* Expected cost per sample. */
double rate_sample_cost(const struct cost *cost, enum redraw_kind redraw, uint32_t block,
			uint32_t clocks);

/* The rate in samples per second of target CPU that keeps to `budget`, within the bounds above. */
double rate_for_budget(double budget, double sample_cost_ns, double fixed_share);

/* The largest preferred number not above `rate`. */
double rate_preferred(double rate);

/* The safety bound: no timer is armed below it. Rounded up like rates are. */
uint64_t rate_least_period_ns(const struct cost *cost);

/* The share that samples may take from now on, when the recording so far took `total` of `budget`, and
 * `rest` goes into other work: what was taken too much is paid back within as long as it took. A quarter of
 * the budget is left to them: a recording without samples is worth nothing, however cheap. */
double rate_share_left(double budget, double total, double rest);

/* The next rate after an epoch that cost `achieved` of `budget` at `rate`: unchanged while the cost
 * lies in the budget's last 40 %, else corrected, upwards by at most a factor of two. */
double rate_adapt(double rate, double achieved, double budget);

#endif
