/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a workload knows about itself: how much CPU time it spent in each of its functions.
 *
 * The CPU's counter is looked at all the time (some ns); where it jumped, the thread was interrupted, and
 * the kernel's CPU clock of the thread says how much of that was spent off the CPU: only this is taken
 * out. So preemption, interrupts and a busy machine shift the truth exactly as they shift what the
 * program really ran. Reading the kernel's clock at every change of function instead would cost 0.2 to
 * 3 us each, and be a good part of what is measured. Time off the CPU in jumps shorter than GAP_NS, and
 * time that a hypervisor takes, counts as run.
 *
 * Shares are of the CPU time of the whole process, its start included, which is what a profiler's shares
 * are of. Printed at the end, in ns of CPU time:
 *
 *	truth NAME NS		one line per function
 *	process NS		everything
 */
#ifndef ASSAY_WORKLOADS_TRUTH_H
#define ASSAY_WORKLOADS_TRUTH_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define TRUTH_FUNCTIONS_MAX 1024
#define TRUTH_GAP_NS        30000 /* twice the time of a long interrupt */

struct truth {
	double ticks_per_ns;
	uint64_t gap_ticks;
	size_t current;         /* function that runs now; numbered from 1, 0 is nobody */
	uint64_t start, last;   /* of the run; when the counter was looked at */
	uint64_t since;         /* when `current` was entered, moved on by the time off the CPU */
	uint64_t off;           /* ticks off the CPU since the start */
	uint64_t synced;        /* when the kernel's clock was read, in ticks, ... */
	uint64_t synced_cpu_ns; /* ... and what it said */
	uint64_t spent[TRUTH_FUNCTIONS_MAX + 1]; /* in ticks */
};

static inline uint64_t truth_clock_ns(clockid_t clock)
{
	struct timespec t;

	if (clock_gettime(clock, &t))
		abort();
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t truth_ticks(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t t;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
	return t;
#else
#error "no counter is known for this CPU"
#endif
}

/* The counter and the time of day at the same moment: the closest of some readings, since an interrupt
 * between the two would be an error of the rate. */
static inline uint64_t truth_moment(uint64_t *ns)
{
	uint64_t best = UINT64_MAX, ticks = 0;

	for (int i = 0; i < 10; i++) {
		const uint64_t before = truth_ticks(), now = truth_clock_ns(CLOCK_MONOTONIC);
		const uint64_t took = truth_ticks() - before;

		if (took >= best)
			continue;
		best = took;
		ticks = before + took / 2;
		*ns = now;
	}
	return ticks;
}

static inline double truth_ticks_per_ns(void)
{
	uint64_t start_ns = 0, end_ns = 0, start, end;

	start = truth_moment(&start_ns);
	do
		end = truth_moment(&end_ns);
	while (end_ns - start_ns < 10000000);
	return (double)(end - start) / (double)(end_ns - start_ns);
}

/* Both clocks at the same moment: again when the thread was interrupted between them, which a system call
 * invites. */
static inline uint64_t truth_read(const struct truth *truth, uint64_t *cpu_ns)
{
	uint64_t before, after;

	for (int tries = 0; tries < 100; tries++) {
		before = truth_ticks();
		*cpu_ns = truth_clock_ns(CLOCK_THREAD_CPUTIME_ID);
		after = truth_ticks();
		if (after - before < truth->gap_ticks)
			return after;
	}
	abort();
}

static inline void truth_init(struct truth *truth)
{
	*truth = (struct truth){ .ticks_per_ns = truth_ticks_per_ns() };
	truth->gap_ticks = (uint64_t)(TRUTH_GAP_NS * truth->ticks_per_ns);
	truth->synced = truth_read(truth, &truth->synced_cpu_ns);
	truth->start = truth->since = truth->last = truth->synced;
}

/* The counter jumped: what of it was off the CPU? Returns the counter. */
static __attribute__((noinline)) uint64_t truth_gap(struct truth *truth)
{
	uint64_t cpu_ns;
	const uint64_t now = truth_read(truth, &cpu_ns), gap = now - truth->last;
	const double off = (double)(now - truth->synced) -
			   (double)(cpu_ns - truth->synced_cpu_ns) * truth->ticks_per_ns;
	uint64_t taken = off > 0 ? (uint64_t)off : 0;

	taken = taken < gap ? taken : gap;
	truth->off += taken;
	truth->since += taken;
	truth->synced = now;
	truth->synced_cpu_ns = cpu_ns;
	return now;
}

/* To be called every microsecond or so; returns the counter. */
static inline uint64_t truth_look(struct truth *truth)
{
	uint64_t now = truth_ticks();

	if (__builtin_expect(now - truth->last > truth->gap_ticks, 0))
		now = truth_gap(truth);
	truth->last = now;
	return now;
}

/* From now on `function` runs (0: nobody). */
static inline void truth_switch(struct truth *truth, size_t function)
{
	const uint64_t now = truth_look(truth);

	truth->spent[truth->current] += now - truth->since;
	truth->current = function;
	truth->since = now;
}

/* CPU time since truth_init, in seconds. */
static inline double truth_elapsed(const struct truth *truth)
{
	return (double)(truth->last - truth->start - truth->off) / truth->ticks_per_ns * 1e-9;
}

static inline void truth_print(const struct truth *truth, const char *const *names, size_t n)
{
	for (size_t f = 0; f < n; f++)
		printf("truth %s %.0f\n", names[f],
		       (double)truth->spent[f + 1] / truth->ticks_per_ns);
	printf("process %llu\n", (unsigned long long)truth_clock_ns(CLOCK_PROCESS_CPUTIME_ID));
}

/* xorshift64* (Vigna 2016), seeded by number. */
struct chance {
	uint64_t state;
};

static inline double chance_uniform(struct chance *chance)
{
	chance->state ^= chance->state >> 12;
	chance->state ^= chance->state << 25;
	chance->state ^= chance->state >> 27;
	return (double)((chance->state * 2685821657736338717u) >> 11) * 0x1p-53;
}

static inline struct chance chance_of(uint64_t seed)
{
	struct chance chance = { 0x9e3779b97f4a7c15u ^ (seed + 1) * 0xbf58476d1ce4e5b9u };

	if (!chance.state)
		chance.state = 1;
	for (int i = 0; i < 10; i++)
		chance_uniform(&chance);
	return chance;
}

#endif
