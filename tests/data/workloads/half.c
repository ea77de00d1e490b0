/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * half SECONDS [CODE]: two functions by turns, about 4 ms of CPU time each; prints how much each had.
 * Ends with CODE. The truth is counted here, since schedulers and other processes move time around.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOINLINE __attribute__((noinline))

static double cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static long turns = 10000000;

NOINLINE void left(void)
{
	for (volatile long i = 0; i < turns; i++)
		;
}

NOINLINE void right(void)
{
	for (volatile long i = 0; i < turns; i++)
		;
}

int main(int argc, char **argv)
{
	const double seconds = argc > 1 ? atof(argv[1]) : 1, end = cpu() + seconds;
	double of_left = 0, of_right = 0, start = cpu();

	turns = 200000;
	left();
	turns = (long)(0.004 / ((cpu() - start) / 200000));
	while (cpu() < end) {
		double before = cpu(), between;

		left();
		between = cpu();
		right();
		of_left += between - before;
		of_right += cpu() - between;
	}
	printf("left %.6f right %.6f\n", of_left, of_right);
	return argc > 2 ? atoi(argv[2]) : 0;
}
