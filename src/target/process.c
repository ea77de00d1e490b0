/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "target/process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/directory.h"

#define PROC_MAX_NAMES 4194304 /* the kernel's largest pid */

static int id_order(const void *a, const void *b)
{
	const pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return x < y ? -1 : x > y;
}

/* The names of a directory that are numbers. */
static enum status ids_list(const struct sys *sys, const char *path, size_t maximum, pid_t **ids,
			    size_t *n, struct error *error)
{
	struct directory names;
	enum status status = directory_list(&names, sys, AT_FDCWD, path, maximum, error);

	*ids = NULL;
	*n = 0;
	if (status != STATUS_OK)
		return status;
	*ids = malloc((names.n + 1) * sizeof(**ids));
	if (!*ids) {
		directory_release(&names);
		return error_set(error, STATUS_NO_MEMORY, "no memory to list %s", path);
	}
	for (size_t i = 0; i < names.n; i++)
		if (names.names[i][0] >= '1' && names.names[i][0] <= '9')
			(*ids)[(*n)++] = (pid_t)strtol(names.names[i], NULL, 10);
	directory_release(&names);
	qsort(*ids, *n, sizeof(**ids), id_order);
	return STATUS_OK;
}

enum status process_threads(const struct sys *sys, pid_t pid, pid_t **tids, size_t *n,
			    struct error *error)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	return ids_list(sys, path, PROCESS_MAX_THREADS, tids, n, error);
}

enum status process_list(const struct sys *sys, pid_t **pids, size_t *n, struct error *error)
{
	return ids_list(sys, "/proc", PROC_MAX_NAMES, pids, n, error);
}

enum status process_check(const struct sys *sys, pid_t pid, struct error *error)
{
	const int result = sys->kill(sys->state, pid, 0);

	if (result == -ESRCH)
		return error_set(error, STATUS_NOT_FOUND,
				 "no process or thread %d: it may have ended (see ps -eL)",
				 (int)pid);
	return STATUS_OK;
}

/* One line of /proc/PID/NAME; false when the process is gone. */
static bool proc_read(const struct sys *sys, pid_t pid, const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = sys->openat(sys->state, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return false;
	n = sys_read_full(sys, fd, text, size - 1);
	sys->close(sys->state, fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	return true;
}

pid_t process_of_thread(const struct sys *sys, pid_t tid)
{
	char text[4096], *at;

	if (!proc_read(sys, tid, "status", text, sizeof(text)))
		return -1;
	at = strstr(text, "\nTgid:");
	return at ? (pid_t)strtol(at + strlen("\nTgid:"), NULL, 10) : -1;
}

/* "NSpid:\t<outermost>\t...\t<innermost>" */
pid_t process_inner_pid(const struct sys *sys, pid_t pid)
{
	char text[16384], *line, *last;
	long inner;

	if (!proc_read(sys, pid, "status", text, sizeof(text)))
		return pid;
	line = strstr(text, "\nNSpid:");
	if (!line)
		return pid;
	*strchrnul(line + 1, '\n') = '\0';
	last = strrchr(line + 1, '\t');
	inner = last ? strtol(last, NULL, 10) : 0;
	return inner > 0 ? (pid_t)inner : pid;
}

void process_comm(const struct sys *sys, pid_t tid, char comm[PROCESS_COMM_BYTES])
{
	char text[64];

	comm[0] = '\0';
	if (!proc_read(sys, tid, "comm", text, sizeof(text)))
		return;
	text[strcspn(text, "\n")] = '\0';
	text[PROCESS_COMM_BYTES - 1] = '\0';
	memcpy(comm, text, strlen(text) + 1);
}

/* Field `number` (from 3 on, as in proc(5)) of /proc/PID/stat: what follows the last ')', since a
 * command name may hold any character. */
static bool stat_field(const struct sys *sys, pid_t pid, int number, unsigned long long *value)
{
	char text[1024], *at;

	if (!proc_read(sys, pid, "stat", text, sizeof(text)))
		return false;
	at = strrchr(text, ')');
	for (int field = 2; at && field < number; field++)
		at = strchr(at + 1, ' ');
	if (!at)
		return false;
	*value = strtoull(at, NULL, 10);
	return true;
}

pid_t process_parent(const struct sys *sys, pid_t pid)
{
	unsigned long long parent;

	return stat_field(sys, pid, 4, &parent) ? (pid_t)parent : -1;
}

/* MAKE_PROCESS_CPUCLOCK(pid, CPUCLOCK_SCHED): bits 3.. hold ~pid, bit 2 says thread, bits 0-1 = 2. */
static uint64_t cpu_clock_ns(const struct sys *sys, pid_t id, unsigned int per_thread)
{
	const clockid_t clock = (clockid_t)((~(unsigned int)id << 3) | per_thread << 2 | 2);
	struct timespec now;

	if (sys->clock_gettime(sys->state, clock, &now) < 0)
		return 0;
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t process_cpu_ns(const struct sys *sys, pid_t pid)
{
	return cpu_clock_ns(sys, pid, 0);
}

/* The kernel refuses the thread clocks of other processes; /proc has them. */
uint64_t thread_cpu_ns(const struct sys *sys, pid_t tid)
{
	char text[128];

	if (!proc_read(sys, tid, "schedstat", text, sizeof(text)))
		return 0;
	return strtoull(text, NULL, 10);
}

uint64_t process_waited_children_ns(const struct sys *sys, pid_t pid)
{
	const long ticks_per_second = sysconf(_SC_CLK_TCK);
	unsigned long long user, system;

	if (ticks_per_second <= 0 || !stat_field(sys, pid, 16, &user) ||
	    !stat_field(sys, pid, 17, &system))
		return 0;
	return (user + system) * (1000000000u / (unsigned long long)ticks_per_second);
}
