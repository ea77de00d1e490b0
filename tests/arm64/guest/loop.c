/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A workload whose shares are known in instructions: loop SECONDS-OF-1E9-INSTRUCTIONS.
 *
 * loop_long executes 1200 instructions a call and loop_short 800, so that of what the two execute
 * loop_long has 60 %, exactly, whatever the clock. Each ends with a look at every event counter, because
 * the emulator notices an overflow of a counter (other than the cycle counter) only at the next exception
 * or access to that counter: its pmevcntr_op_finish arms the timer one count early and not again. Thus
 * an overflow is late by one function at most, and is still delivered in the function in which it fell.
 * A system call would do for the count, but its samples would point into the kernel.
 */
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LONG_INSTRUCTIONS  1200u
#define SHORT_INSTRUCTIONS 800u

#if defined(__aarch64__)
#define CAP_USER_RDPMC 4u

/* Makes the counters readable at EL0: the kernel allows it to tasks that have mapped an event which was
 * opened for it (config1 bit 1), with kernel.perf_user_access = 1. */
static int counters_allow(void)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .exclude_kernel = 1 };
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct perf_event_mmap_page *user;
	int fd;

	attr.type = PERF_TYPE_HARDWARE;
	attr.config = PERF_COUNT_HW_INSTRUCTIONS;
	attr.config1 = 3;
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	if (fd < 0)
		return 0;
	user = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, 0);
	return user != MAP_FAILED && (user->capabilities & CAP_USER_RDPMC);
}

/* Six counters beside the cycle counter, as qemu's `max` has. */
#define LOOK_AT_COUNTERS                                                              \
	"mrs x9, pmevcntr0_el0\n\tmrs x9, pmevcntr1_el0\n\tmrs x9, pmevcntr2_el0\n\t" \
	"mrs x9, pmevcntr3_el0\n\tmrs x9, pmevcntr4_el0\n\tmrs x9, pmevcntr5_el0\n\t"

/* Two instructions a turn. */
#define COUNT_DOWN(n)                                                         \
	__asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b\n\t" LOOK_AT_COUNTERS \
			 : "+r"(n)                                            \
			 :                                                    \
			 : "cc", "x9")
#else
static int counters_allow(void)
{
	return 1;
}

#define COUNT_DOWN(n) __asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(n) : : "cc")
#endif

static void __attribute__((noinline)) loop_long(void)
{
	uint64_t n = LONG_INSTRUCTIONS / 2;

	COUNT_DOWN(n);
}

static void __attribute__((noinline)) loop_short(void)
{
	uint64_t n = SHORT_INSTRUCTIONS / 2;

	COUNT_DOWN(n);
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 1;
	uint64_t pairs = (uint64_t)(seconds * 1e9 / (LONG_INSTRUCTIONS + SHORT_INSTRUCTIONS));

	if (!counters_allow())
		return 3;
	for (uint64_t i = 0; i < pairs; i++) {
		loop_long();
		loop_short();
	}
	return 0;
}
