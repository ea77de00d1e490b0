/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reproducible random streams.
 *
 * A stream is named by (seed, a, b, c), for a schedule (seed, epoch, clock, slot): equal names give
 * equal numbers on every machine, and streams with different names are independent for our purposes.
 * Draws are therefore a function of what they are for, never of the order in which threads appeared.
 *
 * Generator: xoshiro256** 1.0 (Blackman, Vigna 2018, "Scrambled linear pseudorandom number
 * generators"), its state filled by splitmix64 (Steele, Lea, Flood 2014) as its authors advise.
 * Own code because a recorded seed must mean the same draws in every future version.
 */
#ifndef ASSAY_BASE_RANDOM_H
#define ASSAY_BASE_RANDOM_H

#include <stdint.h>

struct random {
	uint64_t state[4];
};

/* Starts the stream of this name. */
void random_init(struct random *random, uint64_t seed, uint64_t a, uint64_t b, uint64_t c);

/* The next 64 bits: every value equally likely. */
uint64_t random_u64(struct random *random);

/* Uniform in [0, bound), without modulo bias (Lemire 2019); bound 0 gives 0. */
uint64_t random_below(struct random *random, uint64_t bound);

/* Uniform in [0, 1), on the 2^53 grid. */
double random_double(struct random *random);

/* Uniform in [low, high]; low <= high. */
uint64_t random_between(struct random *random, uint64_t low, uint64_t high);

#endif
