/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Work of a known number of steps: chains of dependent multiplications, which take the same time in
 * every function that contains them. Between chains the counter is looked at.
 */
#ifndef ASSAY_WORKLOADS_CHAIN_H
#define ASSAY_WORKLOADS_CHAIN_H

#include "truth.h"

#define CHAIN_STEPS 200 /* some 0.3 us */

static inline __attribute__((always_inline)) void chain_run(struct truth *truth, uint64_t chains)
{
	for (uint64_t c = 0; c < chains; c++) {
		uint64_t x = c | 1;

		for (int i = 0; i < CHAIN_STEPS; i++)
			x = x * 6364136223846793005u + 1442695040888963407u;
		__asm__ volatile("" ::"r"(x));
		truth_look(truth);
	}
}

/* Chains per ns, interruptions left out: the best of some. */
static inline double chain_pace(struct truth *truth)
{
	double best = 0;

	for (int i = 0; i < 20; i++) {
		const uint64_t before = truth_look(truth);
		double pace;

		chain_run(truth, 500);
		pace = 500 / ((double)(truth_look(truth) - before) / truth->ticks_per_ns);
		best = pace > best ? pace : best;
	}
	return best;
}

#endif
