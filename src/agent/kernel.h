/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * System calls of the agent: the instruction itself, since there is no libc. Results are the kernel's, -errno
 * included. In the engine's own process (tests) nothing is called: one thread, which lives, and no events.
 */
#ifndef ASSAY_AGENT_KERNEL_H
#define ASSAY_AGENT_KERNEL_H

#include <asm/unistd.h>

#if defined(AGENT_FREESTANDING) && defined(__x86_64__)

static inline long kernel(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

#elif defined(AGENT_FREESTANDING) && defined(__aarch64__)

static inline long kernel(long number, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc	#0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}

#else

#define KERNEL_NO_SUCH_PROCESS (-3)
#define KERNEL_NO_SUCH_CALL    (-38)

static inline long kernel(long number, long a, long b, long c, long d, long e, long f)
{
	(void)a, (void)b, (void)c, (void)d, (void)e, (void)f;
	switch (number) {
	case __NR_getpid:
	case __NR_gettid: return 1;
	case __NR_tgkill: return KERNEL_NO_SUCH_PROCESS;
	default: return KERNEL_NO_SUCH_CALL;
	}
}

#endif

#endif
