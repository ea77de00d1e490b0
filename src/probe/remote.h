/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * System calls made by a stopped thread of the target on the guardian's behalf.
 *
 * A tracer that dies between changing registers and restoring them leaves the thread with foreign ones, which
 * kills the program. So the thread restores itself if nobody else does: it is pointed at a `syscall; ret` that
 * is there already, on a stack (128 bytes below its own) that leads it on to rt_sigreturn:
 *
 *	rsp ->	address of `pop %rax; ret`	after the call
 *		SYS_rt_sigreturn
 *		address of `syscall; ret`
 *		struct ucontext: general registers, signal mask, pointer to ...
 *		... the vector and x87 state	which the kernel loads, all of it
 *
 * On AArch64 the link register leads on (remote_aarch64.c).
 *
 * In the ordinary case the guardian takes the thread back at the end of the call and restores it itself, so
 * that calls that were blocked go on. All signals are blocked meanwhile.
 */
#ifndef ASSAY_PROBE_REMOTE_H
#define ASSAY_PROBE_REMOTE_H

#include "probe/registers.h"
#include "probe/tracee.h"

#define REMOTE_PATTERNS 2u /* that are looked for at most */

struct remote {
	const struct sys *sys;
	pid_t pid, tid;
	int memory_fd; /* /proc/PID/mem, borrowed */
	uint64_t gadget, stack;
	uint64_t known
		[REMOTE_PATTERNS]; /* where they were in this process or its parent, 0: unknown */
	uint64_t link;             /* AArch64: where the gadget returns to */
	void *vectors;             /* AArch64: SVE registers that a call would clear, NULL: none */
	size_t vectors_bytes;
	uint64_t mask; /* the thread's own signal mask */
	struct registers registers;
};

/* Bytes looked for in the target's code, and where they were found first (0: nowhere). */
struct remote_pattern {
	const uint8_t *bytes;
	size_t size;
	uint64_t found;
};

/* Looks for all of them. Not to be found is no failure. */
MUST_CHECK enum status remote_find(struct remote *remote, struct remote_pattern *patterns, size_t n,
				   struct error *error);

/* Per architecture: finds the instructions, chooses `gadget` and `stack`, and writes there what leads the thread back
 * to where it is. Registers and mask have been read. */
MUST_CHECK enum status remote_chain_write(struct remote *remote, const struct registers_call *call,
					  struct error *error);

/* Per architecture: puts back what calls have cleared of the vector registers. */
void remote_vectors_restore(struct remote *remote);

/* Prepares a stopped thread (plain) for calls. `remote` is zero but for `known`, which it may have from a time before. */
MUST_CHECK enum status remote_begin(struct remote *remote, const struct sys *sys, pid_t pid,
				    const struct tracee *thread, int memory_fd,
				    struct error *error);

/* One call; the result or -errno in *result. Fails when the thread is lost. */
MUST_CHECK enum status remote_call(struct remote *remote, long number, const uint64_t arguments[6],
				   int64_t *result, struct error *error);

/* Puts the thread back as it was; it is stopped still. */
MUST_CHECK enum status remote_end(struct remote *remote, struct error *error);

#endif
