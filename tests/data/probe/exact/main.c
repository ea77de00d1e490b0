/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions whose instructions are known (AArch64: f.S), called by THREADS threads ROUNDS times each: exact ROUNDS
 * THREADS. Prints per function how often it is called and how many instructions that is, callees included, but for
 * the instruction that leaves it.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define N 50

#ifdef __aarch64__
void e_loop(long n), e_nest(long n), e_tail(long n), e_top(long n), e_ones(void), e_when(long n);
long e_rec(long n);
#else /* there is no counter to hold it against */
__attribute__((noinline)) void e_loop(long n)
{
	for (long i = 0; i < n; i++)
		__asm__ volatile("");
}
static void e_nest(long n)
{
	e_loop(n);
	e_loop(n);
}
static void e_tail(long n)
{
	e_loop(n + 1);
}
static void e_top(long n)
{
	e_tail(n);
}
static long e_rec(long n)
{
	return n;
}
static void e_ones(void)
{
}
static void e_when(long n)
{
	(void)n;
}
#endif

static unsigned long rounds;

static void *work(void *argument)
{
	(void)argument;
	for (unsigned long i = 0; i < rounds; i++) {
		e_nest(N);
		if (e_rec(N) != N) {
			puts("BAD");
			exit(1);
		}
		e_top(N);
		e_ones();
		e_when(0);
		e_when(1);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned long threads = argc > 2 ? strtoul(argv[2], NULL, 10) : 1, all;
	pthread_t ids[8];

	rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	printf("pid %d\n", getpid());
	fflush(stdout);
	if (threads > 8)
		threads = 8;
	for (unsigned long i = 0; i < threads; i++)
		pthread_create(&ids[i], NULL, work, NULL);
	for (unsigned long i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	all = rounds * threads;
	printf("OK each=%lu e_loop=%lu e_nest=%lu e_rec=%lu e_tail=%lu e_top=%lu e_one=0 e_ones=%lu e_when=%lu\n",
	       all,
	       all * (2 * (1 + 4 * N) + 1 + 4 * (N + 1)), all * (8 + 2 * (1 + 4 * N + 1)),
	       all * (2 + 8 * N), all * 2, all * (12 + 4 * N), all * 4,
	       all * 3);
	return 0;
}
