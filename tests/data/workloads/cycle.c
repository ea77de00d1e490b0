/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cycle MICROSECONDS SECONDS: two functions by turns, three and seven tenths of a cycle of exactly that
 * length in time; a clock of that period sees always the same one. The time base is the CPU's own counter,
 * without calls.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noclone))

static inline uint64_t counter(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	uint64_t value;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
	return value;
#endif
}

NOINLINE void thirty(uint64_t end)
{
	while (counter() < end)
		;
}

NOINLINE void seventy(uint64_t end)
{
	while (counter() < end)
		;
}

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

int main(int argc, char **argv)
{
	const double cycle_us = argc > 1 ? atof(argv[1]) : 1000,
		     seconds = argc > 2 ? atof(argv[2]) : 2;
	const double begin_us = now_us();
	const uint64_t begin = counter();
	uint64_t cycle, start;
	double per_us;

	thirty(begin + 1000000);
	while (now_us() < begin_us + 50000)
		thirty(counter() + 100000);
	per_us = (double)(counter() - begin) / (now_us() - begin_us);
	cycle = (uint64_t)(cycle_us * per_us);
	start = counter();
	for (double k = 0; k < seconds * 1e6 / cycle_us; k++, start += cycle) {
		thirty(start + cycle * 3 / 10);
		seventy(start + cycle);
	}
	printf("cycle %g us\n", cycle_us);
	return 0;
}
