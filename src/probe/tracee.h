/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The threads of one process, stopped for a moment: by PTRACE_SEIZE and PTRACE_INTERRUPT, so that no signal
 * is sent and job control is not disturbed.
 *
 * A thread that was blocked in a system call goes on with it: most calls restart by themselves; those
 * that would return EINTR (epoll_wait, sigtimedwait, semtimedop, recv with a timeout, io_uring_enter ...) are
 * set back to the instruction that makes the call, unless a signal waits for the thread. Their timeout then
 * starts anew. Source: ptrace(2), signal(7) "Interruption of system calls"; kernel/signal.c get_signal.
 *
 * Used by the guardian alone. What it holds when it dies, the kernel lets run on.
 */
#ifndef ASSAY_PROBE_TRACEE_H
#define ASSAY_PROBE_TRACEE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"
#include "base/sys.h"
#include "probe/registers.h"

#define TRACEE_MAX_THREADS 65536u
#define TRACEE_WAIT_NS     UINT64_C(3000000000) /* for one thread to stop */

struct tracee {
	pid_t tid;
	bool stopped;
	bool plain; /* stopped by our own request, not on its way into a signal handler */
	bool gone;
	int status; /* of its stop, as waitpid has it */
	int signal; /* that was about to be delivered, and will be */
	uint64_t pc, sp;
	uint64_t thread;            /* thread pointer (fs base, TPIDR_EL0), 0: none */
	uint64_t state;             /* gs base */
	struct registers_call call; /* that it was blocked in before */
};

/* A guardian that stays attached to all threads of several processes (follow.h): while it waits for the threads of one
 * to stop it must deal with the others, for which some of them may be waiting. */
struct tracees_keeper {
	void *data;
	/* As tracee_wait; what threads of other processes than `pid` wait for is dealt with meanwhile. */
	int (*wait)(void *data, pid_t pid, pid_t tid, int *status, uint64_t timeout_ns);
	/* Lets a thread go on from its stop. */
	void (*go_on)(void *data, pid_t tid, int status);
};

struct tracees {
	const struct sys *sys;
	pid_t pid;
	const struct tracees_keeper *keeper; /* NULL: they are detached when they go on */
	struct tracee *threads;
	size_t n, capacity;
};

/* Stops every thread, also those that are born meanwhile, and reads their registers. On failure nothing is
 * left stopped. `only` not 0: that one thread. `keeper`: stays attached, NULL: does not. */
MUST_CHECK enum status tracees_stop(struct tracees *tracees, const struct sys *sys, pid_t pid,
				    pid_t only, const struct tracees_keeper *keeper,
				    struct error *error);

/* All that one who stays attached has to be told of. */
#define TRACEE_STAY                                                                            \
	(PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | \
	 PTRACE_O_TRACESYSGOOD)

/* Lets all run on, signals included, and releases the memory. */
void tracees_resume(struct tracees *tracees);

/* Sets the base that %gs addresses of a stopped thread mean. */
MUST_CHECK enum status tracee_set_state(const struct tracee *thread, uint64_t state,
					struct error *error);

/* One stopped thread, chosen for remote calls: NULL when all are on their way into signal handlers. */
struct tracee *tracees_for_calls(struct tracees *tracees);

/* Waits for a stop or the end of a thread, at most `timeout_ns`: 1 stopped (*status as waitpid has it), 0 it
 * ended, -1 time is over. */
int tracee_wait(const struct sys *sys, pid_t tid, int *status, uint64_t timeout_ns);

#endif
