/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lint: seam because ptrace and wait act on real threads whatever the table is
 */
#include "probe/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "target/maps.h"

#define CALL_WAIT_NS UINT64_C(2000000000)
#define XSTATE_MAX   (64u * 1024)
#define SCAN_MAX     (4u << 20) /* of one mapping, in search of instructions */

#ifdef __x86_64__

#include <elf.h>

#define RED_ZONE 128u

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

static uint64_t bytes_find(const uint8_t *text, size_t size, uint64_t address,
			   const uint8_t *wanted, size_t wanted_size)
{
	const uint8_t *at = memmem(text, size, wanted, wanted_size);

	return at ? address + (uint64_t)(at - text) : 0;
}

/* Both instruction pairs stand in every libc and loader, and in static programs. */
static enum status gadgets_find(struct remote *remote, uint64_t *pop, struct error *error)
{
	char path[64], *text;
	const char *at;
	struct map map;
	uint8_t *code = malloc(SCAN_MAX);
	enum status status;

	snprintf(path, sizeof(path), "/proc/%d/maps", remote->pid);
	status = sys_read_file(remote->sys, -1, path, MAPS_MAX_BYTES, &text, NULL, error);
	if (status != STATUS_OK || !code) {
		free(code);
		return status != STATUS_OK ? status
					   : error_set(error, STATUS_NO_MEMORY, "out of memory");
	}
	at = text;
	while ((!remote->gadget || !*pop) && maps_next(&at, &map)) {
		const uint64_t size =
			map.end - map.start < SCAN_MAX ? map.end - map.start : SCAN_MAX;
		ssize_t n;

		if (!(map.protection & PROT_EXEC) || !strncmp(map.path, "[vsyscall", 9))
			continue;
		n = sys_pread_full(remote->sys, remote->memory_fd, code, size, (off_t)map.start);
		if (n <= 0)
			continue;
		if (!remote->gadget)
			remote->gadget = bytes_find(code, (size_t)n, map.start, call_bytes,
						    sizeof(call_bytes));
		if (!*pop)
			*pop = bytes_find(code, (size_t)n, map.start, pop_bytes, sizeof(pop_bytes));
	}
	free(text);
	free(code);
	if (!remote->gadget || !*pop)
		return error_set(
			error, STATUS_UNSUPPORTED,
			"process %d holds no instructions (syscall; ret) by which it could "
			"be asked for memory",
			remote->pid);
	return STATUS_OK;
}

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

static enum status chain_write(struct remote *remote, uint64_t pop, struct error *error)
{
	const struct user_regs_struct *user = &remote->registers.user;
	struct {
		uint64_t pop_rax, number, gadget;
		struct kernel_context context;
	} chain;
	uint8_t *state = calloc(1, XSTATE_MAX);
	const size_t size = state ? state_read(remote->tid, state) : 0;
	uint64_t state_at;
	int result = -EIO;

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

enum status remote_begin(struct remote *remote, const struct sys *sys, pid_t pid,
			 const struct tracee *thread, int memory_fd, struct error *error)
{
	uint64_t pop = 0, all = ~UINT64_C(0);
	enum status status;

	*remote = (struct remote){
		.sys = sys, .pid = pid, .tid = thread->tid, .memory_fd = memory_fd
	};
	if (!registers_get(remote->tid, &remote->registers) ||
	    ptrace(PTRACE_GETSIGMASK, remote->tid, (void *)8, &remote->mask) < 0)
		return error_set_errno(error, STATUS_IO, errno,
				       "cannot read the registers of thread %d", remote->tid);
	status = gadgets_find(remote, &pop, error);
	if (status == STATUS_OK)
		status = chain_write(remote, pop, error);
	if (status != STATUS_OK)
		return status;
	if (ptrace(PTRACE_SETSIGMASK, remote->tid, (void *)8, &all) < 0)
		return error_set_errno(error, STATUS_IO, errno,
				       "cannot block the signals of thread %d", remote->tid);
	return STATUS_OK;
}

#else

enum status remote_begin(struct remote *remote, const struct sys *sys, pid_t pid,
			 const struct tracee *thread, int memory_fd, struct error *error)
{
	(void)remote, (void)sys, (void)pid, (void)thread, (void)memory_fd;
	return error_set(error, STATUS_UNSUPPORTED,
			 "probes on this architecture are not in this version");
}

#endif

/* Lets the thread run to its next system-call stop. */
static enum status call_step(struct remote *remote, struct error *error)
{
	int status, answer;

	if (ptrace(PTRACE_SYSCALL, remote->tid, NULL, NULL) < 0)
		return error_set_errno(error, STATUS_NOT_FOUND, errno, "thread %d is gone",
				       remote->tid);
	answer = tracee_wait(remote->sys, remote->tid, &status, CALL_WAIT_NS);
	if (answer != 1)
		return error_set(error, STATUS_NOT_FOUND, "thread %d ended during an injected call",
				 remote->tid);
	if (WSTOPSIG(status) != (SIGTRAP | 0x80))
		return error_set(error, STATUS_IO,
				 "thread %d stopped with signal %d during an injected call",
				 remote->tid, WSTOPSIG(status) & 0x7f);
	return STATUS_OK;
}

enum status remote_call(struct remote *remote, long number, const uint64_t arguments[6],
			int64_t *result, struct error *error)
{
	struct registers registers = remote->registers;
	enum status status;

	registers_prepare_call(&registers, remote->gadget, remote->stack, number, arguments);
	if (!registers_set(remote->tid, &registers))
		return error_set_errno(error, STATUS_IO, errno,
				       "cannot set the registers of thread %d", remote->tid);
	status = call_step(remote, error);
	if (status == STATUS_OK)
		status = call_step(remote, error);
	if (status != STATUS_OK)
		return status;
	if (!registers_get(remote->tid, &registers))
		return error_set(error, STATUS_NOT_FOUND, "thread %d is gone", remote->tid);
	*result = registers_result(&registers);
	return STATUS_OK;
}

enum status remote_end(struct remote *remote, struct error *error)
{
	int status = 0, answer;

	/* A stop of our own before the thread is in user mode again: from there the kernel restarts what
	 * it had interrupted. */
	ptrace(PTRACE_INTERRUPT, remote->tid, NULL, NULL);
	ptrace(PTRACE_CONT, remote->tid, NULL, NULL);
	answer = tracee_wait(remote->sys, remote->tid, &status, CALL_WAIT_NS);
	if (answer != 1)
		return error_set(error, STATUS_NOT_FOUND, "thread %d ended during injected calls",
				 remote->tid);
	if (!registers_set(remote->tid, &remote->registers) ||
	    ptrace(PTRACE_SETSIGMASK, remote->tid, (void *)8, &remote->mask) < 0)
		return error_set_errno(error, STATUS_IO, errno,
				       "cannot restore the registers of thread %d", remote->tid);
	return STATUS_OK;
}
