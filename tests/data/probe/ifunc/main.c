/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls an indirect function, whose resolver picks one of two, and one function under two names. */
#include <stdio.h>

__attribute__((noinline)) static long slow(long x)
{
	for (long i = 0; i < 100; i++)
		__asm__ volatile("" : "+r"(x));
	return x + 1;
}

__attribute__((noinline)) static long quick(long x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 1;
}

static long (*pick(void))(long)
{
	volatile int fast = 1;

	return fast ? quick : slow;
}

long work(long x) __attribute__((ifunc("pick")));

__attribute__((noinline)) long doubled(long x)
{
	__asm__ volatile("" : "+r"(x));
	return 2 * x;
}

long twice(long x) __attribute__((alias("doubled")));

int main(void)
{
	long sum = 0;

	for (long i = 0; i < 700; i++)
		sum += work(i) + (i % 7 ? doubled(i) : twice(i));
	printf("work=%d doubled=%d sum=%ld\n", 700, 700, sum);
	return 0;
}
