/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lines of its source, and regions from one place to another; says which lines they are, and how often it passes them.
 * Needs debug information.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../../../../include/assay/mark.h"

#define PLACE __attribute__((noipa, aligned(16)))

enum { THREADS = 4, EACH = 100, ROUNDS = 50, CROSSED = 5 };

static volatile long sink;

enum { line_inlined = __LINE__ + 3 };
static inline __attribute__((always_inline)) long square(long x)
{
	x = x * 3 + sink;
	return x * x;
}

PLACE long first(long x)
{
	return square(x) + 1;
}

PLACE long second(long x)
{
	return square(x + 2) - 1;
}

PLACE void begin(void)
{
	sink = sink + 1;
}

PLACE void end(void)
{
	sink = sink - 1;
}

PLACE void down(int depth)
{
	if (depth)
		down(depth - 1);
	end();
}

enum { line_of_nothing = __LINE__ }; /* no code here */

static double seconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

PLACE double work(double least)
{
	const double start = seconds(CLOCK_THREAD_CPUTIME_ID);
	double spent;

	do
		spent = seconds(CLOCK_THREAD_CPUTIME_ID) - start;
	while (spent < least);
	return spent;
}

static void *passes(void *unused)
{
	for (int i = 0; i < EACH; i++) {
		begin();
		end();
	}
	return unused;
}

static void *begins(void *unused)
{
	begin();
	return unused;
}

static void *ends(void *unused)
{
	end();
	return unused;
}

static void in_thread(void *(*function)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, function, NULL))
		abort();
	pthread_join(thread, NULL);
}

enum { line_calls = __LINE__ + 6 };
static void lines(void)
{
	long sum = 0;

	for (long i = 0; i < 300; i++) {
		sum += first(i);
		if (i % 3 == 0)
			sum += second(i);
		sink = sum;
	}
	printf("calls=300 inlined=400 line_calls=%d line_inlined=%d line_of_nothing=%d\n",
	       line_calls, line_inlined, line_of_nothing);
}

/* Each round holds work, from mark to mark and from call to call; how much is measured inside and around. */
static void timed(void)
{
	const double start = seconds(CLOCK_MONOTONIC);
	double inside = 0;

	for (int i = 0; i < ROUNDS; i++) {
		ASSAY_MARK_BEGIN(round);
		begin();
		inside += work(2e-4);
		end();
		ASSAY_MARK_END(round);
	}
	printf("rounds=%d inside_ns=%.0f around_ns=%.0f\n", ROUNDS, inside * 1e9,
	       (seconds(CLOCK_MONOTONIC) - start) * 1e9);
}

static void threads(void)
{
	pthread_t all[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&all[i], NULL, passes, NULL))
			abort();
	for (int i = 0; i < THREADS; i++)
		pthread_join(all[i], NULL);
	printf("passages=%d\n", THREADS * EACH);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "lines";

	if (!strcmp(what, "lines")) {
		lines();
	} else if (!strcmp(what, "timed")) {
		timed();
	} else if (!strcmp(what, "threads")) {
		threads();
	} else if (!strcmp(what, "nested")) {
		/* begun twice, ended twice: the inner one is a passage, the outer end has none */
		begin();
		begin();
		end();
		end();
		down(9); /* 10 times its start, then 10 ends */
	} else if (!strcmp(what, "crossed")) {
		/* begun here, ended in another thread that is there at the same time */
		for (int i = 0; i < CROSSED; i++) {
			begin();
			in_thread(ends);
		}
	} else if (!strcmp(what, "left")) {
		/* a thread leaves one open; the next one, on the same stack, passes the end */
		in_thread(begins);
		work(2e-3);
		in_thread(ends);
	} else if (!strcmp(what, "iterations")) {
		for (int i = 0; i < ROUNDS; i++) {
			ASSAY_MARK_ITERATION();
			first(i);
		}
	}
	puts("OK");
	return 0;
}
