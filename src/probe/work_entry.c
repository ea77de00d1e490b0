/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The guardian's steps for a target that assay launched: attached before exec, run to the program's entry point
 * (the loader has mapped and relocated all libraries by then; their constructors may have run), held there.
 *
 * The entry is held by two bytes, a jump to itself, written while the only thread stands at exec and taken away
 * when it has come there: hardware breakpoints do not work in every virtual machine, and single steps
 * through a loader take seconds. A guardian that is killed in these milliseconds leaves the command spinning
 * at its entry, never crashed. A static program sets its thread pointer after its entry: it runs on to that call.
 *
 * lint: seam because ptrace and wait act on real threads whatever the table is
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "code/insn.h"
#include "probe/follow.h"
#include "probe/guardian_work.h"
#include "probe/machine.h"
#include "probe/registers.h"

#define START_WAIT_NS UINT64_C(600000000000) /* a loader may wait for a file server */
#define LOOK_FIRST_NS 200000u
#define LOOK_MOST_NS  5000000u
#define MAX_CALLS     100000u

enum status work_open(struct work *work, struct error *error)
{
	char path[64];

	if (work->memory_fd >= 0)
		return STATUS_OK;
	snprintf(path, sizeof(path), "/proc/%d/mem", work->pid);
	work->memory_fd =
		work->sys->openat(work->sys->state, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
	if (work->memory_fd < 0)
		return error_set_errno(error, status_from_errno(-work->memory_fd), -work->memory_fd,
				       "cannot open the memory of process %d", work->pid);
	return STATUS_OK;
}

enum status work_stop(struct work *work, struct tracees *tracees, struct error *error)
{
	if (work->holding) {
		*tracees = work->held;
		return STATUS_OK;
	}
	return tracees_stop(tracees, work->sys, work->pid, 0, follow_keeper(work->follow), error);
}

void work_resume(struct work *work, struct tracees *tracees)
{
	if (!work->holding)
		tracees_resume(tracees);
}

enum status work_seize(struct work *work, struct error *error)
{
	work->pid = work->arena->pid;
	if (ptrace(PTRACE_SEIZE, work->pid, NULL,
		   (void *)(PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD)) < 0)
		return error_set_errno(error, STATUS_PERMISSION, errno,
				       "may not trace the command (kernel.yama.ptrace_scope, or a "
				       "container without CAP_SYS_PTRACE)");
	return STATUS_OK;
}

#if defined(__x86_64__)
static const uint8_t trap[] = { 0xeb, 0xfe }; /* jmp . */
#else
static const uint8_t trap[] = { 0x00, 0x00, 0x00, 0x14 }; /* b . */
#endif

static uint64_t entry_of(const struct work *work)
{
	char path[64], *text;
	size_t size;
	uint64_t entry = 0;

	snprintf(path, sizeof(path), "/proc/%d/auxv", work->pid);
	if (sys_read_file(work->sys, -1, path, 65536, &text, &size, NULL) != STATUS_OK)
		return 0;
	for (size_t at = 0; at + sizeof(Elf64_auxv_t) <= size; at += sizeof(Elf64_auxv_t)) {
		Elf64_auxv_t item;

		memcpy(&item, text + at, sizeof(item));
		if (item.a_type == AT_ENTRY)
			entry = item.a_un.a_val;
	}
	free(text);
	return entry;
}

/* Waits for the next stop that is no signal on its way; those are passed on. */
static enum status stop_wait(struct work *work, enum __ptrace_request how, int *status,
			     struct error *error)
{
	long signal = 0;

	for (;;) {
		int answer;

		if (ptrace(how, work->pid, NULL, (void *)signal) < 0)
			break;
		answer = tracee_wait(work->sys, work->pid, status, START_WAIT_NS);
		if (answer != 1)
			break;
		if (*status >> 16 || WSTOPSIG(*status) == SIGTRAP ||
		    WSTOPSIG(*status) == (SIGTRAP | 0x80))
			return STATUS_OK;
		signal = WSTOPSIG(*status);
	}
	return error_set(error, STATUS_NOT_FOUND, "the command ended before its entry point");
}

/* Lets the target run for a moment and stops it; it is told from where it stands whether it has come to `entry`. */
static enum status look(struct work *work, uint64_t pause_ns, uint64_t entry, bool *there,
			struct error *error)
{
	const struct timespec pause = { 0, (long)pause_ns };
	const struct registers_call none = { .number = -1 };
	struct registers registers;
	int status;
	enum status result;

	if (ptrace(PTRACE_CONT, work->pid, NULL, NULL) == 0)
		nanosleep(&pause, NULL);
	ptrace(PTRACE_INTERRUPT, work->pid, NULL, NULL);
	for (;;) {
		if (tracee_wait(work->sys, work->pid, &status, START_WAIT_NS) != 1)
			return error_set(error, STATUS_NOT_FOUND,
					 "the command ended before its entry point");
		if (status >> 16)
			break;
		/* a signal on its way; the stop that we asked for is still due */
		if (ptrace(PTRACE_CONT, work->pid, NULL, (void *)(long)WSTOPSIG(status)) < 0)
			return error_set(error, STATUS_NOT_FOUND,
					 "the command ended before its entry point");
	}
	result = registers_get(work->pid, &registers) ? STATUS_OK : STATUS_NOT_FOUND;
	*there = result == STATUS_OK && registers_pc(&registers) == entry;
	if (result == STATUS_OK && registers_call_was_cut(&registers, &none)) {
		registers_call_again(&registers, &none);
		(void)!registers_set(work->pid, &registers);
	}
	return result;
}

/* AArch64: a page of guarded code is entered by an instruction made for it (bti, paciasp), which must stay. */
static uint64_t behind_landing(const struct work *work, uint64_t entry)
{
	struct code_insn insn;
	uint8_t bytes[4];

	if (MACHINE == EM_AARCH64 &&
	    sys_pread_full(work->sys, work->memory_fd, bytes, sizeof(bytes), (off_t)entry) ==
		    (ssize_t)sizeof(bytes) &&
	    code_insn_decode(EM_AARCH64, bytes, sizeof(bytes), entry, &insn) &&
	    (insn.flags & CODE_LANDING))
		return entry + sizeof(bytes);
	return entry;
}

/* A jump to itself at the entry, for as long as the loader runs. */
enum status work_trap_set(struct work *work, struct error *error)
{
	struct work_load *load = &work->load;

	load->entry = behind_landing(work, entry_of(work));
	if (!load->entry ||
	    sys_pread_full(work->sys, work->memory_fd, load->original, sizeof(trap),
			   (off_t)load->entry) != (ssize_t)sizeof(trap) ||
	    sys_pwrite_all(work->sys, work->memory_fd, trap, sizeof(trap), (off_t)load->entry) < 0)
		return error_set(error, STATUS_UNSUPPORTED,
				 "cannot write to the command's entry point");
	load->trapped = true;
	return STATUS_OK;
}

void work_trap_clear(struct work *work)
{
	if (work->load.trapped)
		(void)!sys_pwrite_all(work->sys, work->memory_fd, work->load.original, sizeof(trap),
				      (off_t)work->load.entry);
	work->load.trapped = false;
}

static enum status run_to_trap(struct work *work, struct error *error)
{
	uint64_t pause_ns = LOOK_FIRST_NS;
	bool there = false;
	enum status result = work_trap_set(work, error);

	work->arena->entry = work->load.entry;
	while (result == STATUS_OK && !there) {
		result = look(work, pause_ns, work->load.entry, &there, error);
		pause_ns = pause_ns * 3 / 2 < LOOK_MOST_NS ? pause_ns * 3 / 2 : LOOK_MOST_NS;
	}
	work_trap_clear(work);
	return result;
}

/* On past the calls of the startup code until there is a thread pointer. */
static enum status run_to_thread_pointer(struct work *work, struct registers *registers,
					 struct error *error)
{
	enum status result = STATUS_OK;
	bool entering = true;
	int status;

	for (unsigned int n = 0; result == STATUS_OK && n < MAX_CALLS; n++) {
		if (!registers_get(work->pid, registers))
			return error_set(error, STATUS_NOT_FOUND, "the command has ended");
		if (registers_thread(registers) && entering)
			return STATUS_OK;
		result = stop_wait(work, PTRACE_SYSCALL, &status, error);
		if (result == STATUS_OK && WSTOPSIG(status) == (SIGTRAP | 0x80))
			entering = !entering;
	}
	return result;
}

/* A stop of our own kind, from which the thread can be asked for calls. */
static enum status settle(struct work *work, struct error *error)
{
	int status;

	ptrace(PTRACE_INTERRUPT, work->pid, NULL, NULL);
	return stop_wait(work, PTRACE_CONT, &status, error);
}

enum status work_hold(struct work *work, struct error *error)
{
	struct registers registers;

	if (!registers_get(work->pid, &registers))
		return error_set(error, STATUS_NOT_FOUND, "process %d has ended", work->pid);
	work->held = (struct tracees){ .sys = work->sys, .pid = work->pid };
	if (!array_reserve(&work->held.threads, &work->held.capacity, 1))
		return error_set(error, STATUS_NO_MEMORY, "out of memory");
	work->held.threads[work->held.n++] =
		(struct tracee){ .tid = work->pid,
				 .stopped = true,
				 .plain = true,
				 .pc = registers_pc(&registers),
				 .sp = registers_sp(&registers),
				 .thread = registers_thread(&registers),
				 .state = registers_state(&registers),
				 .call = { .number = -1 } };
	work->holding = true;
	return STATUS_OK;
}

enum status work_run_to_entry(struct work *work, struct error *error)
{
	struct registers registers;
	int status = 0;
	enum status result;

	if (tracee_wait(work->sys, work->pid, &status, START_WAIT_NS) != 1)
		return error_set(error, STATUS_NOT_FOUND, "the command could not be started");
	while (status >> 8 != (SIGTRAP | (PTRACE_EVENT_EXEC << 8))) {
		result = stop_wait(work, PTRACE_CONT, &status, error);
		if (result != STATUS_OK)
			return result;
	}
	result = work_open(work, error);
	if (result == STATUS_OK)
		result = run_to_trap(work, error);
	if (result == STATUS_OK)
		result = run_to_thread_pointer(work, &registers, error);
	if (result == STATUS_OK)
		result = settle(work, error);
	return result == STATUS_OK ? work_hold(work, error) : result;
}

enum status work_let_go(struct work *work, struct error *error)
{
	(void)error;
	if (work->holding)
		tracees_resume(&work->held);
	work->holding = false;
	return STATUS_OK;
}
