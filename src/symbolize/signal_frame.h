/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Frames that the kernel pushes to deliver a signal, for trampolines without frame information (musl on
 * x86-64, the vdso of AArch64 since Linux 5.10): the return address of a handler leads to code that does
 * nothing but call rt_sigreturn, and the interrupted registers lie at fixed places above the stack pointer.
 *
 * Layouts: arch/x86/include/asm/sigframe.h and uapi/asm/sigcontext.h; arch/arm64/kernel/signal.c and
 * uapi/asm/sigcontext.h. AArch64's struct rt_sigframe:
 *
 *	  0 siginfo		128
 *	128 uc_flags, uc_link	 16
 *	144 uc_stack		 24
 *	168 uc_sigmask		  8, padded to 128
 *	304 sigcontext (aligned 16): fault_address 8, regs[31], sp, pc, pstate
 */
#ifndef ASSAY_SYMBOLIZE_SIGNAL_FRAME_H
#define ASSAY_SYMBOLIZE_SIGNAL_FRAME_H

#include "symbolize/elf_file.h"

/* True when the code at the address is such a trampoline. */
bool signal_frame_is(const struct elf_file *file, uint64_t vaddr);

/* Where the interrupted value of a DWARF register (or MACHINE_PC) lies above the stack pointer; -1 when
 * it is not kept. */
int64_t signal_frame_offset(uint16_t machine, int reg);

#endif
