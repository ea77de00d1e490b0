/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lint: seam because ptrace and wait act on real threads whatever the table is
 */
#include "probe/tracee.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "base/array.h"
#include "probe/registers.h"
#include "target/process.h"

#define POLL_NS      20000
#define GATHER_TURNS 64u /* passes over the task list until no new thread is found */

int tracee_wait(const struct sys *sys, pid_t tid, int *status, uint64_t timeout_ns)
{
	const uint64_t start = sys_now_ns(sys);

	for (unsigned int turn = 0;; turn++) {
		const pid_t got = waitpid(tid, status, __WALL | WNOHANG);

		if (got == tid)
			return WIFSTOPPED(*status) ? 1 : 0;
		if (got < 0 && errno != EINTR)
			return 0;
		if (sys_now_ns(sys) - start > timeout_ns)
			return -1;
		if (turn > 50) {
			const struct timespec pause = { 0, POLL_NS };

			nanosleep(&pause, NULL);
		} else {
			sched_yield();
		}
	}
}

static struct tracee *tracee_find(struct tracees *tracees, pid_t tid)
{
	for (size_t i = 0; i < tracees->n; i++) {
		if (tracees->threads[i].tid == tid)
			return &tracees->threads[i];
	}
	return NULL;
}

static enum status seize_failed(pid_t pid, pid_t tid, int reason, struct error *error)
{
	if (reason == EPERM)
		return error_set_errno(
			error, STATUS_PERMISSION, reason,
			"may not attach to thread %d of process %d (needs CAP_SYS_PTRACE or the "
			"same "
			"user; kernel.yama.ptrace_scope 0; no other tracer such as a debugger)",
			tid, pid);
	return error_set_errno(error, status_from_errno(reason), reason,
			       "cannot attach to thread %d of process %d", tid, pid);
}

/* A main thread that has left by pthread_exit stays in the list. */
static bool thread_has_ended(const struct tracees *tracees, pid_t tid)
{
	char path[64], *text, *name_end;
	bool ended = true;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", tracees->pid, tid);
	if (sys_read_file(tracees->sys, -1, path, 4096, &text, NULL, NULL) != STATUS_OK)
		return true;
	name_end = strrchr(text, ')');
	if (name_end && name_end[1] && name_end[2] != 'Z' && name_end[2] != 'X')
		ended = false;
	free(text);
	return ended;
}

/* Attaches to a thread and asks it to stop. True when it was new. */
static enum status tracee_seize(struct tracees *tracees, pid_t tid, bool *new, struct error *error)
{
	const long options =
		tracees->keeper ? TRACEE_STAY : PTRACE_O_TRACECLONE | PTRACE_O_TRACESYSGOOD;
	struct registers_call call;

	*new = false;
	if (tracee_find(tracees, tid))
		return STATUS_OK;
	registers_call_before(tracees->sys, tracees->pid, tid, &call);
	if (tracees->n >= TRACEE_MAX_THREADS ||
	    !array_reserve(&tracees->threads, &tracees->capacity, tracees->n + 1))
		return error_set(error, STATUS_LIMIT, "process %d has too many threads",
				 tracees->pid);
	if (ptrace(PTRACE_SEIZE, tid, NULL, (void *)options) < 0) {
		const int reason = errno;

		if (reason == ESRCH || thread_has_ended(tracees, tid))
			return STATUS_OK;
		/* a thread born of one that we hold is ours already */
		if (reason != EPERM || ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) < 0)
			return seize_failed(tracees->pid, tid, reason, error);
	} else {
		ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
	}
	tracees->threads[tracees->n++] = (struct tracee){ .tid = tid, .call = call };
	*new = true;
	return STATUS_OK;
}

/* A signal that waits for this thread: then an interrupted call must return EINTR. */
static bool signal_waits(const struct tracees *tracees, pid_t tid)
{
	char path[64], *text, *line;
	unsigned long long pending = 0, blocked = 0, value;
	char name[8];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", tracees->pid, tid);
	if (sys_read_file(tracees->sys, -1, path, 1u << 20, &text, NULL, NULL) != STATUS_OK)
		return true;
	for (line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (sscanf(line, "%7[A-Za-z]:\t%llx", name, &value) != 2)
			continue;
		if (!strcmp(name, "SigPnd") || !strcmp(name, "ShdPnd"))
			pending |= value;
		else if (!strcmp(name, "SigBlk"))
			blocked = value;
	}
	free(text);
	return pending & ~blocked;
}

static void tracee_read(struct tracees *tracees, struct tracee *thread)
{
	struct registers registers;

	if (!registers_get(thread->tid, &registers)) {
		thread->gone = true;
		return;
	}
	if (thread->plain && registers_call_was_cut(&registers, &thread->call) &&
	    !signal_waits(tracees, thread->tid)) {
		registers_call_again(&registers, &thread->call);
		registers_set(thread->tid, &registers);
	}
	thread->pc = registers_pc(&registers);
	thread->sp = registers_sp(&registers);
	thread->thread = registers_thread(&registers);
	thread->state = registers_state(&registers);
}

static int stop_wait(const struct tracees *tracees, pid_t tid, int *status)
{
	const struct tracees_keeper *keeper = tracees->keeper;

	return keeper ? keeper->wait(keeper->data, tracees->pid, tid, status, TRACEE_WAIT_NS)
		      : tracee_wait(tracees->sys, tid, status, TRACEE_WAIT_NS);
}

static enum status tracee_gather(struct tracees *tracees, struct tracee *thread,
				 struct error *error)
{
	int status = 0;
	const int answer = stop_wait(tracees, thread->tid, &status);

	if (answer < 0)
		return error_set(
			error, STATUS_UNSUPPORTED,
			"thread %d of process %d does not stop (it waits in the kernel, for a "
			"vfork child or a device)",
			thread->tid, tracees->pid);
	if (answer == 0) {
		thread->gone = true;
		return STATUS_OK;
	}
	thread->stopped = true;
	thread->status = status;
	if (status >> 16 == PTRACE_EVENT_STOP)
		thread->plain = WSTOPSIG(status) == SIGTRAP;
	else if (status >> 16 == 0)
		thread->signal = WSTOPSIG(status);
	tracee_read(tracees, thread);
	return STATUS_OK;
}

static enum status tracees_pass(struct tracees *tracees, pid_t only, bool *any, struct error *error)
{
	pid_t *tids = NULL;
	size_t n = 0;
	bool new;
	enum status status = STATUS_OK;

	*any = false;
	if (only)
		return tracee_seize(tracees, only, any, error);
	status = process_threads(tracees->sys, tracees->pid, &tids, &n, error);
	for (size_t i = 0; status == STATUS_OK && i < n; i++) {
		status = tracee_seize(tracees, tids[i], &new, error);
		*any |= new;
	}
	free(tids);
	return status;
}

enum status tracees_stop(struct tracees *tracees, const struct sys *sys, pid_t pid, pid_t only,
			 const struct tracees_keeper *keeper, struct error *error)
{
	bool any = true;
	enum status status = STATUS_OK;

	*tracees = (struct tracees){ .sys = sys, .pid = pid, .keeper = keeper };
	for (unsigned int turn = 0; status == STATUS_OK && any && turn < GATHER_TURNS; turn++) {
		status = tracees_pass(tracees, only, &any, error);
		for (size_t i = 0; status == STATUS_OK && i < tracees->n; i++) {
			if (!tracees->threads[i].stopped && !tracees->threads[i].gone)
				status = tracee_gather(tracees, &tracees->threads[i], error);
		}
		if (only)
			break;
	}
	if (status == STATUS_OK && any && !only)
		status = error_set(error, STATUS_LIMIT,
				   "process %d makes threads faster than they can be stopped", pid);
	if (status == STATUS_OK && !tracees_for_calls(tracees) && only)
		status = error_set(error, STATUS_NOT_FOUND,
				   "thread %d of process %d has ended, or is stopped by a signal",
				   only, pid);
	if (status != STATUS_OK)
		tracees_resume(tracees);
	return status;
}

void tracees_resume(struct tracees *tracees)
{
	const struct tracees_keeper *keeper = tracees->keeper;

	for (size_t i = 0; i < tracees->n; i++) {
		struct tracee *thread = &tracees->threads[i];
		int status = 0;

		if (thread->gone)
			continue;
		if (keeper) { /* one that has not come to its stop does so later */
			if (thread->stopped)
				keeper->go_on(keeper->data, thread->tid, thread->status);
			continue;
		}
		if (!thread->stopped &&
		    tracee_wait(tracees->sys, thread->tid, &status, TRACEE_WAIT_NS) == 1 &&
		    status >> 16 == 0)
			thread->signal = WSTOPSIG(status);
		/* one that was killed meanwhile is ours to reap before its parent can */
		if (ptrace(PTRACE_DETACH, thread->tid, NULL, (void *)(long)thread->signal) < 0)
			(void)!tracee_wait(tracees->sys, thread->tid, &status, TRACEE_WAIT_NS);
	}
	free(tracees->threads);
	*tracees = (struct tracees){ .sys = tracees->sys, .pid = tracees->pid };
}

struct tracee *tracees_for_calls(struct tracees *tracees)
{
	for (size_t i = 0; i < tracees->n; i++) {
		if (tracees->threads[i].stopped && !tracees->threads[i].gone &&
		    tracees->threads[i].plain)
			return &tracees->threads[i];
	}
	return NULL;
}

enum status tracee_set_state(const struct tracee *thread, uint64_t state, struct error *error)
{
	struct registers registers;

	if (!registers_get(thread->tid, &registers))
		return STATUS_OK; /* killed meanwhile */
	registers_set_state(&registers, state);
	if (!registers_set(thread->tid, &registers) && errno != ESRCH)
		return error_set_errno(error, STATUS_IO, errno,
				       "cannot set the gs base of thread %d", thread->tid);
	return STATUS_OK;
}
