/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The registers of a stopped thread, as far as the guardian has to know them.
 */
#ifndef ASSAY_PROBE_REGISTERS_H
#define ASSAY_PROBE_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#include "base/sys.h"

struct registers {
	struct user_regs_struct user;
	uint64_t thread; /* AArch64: TPIDR_EL0, which is no part of the general registers */
};

/* The system call that a thread was blocked in before it was stopped. AArch64 alone needs it: there the
 * kernel shows the first argument of a call that was cut no more. */
struct registers_call {
	long number; /* -1: none */
	uint64_t arguments[6];
};

/* Of a thread that is not stopped yet; /proc/PID/task/TID/syscall. A call that begins between this and the stop is not
 * known: one that returns EINTR then stays cut. */
void registers_call_before(const struct sys *sys, pid_t pid, pid_t tid,
			   struct registers_call *call);

/* Of a stopped thread; false when it is gone. */
bool registers_get(pid_t tid, struct registers *registers);
bool registers_set(pid_t tid, const struct registers *registers);

/* The instruction and stack pointers, and the thread pointer. */
uint64_t registers_pc(const struct registers *registers);
uint64_t registers_sp(const struct registers *registers);
uint64_t registers_thread(const struct registers *registers);

/* x86-64: the base of %gs, which leads to a thread's block, and the memory that the thread pointer points to holds
 * the thread pointer. AArch64 has neither: registers_have_state() is false, and the state 0. */
bool registers_have_state(void);
uint64_t registers_state(const struct registers *registers);
void registers_set_state(struct registers *registers, uint64_t state);

/* The stop has ended a system call that would have gone on: one of those that return EINTR when a thread is
 * merely stopped, and that can be made again without harm (close, for one, cannot). */
bool registers_call_was_cut(const struct registers *registers, const struct registers_call *before);

/* Sets the thread back to the instruction that makes the call. */
void registers_call_again(struct registers *registers, const struct registers_call *before);

/* Makes the thread call the kernel from `gadget` with the stack pointer at `sp`; AArch64: `link` is where the gadget
 * returns to. */
void registers_prepare_call(struct registers *registers, uint64_t gadget, uint64_t sp,
			    uint64_t link, long number, const uint64_t arguments[6]);

/* What the call returned. */
int64_t registers_result(const struct registers *registers);

#endif
