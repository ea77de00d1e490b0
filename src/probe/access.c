/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sources: ptrace(2) "Ptrace access mode checking", Documentation/admin-guide/LSM/Yama.rst.
 */
#include "probe/access.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "probe/guardian.h"
#include "target/process.h"

#define GUARDIAN_TRIES   300u
#define GUARDIAN_WAIT_NS 10000000

/* The first number of a line of /proc/PID/status; -1 when it cannot be read. */
static long status_number(const struct sys *sys, pid_t pid, const char *name)
{
	char path[64], *text, *at;
	long value = -1;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	if (sys_read_file(sys, -1, path, 1u << 20, &text, NULL, NULL) != STATUS_OK)
		return -1;
	at = strstr(text, name);
	if (at)
		value = strtol(at + strlen(name), NULL, 10);
	free(text);
	return value;
}

static enum status tracer_check(const struct sys *sys, pid_t pid, struct error *error)
{
	const struct timespec pause = { 0, GUARDIAN_WAIT_NS };
	char comm[PROCESS_COMM_BYTES] = "";
	long tracer = 0;

	for (unsigned int i = 0; i < GUARDIAN_TRIES; i++) {
		tracer = status_number(sys, pid, "\nTracerPid:");
		if (tracer <= 0)
			return STATUS_OK;
		process_comm(sys, (pid_t)tracer, comm);
		if (strcmp(comm, GUARDIAN_COMM) != 0)
			break;
		nanosleep(&pause, NULL);
	}
	return error_set(error, STATUS_PERMISSION,
			 "process %d is traced by process %ld (%s) already, and the kernel allows "
			 "one tracer: end that first",
			 pid, tracer, *comm ? comm : "a debugger");
}

static enum status refused(const struct sys *sys, pid_t pid, int reason, struct error *error)
{
	const long user = status_number(sys, pid, "\nUid:");
	long scope = 0;
	char *text;

	if (reason == ENOENT || reason == ESRCH)
		return error_set_errno(error, STATUS_NOT_FOUND, reason, "process %d has ended",
				       pid);
	if (user >= 0 && (uid_t)user != geteuid())
		return error_set_errno(error, STATUS_PERMISSION, reason,
				       "process %d belongs to user %ld: run assay as that user, or "
				       "with CAP_SYS_PTRACE (as root)",
				       pid, user);
	if (sys_read_file(sys, -1, "/proc/sys/kernel/yama/ptrace_scope", 64, &text, NULL, NULL) ==
	    STATUS_OK) {
		scope = strtol(text, NULL, 10);
		free(text);
	}
	if (scope > 0)
		return error_set_errno(
			error, STATUS_PERMISSION, reason,
			"process %d may not be traced: kernel.yama.ptrace_scope is %ld; set it to "
			"0, launch the program by assay, or run assay with CAP_SYS_PTRACE",
			pid, scope);
	return error_set_errno(error, STATUS_PERMISSION, reason,
			       "process %d may not be traced: it is not dumpable (it has changed "
			       "its user, or PR_SET_DUMPABLE), or a security module forbids it; "
			       "CAP_SYS_PTRACE may help",
			       pid);
}

enum status access_check(const struct sys *sys, pid_t pid, struct error *error)
{
	char path[64];
	int fd;
	enum status status = process_check(sys, pid, error);

	if (status == STATUS_OK)
		status = tracer_check(sys, pid, error);
	if (status != STATUS_OK)
		return status;
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	fd = sys->openat(sys->state, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
	if (fd < 0)
		return refused(sys, pid, -fd, error);
	sys->close(sys->state, fd);
	return STATUS_OK;
}
