/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Registers of x86-64: struct user_regs_struct of <sys/user.h>; system calls by the AMD64 convention
 * (number in rax, arguments in rdi, rsi, rdx, r10, r8, r9; `syscall` is two bytes long).
 */
#include "probe/registers.h"

#ifdef __x86_64__

#include <errno.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

bool registers_get(pid_t tid, struct registers *registers)
{
	return ptrace(PTRACE_GETREGS, tid, NULL, &registers->user) == 0;
}

bool registers_set(pid_t tid, const struct registers *registers)
{
	struct user_regs_struct user = registers->user;

	return ptrace(PTRACE_SETREGS, tid, NULL, &user) == 0;
}

uint64_t registers_pc(const struct registers *registers)
{
	return registers->user.rip;
}

uint64_t registers_sp(const struct registers *registers)
{
	return registers->user.rsp;
}

uint64_t registers_thread(const struct registers *registers)
{
	return registers->user.fs_base;
}

bool registers_have_state(void)
{
	return true;
}

uint64_t registers_state(const struct registers *registers)
{
	return registers->user.gs_base;
}

void registers_set_state(struct registers *registers, uint64_t state)
{
	registers->user.gs_base = state;
}

void registers_call_before(const struct sys *sys, pid_t pid, pid_t tid, struct registers_call *call)
{
	(void)sys, (void)pid, (void)tid;
	call->number = -1; /* orig_rax tells it afterwards */
}

bool registers_call_was_cut(const struct registers *registers, const struct registers_call *before)
{
	static const long again[] = {
		SYS_read,           SYS_readv,           SYS_write,         SYS_writev,
		SYS_recvfrom,       SYS_recvmsg,         SYS_sendto,        SYS_sendmsg,
		SYS_accept,         SYS_accept4,         SYS_epoll_wait,    SYS_epoll_pwait,
		SYS_epoll_pwait2,   SYS_rt_sigtimedwait, SYS_semop,         SYS_semtimedop,
		SYS_io_uring_enter, SYS_io_getevents,    SYS_io_pgetevents, SYS_msgrcv,
		SYS_msgsnd,         SYS_mq_timedreceive, SYS_mq_timedsend,  SYS_pause,
	};

	(void)before;
	if ((int64_t)registers->user.rax != -EINTR)
		return false;
	for (size_t i = 0; i < sizeof(again) / sizeof(*again); i++) {
		if ((long)registers->user.orig_rax == again[i])
			return true;
	}
	return false;
}

void registers_call_again(struct registers *registers, const struct registers_call *before)
{
	(void)before;
	registers->user.rax = registers->user.orig_rax;
	registers->user.orig_rax = (unsigned long long)-1;
	registers->user.rip -= 2;
}

void registers_prepare_call(struct registers *registers, uint64_t gadget, uint64_t sp,
			    uint64_t link, long number, const uint64_t arguments[6])
{
	struct user_regs_struct *user = &registers->user;

	(void)link; /* `ret` takes its address from the stack */
	user->rip = gadget;
	user->rsp = sp;
	user->rax = (unsigned long long)number;
	user->orig_rax = (unsigned long long)-1;
	user->rdi = arguments[0];
	user->rsi = arguments[1];
	user->rdx = arguments[2];
	user->r10 = arguments[3];
	user->r8 = arguments[4];
	user->r9 = arguments[5];
	user->eflags &= ~UINT64_C(0x400); /* the direction flag */
}

int64_t registers_result(const struct registers *registers)
{
	return (int64_t)registers->user.rax;
}

#endif
