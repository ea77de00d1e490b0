/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tie VISIT_US SECONDS SEED: ten functions, three of them tied for the first place, three for the fourth
 * up to a hundredth.
 *
 * Functions are visited by chance, by their weights; a visit is a random number of chains of
 * multiplications, VISIT_US on average. How the ties fall out in one run is chance; the run counts it. Runs for
 * SECONDS of CPU time.
 */
#include "chain.h"
#include "truth.h"

#define FUNCTIONS 10

static const double weight[FUNCTIONS] = {
	.18, .18, .18, .0900, .0895, .0891, .07, .06, .04, .0214
};
static const char *const names[FUNCTIONS] = { "north",  "east",   "south",  "west", "spring",
					      "summer", "autumn", "winter", "noon", "dusk" };
/* A chain of dependent multiplications: the same time per step in all functions. */
#define FUNCTION(name)                                                              \
	__attribute__((noinline)) static void name(struct truth *truth, uint64_t n) \
	{                                                                           \
		chain_run(truth, n);                                                \
		__asm__ volatile("" ::"r"(#name));                                  \
	}

FUNCTION(north)
FUNCTION(east)
FUNCTION(south)
FUNCTION(west)
FUNCTION(spring)
FUNCTION(summer)
FUNCTION(autumn)
FUNCTION(winter)
FUNCTION(noon)
FUNCTION(dusk)

static void (*const functions[FUNCTIONS])(struct truth *,
					  uint64_t) = { north,  east,   south,  west, spring,
							summer, autumn, winter, noon, dusk };

int main(int argc, char **argv)
{
	const double visit_us = argc > 1 ? strtod(argv[1], NULL) : 100;
	const double seconds = argc > 2 ? strtod(argv[2], NULL) : 1.5;
	struct chance chance = chance_of(argc > 3 ? strtoull(argv[3], NULL, 10) : 1);
	static struct truth truth;
	double chains;

	if (!(visit_us >= 10) || !(seconds > 0) || seconds > 3600) {
		fprintf(stderr, "usage: tie VISIT_US SECONDS SEED, with visits of 10 us or more\n");
		return 2;
	}
	truth_init(&truth);
	chains = visit_us * 1000 * chain_pace(&truth);
	while (truth_elapsed(&truth) < seconds) {
		double at = chance_uniform(&chance);
		size_t f = 0;

		while (f + 1 < FUNCTIONS && at >= weight[f])
			at -= weight[f++];
		truth_switch(&truth, f + 1);
		functions[f](&truth, (uint64_t)(2 * chance_uniform(&chance) * chains) + 1);
	}
	truth_switch(&truth, 0);
	truth_print(&truth, names, FUNCTIONS);
	return 0;
}
