/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counters of x86-64: the time-stamp counter, and RDPMC where the kernel allows it (cap_user_rdpmc; else it faults).
 */
#ifndef ASSAY_AGENT_COUNTER_X86_64_H
#define ASSAY_AGENT_COUNTER_X86_64_H

#include <stdbool.h>
#include <stdint.h>

static inline uint64_t counter_ticks(void)
{
	return __builtin_ia32_rdtsc();
}

/* LFENCE waits for all earlier instructions and lets no later one begin (Intel SDM, LFENCE; AMD: since Linux
 * makes it serialising). */
static inline void counter_order(void)
{
	__asm__ volatile("lfence" ::: "memory");
}

/* A counter_register. Fixed counters have bit 30 set in the number, as the kernel's index has. */
static inline __attribute__((always_inline)) bool counter_hardware(uint32_t number, uint64_t *value)
{
	uint32_t low, high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(number));
	*value = (uint64_t)high << 32 | low;
	return true;
}

#endif
