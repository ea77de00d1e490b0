/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A return trampoline of signal handlers as musl and the vdso of AArch64 have it: without frame
 * information. */
	.text
	.globl trampoline
	.type trampoline, %function
	nop
trampoline:
#ifdef __aarch64__
	mov x8, #139
	svc #0
#else
	mov $15, %rax
	syscall
#endif
	.size trampoline, . - trampoline

	.section .note.GNU-stack, "", %progbits
