/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * periodic CYCLE_US SECONDS SEED: seven functions take turns in an exact cycle.
 *
 * Each runs until its place in the cycle is over by the CPU's counter, so that the cycle keeps step with
 * real time as a timer's work does, and with every clock of a matching period. Order and shares are the
 * same in all runs; SEED says where in the cycle the run begins. Runs for SECONDS of CPU time.
 */
#include "truth.h"

#define FUNCTIONS 7

static const double share[FUNCTIONS] = { .36, .24, .15, .10, .08, .05, .02 };
static const size_t order[FUNCTIONS] = { 2, 0, 5, 3, 1, 6, 4 };
static const char *const names[FUNCTIONS] = { "decode",   "filter", "predict", "entropy",
					      "transfer", "scan",   "emit" };

#define FUNCTION(name)                                                                \
	__attribute__((noinline)) static void name(struct truth *truth, uint64_t end) \
	{                                                                             \
		while (truth_look(truth) < end)                                       \
			__asm__ volatile("" ::"r"(#name));                            \
	}

FUNCTION(decode)
FUNCTION(filter)
FUNCTION(predict)
FUNCTION(entropy)
FUNCTION(transfer)
FUNCTION(scan)
FUNCTION(emit)

static void (*const functions[FUNCTIONS])(struct truth *, uint64_t) = { decode,  filter,   predict,
									entropy, transfer, scan,
									emit };

int main(int argc, char **argv)
{
	const double cycle_us = argc > 1 ? strtod(argv[1], NULL) : 1000;
	const double seconds = argc > 2 ? strtod(argv[2], NULL) : 1.5;
	struct chance chance = chance_of(argc > 3 ? strtoull(argv[3], NULL, 10) : 1);
	static struct truth truth;
	double cycle;
	uint64_t start, turn = 0;

	if (!(cycle_us >= 50) || !(seconds > 0) || seconds > 3600) {
		fprintf(stderr,
			"usage: periodic CYCLE_US SECONDS SEED, with a cycle of 50 us or more\n");
		return 2;
	}
	truth_init(&truth);
	cycle = cycle_us * 1000 * truth.ticks_per_ns;
	start = truth_ticks() - (uint64_t)(cycle * chance_uniform(&chance));
	while (truth_elapsed(&truth) < seconds) {
		double at = (double)turn * cycle;
		const uint64_t now = truth_ticks() - start;

		/* a turn that was slept through is not made up for: the grid stays */
		if ((double)now > at + cycle) {
			turn = (uint64_t)((double)now / cycle);
			at = (double)turn * cycle;
		}
		for (size_t i = 0; i < FUNCTIONS; i++) {
			const size_t f = order[i];

			at += share[f] * cycle;
			truth_switch(&truth, f + 1);
			functions[f](&truth, start + (uint64_t)at);
		}
		turn++;
	}
	truth_switch(&truth, 0);
	truth_print(&truth, names, FUNCTIONS);
	return 0;
}
