/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a call costs, with probes or without, beside the same function that nobody probes and a hand-written
 * floor: bench/probe_speed.py attaches to it. Each line: ns per call of
 *	small_probed small_plain work_probed work_plain work_floor
 * small is about 1 ns, work about 16 ns. The floor is what timing a call costs at least in this program: two
 * counter reads, a shadow frame, and calls, inclusive and self time summed.
 */
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define NI    __attribute__((noinline, noclone, noipa))
#define CALLS 100000

NI long small_probed(long x)
{
	return x + (x >> 3) + 5;
}

NI long small_plain(long x)
{
	return x + (x >> 3) + 5;
}

#define WORK(x)                      \
	for (int i = 0; i < 12; i++) \
	x = x * 0x9e3779b97f4a7c15u + 1

NI uint64_t work_probed(uint64_t x)
{
	WORK(x);
	return x;
}

NI uint64_t work_plain(uint64_t x)
{
	WORK(x);
	return x;
}

static struct {
	uint64_t calls, inclusive, self;
} sums;
static struct {
	uint64_t start, child;
} frames[64];
static unsigned int top;

static inline uint64_t ticks(void)
{
#ifdef __x86_64__
	return __builtin_ia32_rdtsc();
#else
	uint64_t value;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
	return value;
#endif
}

NI uint64_t work_floor(uint64_t x)
{
	uint64_t spent;

	sums.calls++;
	frames[++top].child = 0;
	frames[top].start = ticks();
	WORK(x);
	spent = ticks() - frames[top].start;
	sums.inclusive += spent;
	sums.self += spent - frames[top].child;
	frames[--top].child += spent;
	return x;
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

#define LOOP(function)                                      \
	({                                                  \
		const double start = now_ns();              \
		for (int n = 0; n < CALLS; n++)             \
			value += (uint64_t)function(7 + n); \
		(now_ns() - start) / CALLS;                 \
	})

int main(void)
{
	volatile uint64_t value = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	while (getppid() != 1) {
		const double a = LOOP(small_probed), b = LOOP(small_plain);
		const double c = LOOP(work_probed), d = LOOP(work_plain), e = LOOP(work_floor);

		printf("%.3f %.3f %.3f %.3f %.3f\n", a, b, c, d, e);
	}
	return 0;
}
