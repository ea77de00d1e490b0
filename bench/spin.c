/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A workload that counts the time which is taken from it: spin SECONDS [CPU].
 *
 * Reads the counter of the CPU in a loop of some ns. A step of more than GAP_NS is time in which
 * something else ran here: an interrupt or a sample, and beyond PREEMPTED_NS another task, which is
 * nobody's sample. Prints four numbers in ns: elapsed time, time lost to short steps, to long ones, own
 * CPU time. Time lost to short steps, beside a run without a profiler pinned to the same CPU, is what
 * sampling costs its target: to some percent in seconds, where comparing finished work takes minutes.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define GAP_NS       1500
#define PREEMPTED_NS 200000

static inline uint64_t ticks(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t t;

	__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(t));
	return t;
#else
#error "no counter is known for this CPU"
#endif
}

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static double ticks_per_ns(void)
{
	uint64_t start_ns = now_ns(CLOCK_MONOTONIC), start = ticks(), end_ns;

	do
		end_ns = now_ns(CLOCK_MONOTONIC);
	while (end_ns - start_ns < 20000000);
	return (double)(ticks() - start) / (double)(end_ns - start_ns);
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 1, rate;
	uint64_t start, last, end, gap, long_gap, lost = 0, preempted = 0;
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	if (argc > 2) {
		CPU_SET(atoi(argv[2]), &cpus);
		if (sched_setaffinity(0, sizeof(cpus), &cpus))
			return 1;
	}
	rate = ticks_per_ns();
	gap = (uint64_t)(GAP_NS * rate);
	long_gap = (uint64_t)(PREEMPTED_NS * rate);
	start = last = ticks();
	end = start + (uint64_t)(seconds * 1e9 * rate);
	while (last < end) {
		uint64_t now = ticks();

		if (now - last > long_gap)
			preempted += now - last;
		else if (now - last > gap)
			lost += now - last;
		last = now;
	}
	printf("%.0f %.0f %.0f %llu\n", (double)(last - start) / rate, (double)lost / rate,
	       (double)preempted / rate, (unsigned long long)now_ns(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
