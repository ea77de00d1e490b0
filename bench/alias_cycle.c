/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program of known truth for bench/alias_real.py: six functions that take turns.
 *
 *	alias_cycle MODE CYCLE_US SECONDS SEED
 *	cycle	each function once per cycle, in a fixed order; a cycle takes exactly CYCLE_US of this
 *		thread's CPU time, however often it is interrupted
 *	wobble	the same, but each cycle has a random length, +-20 %
 *	random	functions by chance, each visit of random length
 *
 * Every function does the same work per step, so its share of all steps is its share of the time that is
 * spent in functions. What a cycle lacks is waited for in `slack`, mostly in the kernel, which is left out
 * of all shares. Prints "NAME STEPS" per function.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FUNCTIONS 6
#define FILLED    0.93 /* of a cycle; the rest absorbs a slower moment */

static uint64_t steps[FUNCTIONS];
static volatile uint64_t sink;

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A chain of dependent multiplications: the same time per step in all functions. */
#define BODY(number)                                                 \
	uint64_t x = n | 1;                                          \
	for (uint64_t i = 0; i < n; i++)                             \
		x = x * 6364136223846793005u + 1442695040888963407u; \
	sink = x;                                                    \
	steps[number] += n

#define FUNCTION(name, number)                                 \
	__attribute__((noinline)) static void name(uint64_t n) \
	{                                                      \
		BODY(number);                                  \
	}

FUNCTION(alpha, 0)
FUNCTION(beta, 1)
FUNCTION(gamma_, 2)
FUNCTION(delta, 3)
FUNCTION(epsilon, 4)
FUNCTION(zeta, 5)

static void (*const functions[FUNCTIONS])(uint64_t) = { alpha, beta, gamma_, delta, epsilon, zeta };
static const char *const names[FUNCTIONS] = {
	"alpha", "beta", "gamma_", "delta", "epsilon", "zeta"
};

__attribute__((noinline)) static void slack(uint64_t until)
{
	while (cpu_ns() < until)
		;
}

static uint64_t state;

/* xorshift64* (Vigna 2016) */
static double uniform(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (double)((state * 2685821657736338717u) >> 11) * 0x1p-53;
}

static double steps_per_ns(void)
{
	double best = 0;

	for (int i = 0; i < 5; i++) {
		const uint64_t before = cpu_ns();

		alpha(2000000);
		best = fmax(best, 2000000 / (double)(cpu_ns() - before));
	}
	memset(steps, 0, sizeof(steps));
	return best;
}

static void turn(const double *shares, double length_ns, double pace)
{
	for (int f = 0; f < FUNCTIONS; f++)
		functions[f]((uint64_t)(shares[f] * FILLED * length_ns * pace));
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "cycle";
	const double cycle_ns = (argc > 2 ? atof(argv[2]) : 1000) * 1000;
	const double length_ns = (argc > 3 ? atof(argv[3]) : 2) * 1e9;
	double shares[FUNCTIONS], sum = 0, pace;
	uint64_t start, next;

	state = 0x9e3779b97f4a7c15u ^
		(uint64_t)(argc > 4 ? atoll(argv[4]) : 1) * 0xbf58476d1ce4e5b9u;
	for (int i = 0; i < 10; i++)
		uniform();
	for (int f = 0; f < FUNCTIONS; f++)
		sum += shares[f] = 0.05 - log(1 - uniform());
	for (int f = 0; f < FUNCTIONS; f++)
		shares[f] /= sum;
	pace = steps_per_ns();
	start = next = cpu_ns();
	while (next - start < (uint64_t)length_ns) {
		if (!strcmp(mode, "random")) {
			double at = uniform();
			int f = 0;

			while (f + 1 < FUNCTIONS && at >= shares[f])
				at -= shares[f++];
			functions[f]((uint64_t)(-log(1 - uniform()) * cycle_ns / FUNCTIONS * pace));
			next = cpu_ns();
			continue;
		}
		next += (uint64_t)(cycle_ns * (strcmp(mode, "wobble") ? 1 : 0.8 + 0.4 * uniform()));
		/* a moment in which the machine was slow is made up for in the next cycles */
		turn(shares, fmax(0.1 * cycle_ns, (double)next - (double)cpu_ns()), pace);
		slack(next);
	}
	for (int f = 0; f < FUNCTIONS; f++)
		printf("%s %llu\n", names[f], (unsigned long long)steps[f]);
	return 0;
}
