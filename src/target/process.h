/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What /proc says about a live process. Everything here races with the process's end: "not found" is
 * an ordinary answer, not a fault.
 */
#ifndef ASSAY_TARGET_PROCESS_H
#define ASSAY_TARGET_PROCESS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"
#include "base/sys.h"

#define PROCESS_MAX_THREADS 131072
#define PROCESS_COMM_BYTES  16 /* TASK_COMM_LEN */

/* The thread ids of a process, in ascending order; *tids is freed by the caller. */
MUST_CHECK enum status process_threads(const struct sys *sys, pid_t pid, pid_t **tids, size_t *n,
				       struct error *error);

/* Every process id in /proc, ascending; *pids is freed by the caller. */
MUST_CHECK enum status process_list(const struct sys *sys, pid_t **pids, size_t *n,
				    struct error *error);

/* Fails with "no process PID" or "no permission", ready to print. */
MUST_CHECK enum status process_check(const struct sys *sys, pid_t pid, struct error *error);

/* The process that thread `tid` belongs to, -1 when there is no such thread. */
pid_t process_of_thread(const struct sys *sys, pid_t tid);

/* The pid that a process has in its own pid namespace, by which it and its tools name files; `pid` itself when
 * unknown. */
pid_t process_inner_pid(const struct sys *sys, pid_t pid);

/* Empty when the thread is gone. */
void process_comm(const struct sys *sys, pid_t tid, char comm[PROCESS_COMM_BYTES]);

/* The parent, -1 when the process is gone. */
pid_t process_parent(const struct sys *sys, pid_t pid);

/* CPU time of a living process, all its threads, ended ones included: exact to the ns, through the
 * process's CPU clock (the id layout is ABI: include/linux/posix-timers_types.h). 0 when gone. */
uint64_t process_cpu_ns(const struct sys *sys, pid_t pid);

/* The same for one thread. */
uint64_t thread_cpu_ns(const struct sys *sys, pid_t tid);

/* CPU time of children that the process has waited for, in clock ticks of /proc (10 ms). */
uint64_t process_waited_children_ns(const struct sys *sys, pid_t pid);

#endif
