/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calls of a few nanoseconds, four deep, with frame pointers: nest SECONDS. What samples it sees its stacks, and
 * finds it in the code of probes often, when there are any. Prints OK.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

__attribute__((noipa)) long leaf(long n)
{
	return n * 3 + 1;
}

__attribute__((noipa)) long middle(long n)
{
	return leaf(n) + leaf(n + 1);
}

__attribute__((noipa)) long outer(long n)
{
	long sum = 0;

	for (long i = 0; i < n; i++)
		sum += middle(i);
	return sum;
}

int main(int argc, char **argv)
{
	const double seconds = argc > 1 ? atof(argv[1]) : 5;
	struct timespec now, start;
	long sum = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("running\n");
	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		sum += outer(100000);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((double)(now.tv_sec - start.tv_sec) < seconds);
	printf("%s\n", sum ? "OK" : "BAD");
	return 0;
}
