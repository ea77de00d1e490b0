/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Counters of AArch64: CNTVCT_EL0, and the PMU's where the kernel allows EL0 to read them (sysctl
 * kernel.perf_user_access, and bit 1 of the event's config1). Source: Arm ARM D13, Documentation/arch/arm64/perf.rst.
 */
#ifndef ASSAY_AGENT_COUNTER_AARCH64_H
#define ASSAY_AGENT_COUNTER_AARCH64_H

#include <stdbool.h>
#include <stdint.h>

#define COUNTER_CYCLES 31u /* PMCCNTR_EL0 as the kernel numbers it */

static inline uint64_t counter_ticks(void)
{
	uint64_t value;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
	return value;
}

static inline void counter_order(void)
{
	__asm__ volatile("isb" ::: "memory");
}

/* A counter_register. There is no indexed read: each number is an instruction of its own. MRS of
 * PMEVCNTR<n>_EL0 is S3_3_C14_C<8 + n / 8>_<n % 8>; all cases are 3 instructions, so that each read costs the same. */
static inline bool counter_hardware(uint32_t number, uint64_t *value)
{
	uint64_t now;

	if (number > COUNTER_CYCLES)
		return false;
	__asm__ volatile("	adr	%0, 1f\n"
			 "	add	%0, %0, %1, lsl #3\n"
			 "	br	%0\n"
			 "1:	.irp	group, 8, 9, 10, 11\n"
			 "	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7\n"
			 "	.if	\\group == 11 && \\n == 7\n"
			 "	mrs	%0, pmccntr_el0\n"
			 "	.else\n"
			 "	mrs	%0, s3_3_c14_c\\group\\()_\\n\n"
			 "	.endif\n"
			 "	b	2f\n"
			 "	.endr\n"
			 "	.endr\n"
			 "2:"
			 : "=&r"(now)
			 : "r"((uint64_t)number));
	*value = now;
	return true;
}

#endif
