/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a call costs, with probes or without, beside the same function that nobody probes and a hand-written
 * floor: bench/probe_speed.py attaches to it.
 *
 * Of each kind there are 8 copies, at 0, 8 .. 56 bytes behind a multiple of 64, since a nanosecond depends on where
 * code stands. One line per round and copy:
 *	copy, then ns per call of small_probed small_plain small_floor work_probed work_plain work_floor
 * each the median of short runs, in turn, so that what disturbs meets all alike. small takes about 1 ns, work about 16.
 * The floor is what timing a call costs at least in this program: two counter reads, a frame, and calls, inclusive and
 * self time summed.
 *
 *	probe_calls [ROUNDS]		without end unless said
 *
 * Compiled with -falign-functions=1 -fno-toplevel-reorder, so that the places are those said here.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define NI     __attribute__((noinline, noclone, noipa))
#define CALLS  1000u
#define RUNS   31u
#define COPIES 8u
#define KINDS  6u
#define STEPS  44

#define SMALL(x) ((x) + ((x) >> 3) + 5)

/* A chain that no compiler shortens. */
#define WORK(x)                                    \
	for (int i = 0; i < STEPS; i++) {          \
		(x) = (x)*0x9e3779b97f4a7c15u + 1; \
		__asm__ volatile("" : "+r"(x));    \
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

static inline void floor_enter(void)
{
	sums.calls++;
	frames[++top].child = 0;
	frames[top].start = ticks();
}

static inline void floor_leave(void)
{
	const uint64_t spent = ticks() - frames[top].start;

	sums.inclusive += spent;
	sums.self += spent - frames[top].child;
	frames[--top].child += spent;
}

#define PLACE(copy) \
	__asm__(".text\n.skip 32\n.p2align 6\n.if " #copy "\n.skip 8 * " #copy "\n.endif\n");

#define COPY(copy)                                  \
	PLACE(copy)                                 \
	NI uint64_t small_probed_##copy(uint64_t x) \
	{                                           \
		return SMALL(x);                    \
	}                                           \
	PLACE(copy)                                 \
	NI uint64_t small_plain_##copy(uint64_t x)  \
	{                                           \
		return SMALL(x);                    \
	}                                           \
	PLACE(copy)                                 \
	NI uint64_t small_floor_##copy(uint64_t x)  \
	{                                           \
		floor_enter();                      \
		x = SMALL(x);                       \
		floor_leave();                      \
		return x;                           \
	}                                           \
	PLACE(copy)                                 \
	NI uint64_t work_probed_##copy(uint64_t x)  \
	{                                           \
		WORK(x)                             \
		return x;                           \
	}                                           \
	PLACE(copy)                                 \
	NI uint64_t work_plain_##copy(uint64_t x)   \
	{                                           \
		WORK(x)                             \
		return x;                           \
	}                                           \
	PLACE(copy)                                 \
	NI uint64_t work_floor_##copy(uint64_t x)   \
	{                                           \
		floor_enter();                      \
		WORK(x)                             \
		floor_leave();                      \
		return x;                           \
	}

COPY(0)
COPY(1)
COPY(2)
COPY(3)
COPY(4)
COPY(5)
COPY(6)
COPY(7)

typedef uint64_t (*function)(uint64_t x);

#define ROW(copy)                                                                                \
	{                                                                                        \
		small_probed_##copy, small_plain_##copy, small_floor_##copy, work_probed_##copy, \
			work_plain_##copy, work_floor_##copy                                     \
	}

static const function functions[COPIES][KINDS] = { ROW(0), ROW(1), ROW(2), ROW(3),
						   ROW(4), ROW(5), ROW(6), ROW(7) };

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* One loop for all, so that where it stands is the same for all. */
NI static double run(function called)
{
	const double start = now_ns();
	uint64_t value = 0;

	for (uint64_t n = 0; n < CALLS; n++)
		value += called(7 + n);
	__asm__ volatile("" : : "r"(value));
	return (now_ns() - start) / CALLS;
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void copy_measure(unsigned int copy)
{
	double values[KINDS][RUNS];

	for (unsigned int i = 0; i < RUNS; i++)
		for (unsigned int kind = 0; kind < KINDS; kind++)
			values[kind][i] = run(functions[copy][kind]);
	printf("%u", copy);
	for (unsigned int kind = 0; kind < KINDS; kind++) {
		qsort(values[kind], RUNS, sizeof(values[kind][0]), compare);
		printf(" %.3f", values[kind][RUNS / 2]);
	}
	printf("\n");
}

int main(int argc, char **argv)
{
	const long rounds = argc > 1 ? atol(argv[1]) : 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (long n = 0; (!rounds || n < rounds) && getppid() != 1; n++)
		for (unsigned int copy = 0; copy < COPIES; copy++)
			copy_measure(copy);
	return 0;
}
