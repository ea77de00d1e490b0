/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How a thread restores itself after a call on AArch64: `svc #0; ret` returns to the vDSO's `mov x8, #139; svc #0`
 * (rt_sigreturn), which x30 points to, with the stack pointer at a signal frame. Frame: the kernel's struct
 * rt_sigframe and the records behind it, arch/arm64/kernel/signal.c, arch/arm64/include/uapi/asm/sigcontext.h.
 *
 * A system call clears the SVE state beyond the vector registers, of a thread that was stopped elsewhere, too; so that
 * is read before and put back by remote_end. It is no part of the frame: a guardian that is killed in the middle loses
 * it.
 *
 * lint: seam because ptrace acts on real threads whatever the table is
 */
#include "probe/remote.h"

#ifdef __aarch64__

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>

#include <asm/ptrace.h>

#define STACK_INVALID 7 /* no such flags: rt_sigreturn leaves the alternate stack as it is */
#define SVC           0xd4000001u
#define FUTEX_COMMAND 0x7fu /* without FUTEX_PRIVATE_FLAG and FUTEX_CLOCK_REALTIME */

struct frame {
	uint8_t info[128]; /* siginfo_t, which rt_sigreturn does not look at */
	ucontext_t context;
};

static const uint8_t call_bytes[] = { 0x01, 0x00, 0x00, 0xd4, 0xc0, 0x03, 0x5f, 0xd6 };
static const uint8_t return_bytes[] = { 0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4 };

/* The first stands in every libc and in the vDSO, the second in the vDSO. */
static enum status gadgets_find(struct remote *remote, struct error *error)
{
	struct remote_pattern patterns[] = { { call_bytes, sizeof(call_bytes), 0 },
					     { return_bytes, sizeof(return_bytes), 0 } };
	enum status status = remote_find(remote, patterns, 2, error);

	remote->gadget = patterns[0].found;
	remote->link = patterns[1].found;
	if (status == STATUS_OK && (!remote->gadget || !remote->link))
		status = error_set(error, STATUS_UNSUPPORTED,
				   "process %d holds no instructions (svc #0; ret) by which it "
				   "could be asked for memory",
				   remote->pid);
	return status;
}

static bool frame_fill(struct frame *frame, const struct remote *remote)
{
	const struct user_regs_struct *user = &remote->registers.user;
	mcontext_t *to = &frame->context.uc_mcontext;
	struct user_fpsimd_struct vector;
	struct iovec area = { &vector, sizeof(vector) };
	struct fpsimd_context *record = (struct fpsimd_context *)(void *)to->__reserved;

	memset(frame, 0, sizeof(*frame));
	if (ptrace(PTRACE_GETREGSET, remote->tid, (void *)(long)NT_PRFPREG, &area) < 0)
		return false;
	frame->context.uc_stack.ss_flags = STACK_INVALID;
	memcpy(&frame->context.uc_sigmask, &remote->mask, sizeof(remote->mask));
	memcpy(to->regs, user->regs, sizeof(to->regs));
	to->sp = user->sp, to->pc = user->pc, to->pstate = user->pstate;
	record->head.magic = FPSIMD_MAGIC;
	record->head.size = sizeof(*record);
	record->fpsr = vector.fpsr, record->fpcr = vector.fpcr;
	memcpy(record->vregs, vector.vregs, sizeof(record->vregs));
	return true; /* the record of size 0 that ends them is there */
}

/* Was the thread in a call that the kernel goes on with by restart_syscall, since only the time that is left counts?
 * Then that is the call to be made: elsewhere than in the stop that set the thread back, nobody else does. */
static void restart_by_time_left(struct remote *remote, const struct registers_call *call)
{
	struct user_regs_struct *user = &remote->registers.user;
	uint32_t word = 0;
	bool relative = false;

	if (call->number == SYS_nanosleep)
		relative = true;
	else if (call->number == SYS_clock_nanosleep)
		relative = call->arguments[1] == 0;
	else if (call->number == SYS_futex) /* FUTEX_WAIT with a timeout */
		relative = (call->arguments[1] & FUTEX_COMMAND) == 0 && call->arguments[3];
	if (relative && user->regs[8] == (uint64_t)call->number &&
	    user->regs[0] == call->arguments[0] &&
	    sys_pread_full(remote->sys, remote->memory_fd, &word, sizeof(word), (off_t)user->pc) ==
		    sizeof(word) &&
	    word == SVC)
		user->regs[8] = SYS_restart_syscall;
}

static void sve_read(struct remote *remote)
{
	struct user_sve_header header;
	struct iovec area = { &header, sizeof(header) };

	remote->vectors = NULL;
	if (ptrace(PTRACE_GETREGSET, remote->tid, (void *)(long)NT_ARM_SVE, &area) < 0 ||
	    (header.flags & SVE_PT_REGS_MASK) != SVE_PT_REGS_SVE || header.size < sizeof(header))
		return;
	remote->vectors = malloc(header.size);
	remote->vectors_bytes = header.size;
	area = (struct iovec){ remote->vectors, header.size };
	if (remote->vectors &&
	    ptrace(PTRACE_GETREGSET, remote->tid, (void *)(long)NT_ARM_SVE, &area) < 0) {
		free(remote->vectors);
		remote->vectors = NULL;
	}
}

enum status remote_chain_write(struct remote *remote, const struct registers_call *call,
			       struct error *error)
{
	const uint64_t sp = remote->registers.user.sp;
	struct frame *frame = calloc(1, sizeof(*frame));
	enum status status = gadgets_find(remote, error);
	int result = -EIO;

	if (status == STATUS_OK && frame && frame_fill(frame, remote)) {
		remote->stack = (sp - sizeof(*frame)) & ~UINT64_C(15);
		result = sys_pwrite_all(remote->sys, remote->memory_fd, frame, sizeof(*frame),
					(off_t)remote->stack);
	}
	free(frame);
	if (status == STATUS_OK && result < 0)
		status = error_set_errno(error, STATUS_IO, -result,
					 "cannot write to the stack of thread %d", remote->tid);
	if (status == STATUS_OK) {
		restart_by_time_left(remote, call);
		sve_read(remote);
	}
	return status;
}

void remote_vectors_restore(struct remote *remote)
{
	struct iovec area = { remote->vectors, remote->vectors_bytes };

	if (remote->vectors)
		ptrace(PTRACE_SETREGSET, remote->tid, (void *)(long)NT_ARM_SVE, &area);
	free(remote->vectors);
	remote->vectors = NULL;
}

#endif
