/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The guardian's way with a followed process that has called exec: through the loader to its entry point, as
 * work_entry.c does with a launched target, but without waiting for it, since a loader may itself wait for a process that
 * is followed, too.
 *
 *	WORK_LOADS	the trap is at the entry; the thread is stopped and looked at now and then
 *	WORK_STARTS	a static program has no thread pointer yet: it runs from system call to system call
 *	WORK_SETTLES	a stop of our own is due, from which the thread can be asked for calls
 *	WORK_IS_HELD	there
 *
 * lint: seam because ptrace acts on real threads whatever the table is
 */
#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>

#include "probe/guardian_work.h"
#include "probe/machine.h"
#include "probe/registers.h"

#define LOOK_FIRST_NS UINT64_C(200000)
#define LOOK_MOST_NS  UINT64_C(5000000)
#define MAX_CALLS     100000u

/* A 32-bit program has other registers and system calls. */
static bool is_our_machine(const struct work *work)
{
	unsigned char ident[EI_NIDENT] = "";
	uint16_t kind[2] = { 0 }; /* e_type, e_machine */
	char path[64];
	bool good;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/exe", work->pid);
	fd = work->sys->openat(work->sys->state, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return false;
	good = sys_pread_full(work->sys, fd, ident, sizeof(ident), 0) == (ssize_t)sizeof(ident) &&
	       sys_pread_full(work->sys, fd, kind, sizeof(kind), EI_NIDENT) ==
		       (ssize_t)sizeof(kind) &&
	       ident[EI_CLASS] == ELFCLASS64 && kind[1] == MACHINE;
	work->sys->close(work->sys->state, fd);
	return good;
}

enum status work_load_begin(struct work *work, struct error *error)
{
	enum status status;

	work->load = (struct work_load){ .pause_ns = LOOK_FIRST_NS };
	if (!is_our_machine(work))
		return error_set(error, STATUS_UNSUPPORTED,
				 "a program for another machine, or not to be read");
	status = work_open(work, error);
	if (status == STATUS_OK)
		status = work_trap_set(work, error);
	if (status != STATUS_OK)
		return status;
	work->load.due_ns = sys_now_ns(work->sys) + LOOK_FIRST_NS;
	work->stage = WORK_LOADS;
	return STATUS_OK;
}

uint64_t work_load_look(struct work *work, uint64_t now_ns)
{
	struct work_load *load = &work->load;

	if (work->stage != WORK_LOADS || load->asked)
		return UINT64_MAX;
	if (now_ns < load->due_ns)
		return load->due_ns;
	load->asked = ptrace(PTRACE_INTERRUPT, work->pid, NULL, NULL) == 0;
	return UINT64_MAX;
}

static void go_on(const struct work *work)
{
	ptrace(work->stage == WORK_STARTS ? PTRACE_SYSCALL : PTRACE_CONT, work->pid, NULL, NULL);
}

/* Stopped on its way, or there. */
static void loads_stop(struct work *work, struct registers *registers)
{
	const struct registers_call none = { .number = -1 };
	struct work_load *load = &work->load;

	load->asked = false;
	if (registers_pc(registers) == load->entry) {
		work_trap_clear(work);
		work->stage = registers_thread(registers) ? WORK_IS_HELD : WORK_STARTS;
		load->entering = true;
		return;
	}
	if (registers_call_was_cut(registers, &none)) {
		registers_call_again(registers, &none);
		(void)!registers_set(work->pid, registers);
	}
	load->pause_ns =
		load->pause_ns * 3 / 2 < LOOK_MOST_NS ? load->pause_ns * 3 / 2 : LOOK_MOST_NS;
	load->due_ns = sys_now_ns(work->sys) + load->pause_ns;
}

static enum status starts_call(struct work *work, const struct registers *registers,
			       struct error *error)
{
	struct work_load *load = &work->load;

	if (++load->calls > MAX_CALLS)
		return error_set(error, STATUS_LIMIT, "it sets no thread pointer");
	load->entering = !load->entering;
	if (registers_thread(registers) && load->entering) {
		work->stage = WORK_SETTLES;
		ptrace(PTRACE_INTERRUPT, work->pid, NULL, NULL);
	}
	return STATUS_OK;
}

enum status work_load_stop(struct work *work, bool call, bool *there, struct error *error)
{
	struct registers registers;
	enum status status = STATUS_OK;

	*there = false;
	if (!registers_get(work->pid, &registers))
		return STATUS_OK; /* killed: its end will be seen */
	if (call && work->stage == WORK_STARTS)
		status = starts_call(work, &registers, error);
	else if (!call && work->stage == WORK_LOADS)
		loads_stop(work, &registers);
	else if (!call && work->stage == WORK_SETTLES)
		work->stage = WORK_IS_HELD;
	if (status == STATUS_OK && work->stage == WORK_IS_HELD)
		status = work_hold(work, error);
	*there = status == STATUS_OK && work->stage == WORK_IS_HELD;
	if (status != STATUS_OK)
		work->stage = WORK_RUNS;
	if (!*there)
		go_on(work);
	return status;
}
