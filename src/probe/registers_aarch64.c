/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Registers of AArch64: the register sets NT_PRSTATUS (struct user_regs_struct of <sys/user.h>) and NT_ARM_TLS;
 * system calls with the number in x8, arguments in x0 to x5, `svc` is four bytes long.
 *
 * What a tracer sees of a call that a stop has cut (arch/arm64/kernel/signal.c, do_signal): calls that restart have
 * been set back already, x0 and pc; of others x0 holds -EINTR, and the argument that was there is kept where no
 * tracer can read it. So it is read before the stop.
 */
#include "probe/registers.h"

#ifdef __aarch64__

#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#define SVC_BYTES 4u
#define PSTATE_BTYPE \
	UINT64_C(0xc00) /* what kind of branch came here, to be checked against a landing pad */

static bool set_get(pid_t tid, long set, void *to, size_t size)
{
	struct iovec area = { to, size };

	/* newer kernels know longer sets, of which this is the beginning */
	return ptrace(PTRACE_GETREGSET, tid, (void *)set, &area) == 0 && area.iov_len == size;
}

bool registers_get(pid_t tid, struct registers *registers)
{
	return set_get(tid, NT_PRSTATUS, &registers->user, sizeof(registers->user)) &&
	       set_get(tid, NT_ARM_TLS, &registers->thread, sizeof(registers->thread));
}

bool registers_set(pid_t tid, const struct registers *registers)
{
	struct user_regs_struct user = registers->user;
	struct iovec area = { &user, sizeof(user) };

	return ptrace(PTRACE_SETREGSET, tid, (void *)(long)NT_PRSTATUS, &area) == 0;
}

uint64_t registers_pc(const struct registers *registers)
{
	return registers->user.pc;
}

uint64_t registers_sp(const struct registers *registers)
{
	return registers->user.sp;
}

uint64_t registers_thread(const struct registers *registers)
{
	return registers->thread;
}

bool registers_have_state(void)
{
	return false;
}

uint64_t registers_state(const struct registers *registers)
{
	(void)registers;
	return 0;
}

void registers_set_state(struct registers *registers, uint64_t state)
{
	(void)registers, (void)state;
}

void registers_call_before(const struct sys *sys, pid_t pid, pid_t tid, struct registers_call *call)
{
	char path[64], *text, *at, *end;

	call->number = -1;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", pid, tid);
	if (sys_read_file(sys, -1, path, 4096, &text, NULL, NULL) != STATUS_OK)
		return;
	/* "running", or the number, six arguments, sp and pc */
	call->number = strtol(text, &at, 10);
	if (at == text)
		call->number = -1;
	for (unsigned int i = 0; i < 6 && call->number >= 0; i++, at = end) {
		call->arguments[i] = strtoull(at, &end, 16);
		if (end == at)
			call->number = -1;
	}
	free(text);
}

bool registers_call_was_cut(const struct registers *registers, const struct registers_call *before)
{
	static const long again[] = {
		SYS_read,
		SYS_readv,
		SYS_write,
		SYS_writev,
		SYS_recvfrom,
		SYS_recvmsg,
		SYS_sendto,
		SYS_sendmsg,
		SYS_accept,
		SYS_accept4,
		SYS_epoll_pwait,
		SYS_epoll_pwait2,
		SYS_rt_sigtimedwait,
		SYS_semop,
		SYS_semtimedop,
		SYS_io_uring_enter,
		SYS_io_getevents,
		SYS_io_pgetevents,
		SYS_msgrcv,
		SYS_msgsnd,
		SYS_mq_timedreceive,
		SYS_mq_timedsend,
	};

	if ((int64_t)registers->user.regs[0] != -EINTR || before->number < 0 ||
	    registers->user.regs[8] != (uint64_t)before->number)
		return false;
	for (unsigned int i = 1; i < 6; i++) {
		if (registers->user.regs[i] != before->arguments[i])
			return false;
	}
	for (size_t i = 0; i < sizeof(again) / sizeof(*again); i++) {
		if (before->number == again[i])
			return true;
	}
	return false;
}

void registers_call_again(struct registers *registers, const struct registers_call *before)
{
	registers->user.regs[0] = before->arguments[0];
	registers->user.pc -= SVC_BYTES;
}

void registers_prepare_call(struct registers *registers, uint64_t gadget, uint64_t sp,
			    uint64_t link, long number, const uint64_t arguments[6])
{
	struct user_regs_struct *user = &registers->user;

	user->pc = gadget;
	user->sp = sp;
	user->regs[30] = link;
	user->regs[8] = (unsigned long long)number;
	user->pstate &= ~PSTATE_BTYPE;
	for (unsigned int i = 0; i < 6; i++)
		user->regs[i] = arguments[i];
}

int64_t registers_result(const struct registers *registers)
{
	return (int64_t)registers->user.regs[0];
}

#endif
