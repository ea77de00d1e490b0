/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * weights SECONDS CODE W [W...]: up to four functions whose CPU times keep the given proportions, in turns
 * of random length around 1 ms; the one that is behind most is next, so that equal weights are a tie to
 * within a turn. Ends with CODE, also by SIGUSR1, and prints how much CPU time each had.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noclone))
#define MOST     4

static volatile sig_atomic_t over;

static double cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

NOINLINE void alpha(long turns)
{
	for (volatile long i = 0; i < turns; i++)
		;
}

NOINLINE void beta(long turns)
{
	for (volatile long i = 0; i < turns; i++)
		;
}

NOINLINE void gamma_ray(long turns)
{
	for (volatile long i = 0; i < turns; i++)
		;
}

NOINLINE void delta(long turns)
{
	for (volatile long i = 0; i < turns; i++)
		;
}

static void end(int number)
{
	(void)number;
	over = 1;
}

int main(int argc, char **argv)
{
	static void (*const functions[MOST])(long) = { alpha, beta, gamma_ray, delta };
	const int n = argc - 3 < MOST ? argc - 3 : MOST;
	const double seconds = atof(argv[1]), start = cpu();
	double used[MOST] = { 0 }, before = cpu();
	unsigned int state = 1;
	long turns;

	signal(SIGUSR1, end);
	alpha(100000);
	turns = (long)(0.001 / ((cpu() - before) / 100000));
	while (!over && cpu() - start < seconds) {
		int next = 0;

		for (int i = 1; i < n; i++)
			if (used[i] / atof(argv[3 + i]) < used[next] / atof(argv[3 + next]))
				next = i;
		state = state * 1664525u + 1013904223u;
		before = cpu();
		functions[next](turns / 5 +
				(long)((double)(state >> 8) / 0x1p24 * 1.6 * (double)turns));
		used[next] += cpu() - before;
	}
	for (int i = 0; i < n; i++)
		printf("%d %.6f\n", i, used[i]);
	return atoi(argv[2]);
}
