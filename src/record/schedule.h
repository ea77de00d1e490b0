/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Schedules: distributions of sampling intervals, and the draws from them.
 *
 * Each draw is a function of its name (seed of the epoch, clock, slot, number) and of the mean alone:
 * the same name gives the same interval whatever happened before. Draws are made relative to the mean
 * (a factor around 1), so that a change of rate scales them. (Between machines, `exp` could differ by
 * one unit in the last place where their C libraries round log1p differently.)
 *
 *	fixed, freq  1
 *	prime        1, after the mean was moved to a prime
 *	jitter       uniform in [low, high], by default [0.5, 1.5]
 *	exp          exponential cut to [low, high], by default [0.1, 5]; its scale is chosen so that
 *	             the mean stays 1
 *
 * Uniform jitter is the default: it stratifies time as an exponential clock does not, and resists
 * lock-in as well.
 */
#ifndef ASSAY_RECORD_SCHEDULE_H
#define ASSAY_RECORD_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "bundle/manifest.h"

/* The lowest factors of an exponential that the safety bound can choose from. */
#define SCHEDULE_STEPS 3

struct schedule {
	enum schedule_kind kind; /* never SCHEDULE_MIXED: a clock has one kind */
	double low, high;        /* bounds of the factor; equal for fixed ones */
	double scale;            /* exp: of the exponential, in means */
};

/* The name of a draw. */
struct draw_name {
	uint64_t epoch_seed;
	uint32_t clock, slot;
	uint64_t number;
};

/* `least` is the smallest factor allowed (safety bound over mean): low is raised to it (exp: to 0.25 or
 * 0.5 where that suffices) and high lowered as far as the mean needs; at 1 and above the schedule becomes
 * constant. */
struct schedule schedule_make(enum schedule_kind kind, double least);

bool schedule_is_random(const struct schedule *schedule);

/* E[1/X] of the factor: how many intervals fit into the time of one mean, when each is repeated. */
double schedule_inverse_mean(const struct schedule *schedule);

/* The interval with this name, >= 1, in the unit of `mean`. */
uint64_t schedule_draw(const struct schedule *schedule, double mean, const struct draw_name *name);

/* The time that a clock which has been running for ever still needs when it is first looked at: a
 * length-biased interval times a uniform number (the residual of a renewal process). A clock that
 * starts with it samples the first moments of a thread as often as any other. */
uint64_t schedule_residual(const struct schedule *schedule, double mean,
			   const struct draw_name *name);

/* The prime nearest to `value` (>= 2). Below 2^53. */
uint64_t schedule_prime(uint64_t value);

/* Seeds: of an epoch, and streams inside an epoch that belong to no clock. */
uint64_t schedule_epoch_seed(uint64_t seed, uint64_t epoch);
/* Uniform in [0, 1): the length of the epoch, or the `number`th wake-up of the collector in it. */
double schedule_epoch_length(uint64_t epoch_seed);
double schedule_wake(uint64_t epoch_seed, uint64_t number);

#endif
