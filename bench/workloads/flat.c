/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * flat VISIT_US SECONDS SEED: 128 functions of equal share, `f000` to `f127`.
 *
 * Visited by chance; a visit is a random number of chains of multiplications, VISIT_US on average. No function is first,
 * and each gets few samples: what is claimed here is claimed from little. Runs for SECONDS of CPU time.
 */
#include "chain.h"
#include "truth.h"

#define FUNCTIONS 128

/* Numbered by octal digits: 2 x 8 x 8. */
#define FUNCTION(digits)                                                                 \
	__attribute__((noinline)) static void f##digits(struct truth *truth, uint64_t n) \
	{                                                                                \
		chain_run(truth, n);                                                     \
		__asm__ volatile("" ::"r"(#digits));                                     \
	}
#define EIGHT(digits, APPLY) \
	APPLY(digits##0)     \
	APPLY(digits##1)     \
	APPLY(digits##2)     \
	APPLY(digits##3)     \
	APPLY(digits##4)     \
	APPLY(digits##5)     \
	APPLY(digits##6)     \
	APPLY(digits##7)
#define SIXTY_FOUR(digit, APPLY) \
	EIGHT(digit##0, APPLY)   \
	EIGHT(digit##1, APPLY)   \
	EIGHT(digit##2, APPLY)   \
	EIGHT(digit##3, APPLY)   \
	EIGHT(digit##4, APPLY)   \
	EIGHT(digit##5, APPLY)   \
	EIGHT(digit##6, APPLY)   \
	EIGHT(digit##7, APPLY)
#define ALL(APPLY)           \
	SIXTY_FOUR(0, APPLY) \
	SIXTY_FOUR(1, APPLY)

#define POINTER(digits) f##digits,
#define NAME(digits)    "f" #digits,

ALL(FUNCTION)

static void (*const functions[FUNCTIONS])(struct truth *, uint64_t) = { ALL(POINTER) };
static const char *const names[FUNCTIONS] = { ALL(NAME) };

int main(int argc, char **argv)
{
	const double visit_us = argc > 1 ? strtod(argv[1], NULL) : 50;
	const double seconds = argc > 2 ? strtod(argv[2], NULL) : 1.5;
	struct chance chance = chance_of(argc > 3 ? strtoull(argv[3], NULL, 10) : 1);
	static struct truth truth;
	double chains;

	if (!(visit_us >= 10) || !(seconds > 0) || seconds > 3600) {
		fprintf(stderr,
			"usage: flat VISIT_US SECONDS SEED, with visits of 10 us or more\n");
		return 2;
	}
	truth_init(&truth);
	chains = visit_us * 1000 * chain_pace(&truth);
	while (truth_elapsed(&truth) < seconds) {
		const size_t f = (size_t)(chance_uniform(&chance) * FUNCTIONS);

		truth_switch(&truth, f + 1);
		functions[f](&truth, (uint64_t)(2 * chance_uniform(&chance) * chains) + 1);
	}
	truth_switch(&truth, 0);
	truth_print(&truth, names, FUNCTIONS);
	return 0;
}
