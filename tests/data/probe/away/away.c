/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that sleep, and say what CPU time and what time they took: arguments: rounds, ms of sleep. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NI __attribute__((noinline, noclone, noipa))

static double now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

NI long spin(long n)
{
	volatile long x = 0;

	for (long i = 0; i < n; i++)
		x += i;
	return x;
}

NI long sleeper(long ms)
{
	const struct timespec pause = { 0, ms * 1000000 };

	nanosleep(&pause, NULL);
	return spin(100000);
}

NI long outer(long ms)
{
	long x = spin(1000);

	x += sleeper(ms);
	return x + spin(1000);
}

int main(int argc, char **argv)
{
	const long rounds = argc > 1 ? atol(argv[1]) : 20, ms = argc > 2 ? atol(argv[2]) : 10;
	const double cpu = now_ns(CLOCK_THREAD_CPUTIME_ID), wall = now_ns(CLOCK_MONOTONIC);
	long x = 0;

	for (long i = 0; i < rounds; i++)
		x += outer(ms);
	printf("OK rounds=%ld cpu_ns=%.0f wall_ns=%.0f %s\n", rounds,
	       now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu, now_ns(CLOCK_MONOTONIC) - wall,
	       x ? "" : "BAD");
	return 0;
}
