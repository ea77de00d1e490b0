/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that are too short to be probed unless their compiler left sleds; counts its own calls. */
#include <stdio.h>

__attribute__((noinline)) long nothing(void)
{
	__asm__ volatile("");
	return 0;
}

__attribute__((noinline)) long same(long x)
{
	__asm__ volatile("" : "+r"(x));
	return x;
}

__attribute__((noinline)) long nested(long x)
{
	long sum = nothing();

	for (long i = 0; i < x; i++)
		sum += same(i);
	return sum;
}

int main(void)
{
	long sum = 0;

	for (long i = 0; i < 300; i++)
		sum += nested(i % 4);
	printf("nothing=%d same=%d nested=%d sum=%ld\n", 300, 450, 300, sum);
	return 0;
}
