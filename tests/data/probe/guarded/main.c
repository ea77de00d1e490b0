/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions that may be entered, and left, only in the ways that their hardening allows: AArch64 with BTI and
 * PAC (-mbranch-protection=standard: landing pads, signed return addresses, retaa), x86-64 with endbr64.
 * Prints OK, counts, and `guarded=1` when its own text is guarded (BTI; smaps: bt).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NI __attribute__((noinline, noclone, noipa))

NI long leaf(long x)
{
	return x * 3 + 1;
}

NI long caller(long x)
{
	return leaf(x) + leaf(x + 1);
}

static long (*volatile pointers[2])(long) = { leaf, caller };

NI long by_pointer(long x)
{
	return pointers[x & 1](x) + 1;
}

NI long tail_by_pointer(long x)
{
	return pointers[x & 1](x);
}

NI long tail(long x)
{
	return caller(x + 1);
}

NI long table(long x)
{
	switch (x % 8) {
	case 0: return leaf(x) + 5;
	case 1: return caller(x) * 2;
	case 2: return x ^ 77;
	case 3: return leaf(x + 9) - 4;
	case 4: return x * x;
	case 5: return caller(x + 2) + 1;
	case 6: return x - 1;
	default: return leaf(leaf(x)) + 3;
	}
}

static long expect_leaf(long x)
{
	return x * 3 + 1;
}

static long expect_caller(long x)
{
	return 6 * x + 5;
}

static long expect_pointer(long x)
{
	return x & 1 ? expect_caller(x) : expect_leaf(x);
}

static long expect_table(long x)
{
	const long by_case[] = { expect_leaf(x) + 5,
				 expect_caller(x) * 2,
				 x ^ 77,
				 expect_leaf(x + 9) - 4,
				 x * x,
				 expect_caller(x + 2) + 1,
				 x - 1,
				 expect_leaf(expect_leaf(x)) + 3 };

	return by_case[x % 8];
}

static int text_is_guarded(void)
{
	char line[512];
	unsigned long low, high, here = (unsigned long)text_is_guarded;
	int inside = 0, guarded = 0;
	FILE *maps = fopen("/proc/self/smaps", "r");

	while (maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx ", &low, &high) == 2)
			inside = here >= low && here < high;
		if (inside && !strncmp(line, "VmFlags:", 8))
			guarded = strstr(line, " bt") != NULL;
	}
	if (maps)
		fclose(maps);
	return guarded;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	const double end = now() + (argc > 1 ? atof(argv[1]) : 5);
	unsigned long rounds = 0;

	printf("pid %d\n", getpid());
	fflush(stdout);
	while (now() < end) {
		for (long i = 0; i < 64; i++) {
			if (by_pointer(i) != expect_pointer(i) + 1 ||
			    tail_by_pointer(i) != expect_pointer(i) ||
			    tail(i) != expect_caller(i + 1) || table(i) != expect_table(i)) {
				printf("BAD %ld\n", i);
				return 1;
			}
		}
		rounds++;
	}
	/* of 64: by_pointer and tail_by_pointer 32 callers each, tail 64, table 16; each caller 2 leaves */
	printf("OK each=%lu caller=%lu leaf=%lu guarded=%d\n", 64 * rounds, 144 * rounds,
	       (288 + 64 + 32) * rounds, text_is_guarded());
	fflush(stdout);
	_exit(0);
}
