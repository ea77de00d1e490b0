/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A workload whose shares are known in instructions: loop SECONDS-OF-1E9-INSTRUCTIONS.
 *
 * loop_long executes 1200 instructions a call and loop_short 800, so that of what the two execute
 * loop_long has 60 %, exactly, whatever the clock. A cheap system call after each pair keeps overflows
 * of the instruction counter from coming late: the emulator notices them only at the next exception or
 * access to a counter (qemu's pmevcntr_op_finish arms its timer one count early and not again), so each
 * comes at most one pair late. About 1 % of the instructions are neither's.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LONG_INSTRUCTIONS  1200u
#define SHORT_INSTRUCTIONS 800u

#if defined(__aarch64__)
#define COUNT_DOWN(n) __asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(n) : : "cc")
#else
#define COUNT_DOWN(n) __asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(n) : : "cc")
#endif

/* Two instructions a turn. */
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

	for (uint64_t i = 0; i < pairs; i++) {
		loop_long();
		loop_short();
		syscall(SYS_getppid);
	}
	return 0;
}
