/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One function that costs little in the first half of its calls and a millisecond of CPU time in the second, called at about
 * the same rate in both: phases CALLS (of each half). Says how many calls of each kind there were, and how long each half was.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NI       __attribute__((noinline, noclone, noipa))
#define PAUSE_NS 5000000 /* so that no 100 ms hold more than 20 calls, however late they are */
#define SLOW_NS  1000000

static long now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

NI long work(long spin_ns)
{
	const long start = spin_ns ? now_ns(CLOCK_THREAD_CPUTIME_ID) : 0;
	long n = 0;

	while (spin_ns && now_ns(CLOCK_THREAD_CPUTIME_ID) - start < spin_ns)
		n++;
	return n;
}

/* Returns how long it took. */
static long half(long calls, long spin_ns)
{
	const struct timespec pause = { 0, PAUSE_NS };
	const long start = now_ns(CLOCK_MONOTONIC);

	for (long i = 0; i < calls; i++) {
		work(spin_ns);
		nanosleep(&pause, NULL);
	}
	return now_ns(CLOCK_MONOTONIC) - start;
}

int main(int argc, char **argv)
{
	const long calls = argc > 1 ? atol(argv[1]) : 200;
	const long quick_ns = half(calls, 0);
	const long slow_ns = half(calls, SLOW_NS);

	printf("OK quick=%ld slow=%ld quick_ns=%ld slow_ns=%ld\n", calls, calls, quick_ns, slow_ns);
	return 0;
}
