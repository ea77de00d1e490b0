/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The registers of a stopped thread, as far as the guardian has to know them. x86-64 only so far; elsewhere
 * every read fails.
 */
#ifndef ASSAY_PROBE_REGISTERS_H
#define ASSAY_PROBE_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

struct registers {
	struct user_regs_struct user;
};

/* Of a stopped thread; false when it is gone. */
bool registers_get(pid_t tid, struct registers *registers);
bool registers_set(pid_t tid, const struct registers *registers);

/* The instruction and stack pointers, the thread pointer, and the base of %gs. */
uint64_t registers_pc(const struct registers *registers);
uint64_t registers_sp(const struct registers *registers);
uint64_t registers_thread(const struct registers *registers);
uint64_t registers_state(const struct registers *registers);
void registers_set_state(struct registers *registers, uint64_t state);

/* The stop has ended a system call that would have gone on: one of those that return EINTR when a thread is
 * merely stopped, and that can be made again without harm (close, for one, cannot). */
bool registers_call_was_cut(const struct registers *registers);

/* Sets the thread back to the instruction that makes the call. */
void registers_call_again(struct registers *registers);

/* Makes the thread call the kernel from `gadget` (syscall; ret) with the stack pointer at `sp`. */
void registers_prepare_call(struct registers *registers, uint64_t gadget, uint64_t sp, long number,
			    const uint64_t arguments[6]);

/* What the call returned. */
int64_t registers_result(const struct registers *registers);

#endif
