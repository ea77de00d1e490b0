/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How a thread restores itself after a call on x86-64: `syscall; ret` leads to `pop %rax; ret`, that to
 * rt_sigreturn (remote.h). Frame: the kernel's struct rt_sigframe, arch/x86/include/asm/sigframe.h.
 *
 * lint: seam because ptrace acts on real threads whatever the table is
 */
#include "probe/remote.h"

#ifdef __x86_64__

#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#define XSTATE_MAX (64u * 1024)
#define RED_ZONE   128u

#define XCR0_OFFSET \
	464u /* in the legacy area: "software reserved", where regset and frame have their marks */
#define SS_INVALID 7 /* no such flags: rt_sigreturn leaves the alternate stack as it is */

/* The kernel's struct ucontext (asm-generic/ucontext.h). */
struct kernel_context {
	uint64_t flags, link;
	struct {
		uint64_t sp;
		int32_t flags, padding;
		uint64_t size;
	} stack;
	struct sigcontext registers;
	uint64_t mask;
};

static const uint8_t call_bytes[] = { 0x0f, 0x05, 0xc3 }; /* syscall; ret */
static const uint8_t pop_bytes[] = { 0x58, 0xc3 };        /* pop %rax; ret */

static void context_fill(struct kernel_context *context, const struct user_regs_struct *user,
			 uint64_t mask, uint64_t state_address)
{
	struct sigcontext *to = &context->registers;

	memset(context, 0, sizeof(*context));
	/* UC_FP_XSTATE | UC_SIGCONTEXT_SS | UC_STRICT_RESTORE_SS */
	context->flags = 7;
	context->stack.flags = SS_INVALID;
	to->r8 = user->r8, to->r9 = user->r9, to->r10 = user->r10, to->r11 = user->r11;
	to->r12 = user->r12, to->r13 = user->r13, to->r14 = user->r14, to->r15 = user->r15;
	to->rdi = user->rdi, to->rsi = user->rsi, to->rbp = user->rbp, to->rbx = user->rbx;
	to->rdx = user->rdx, to->rax = user->rax, to->rcx = user->rcx, to->rsp = user->rsp;
	to->rip = user->rip, to->eflags = user->eflags;
	to->cs = (uint16_t)user->cs, to->__pad0 = (uint16_t)user->ss; /* the kernel's ss */
	to->__fpstate_word = state_address;
	context->mask = mask;
}

/* A blocked call whose restart the kernel had in hand cannot be resumed by sigreturn: it is made again. */
static void context_restart(struct kernel_context *context, const struct user_regs_struct *user)
{
	const int64_t result = (int64_t)user->rax;

	if ((int64_t)user->orig_rax < 0 || result > -512 || result < -516)
		return;
	context->registers.rax = user->orig_rax;
	context->registers.rip -= 2;
}

/* The vector state as the kernel's frames have it: marked by two magic numbers. */
static size_t state_read(pid_t tid, uint8_t *state)
{
	struct iovec area = { state, XSTATE_MAX - 64 };
	struct _fpx_sw_bytes *mark = (struct _fpx_sw_bytes *)(void *)(state + XCR0_OFFSET);
	const uint32_t end = FP_XSTATE_MAGIC2;
	uint64_t features;

	if (ptrace(PTRACE_GETREGSET, tid, (void *)(long)NT_X86_XSTATE, &area) < 0 ||
	    area.iov_len < 576)
		return 0;
	memcpy(&features, state + XCR0_OFFSET,
	       sizeof(features)); /* xcr0 stands there in the regset */
	memset(mark, 0, sizeof(*mark));
	mark->magic1 = FP_XSTATE_MAGIC1;
	mark->extended_size = (uint32_t)area.iov_len + 4;
	mark->xstate_bv = features;
	mark->xstate_size = (uint32_t)area.iov_len;
	memcpy(state + area.iov_len, &end, sizeof(end));
	return area.iov_len + sizeof(end);
}

/* Both instruction pairs stand in every libc and loader, and in static programs. */
static enum status gadgets_find(struct remote *remote, uint64_t *pop, struct error *error)
{
	struct remote_pattern patterns[] = { { call_bytes, sizeof(call_bytes), 0 },
					     { pop_bytes, sizeof(pop_bytes), 0 } };
	enum status status = remote_find(remote, patterns, 2, error);

	remote->gadget = patterns[0].found;
	*pop = patterns[1].found;
	if (status == STATUS_OK && (!remote->gadget || !*pop))
		status = error_set(error, STATUS_UNSUPPORTED,
				   "process %d holds no instructions (syscall; ret) by which it "
				   "could be asked for memory",
				   remote->pid);
	return status;
}

enum status remote_chain_write(struct remote *remote, const struct registers_call *call,
			       struct error *error)
{
	const struct user_regs_struct *user = &remote->registers.user;
	struct {
		uint64_t pop_rax, number, gadget;
		struct kernel_context context;
	} chain;
	uint8_t *state = calloc(1, XSTATE_MAX);
	const size_t size = state ? state_read(remote->tid, state) : 0;
	uint64_t state_at, pop = 0;
	int result = -EIO;
	const enum status status = gadgets_find(remote, &pop, error);

	(void)call;
	if (status != STATUS_OK) {
		free(state);
		return status;
	}
	if (size) {
		state_at = (user->rsp - RED_ZONE - size) & ~UINT64_C(63);
		remote->stack = (state_at - sizeof(chain)) & ~UINT64_C(15);
		chain.pop_rax = pop;
		chain.number = SYS_rt_sigreturn;
		chain.gadget = remote->gadget;
		context_fill(&chain.context, user, remote->mask, state_at);
		context_restart(&chain.context, user);
		result = sys_pwrite_all(remote->sys, remote->memory_fd, state, size,
					(off_t)state_at);
		if (result == 0)
			result = sys_pwrite_all(remote->sys, remote->memory_fd, &chain,
						sizeof(chain), (off_t)remote->stack);
	}
	free(state);
	if (result < 0)
		return error_set_errno(error, STATUS_IO, -result,
				       "cannot write to the stack of thread %d", remote->tid);
	return STATUS_OK;
}

void remote_vectors_restore(struct remote *remote)
{
	(void)remote; /* calls leave them alone */
}

#endif
