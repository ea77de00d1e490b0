/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lint: seam because the counter and the page size are this machine's whatever the table is
 */
#include "probe/machine.h"

#include <sys/auxv.h>
#include <unistd.h>

#include "agent/layout.h"

#define HWCAP_LSE 0x100u /* HWCAP_ATOMICS of <asm/hwcap.h> */

uint64_t machine_ticks(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	uint64_t value;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(value) : : "memory");
	return value;
#endif
}

bool machine_has_atomics(void)
{
	return MACHINE == EM_AARCH64 && (getauxval(AT_HWCAP) & HWCAP_LSE);
}

const uint8_t *machine_return(unsigned int *size)
{
	static const uint8_t x86_64[] = { 0xc3 };
	static const uint8_t aarch64[] = { 0xc0, 0x03, 0x5f, 0xd6 };

	*size = MACHINE == EM_X86_64 ? sizeof(x86_64) : sizeof(aarch64);
	return MACHINE == EM_X86_64 ? x86_64 : aarch64;
}

bool machine_pages_fit(void)
{
	return sysconf(_SC_PAGESIZE) == AGENT_PAGE;
}
