/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A scripted kernel for what opens events: a rule decides which attributes open, and
 * perf_event_paranoid reads as set. Everything else goes to the real one.
 */
#ifndef ASSAY_TESTS_UNIT_EVENT_KERNEL_H
#define ASSAY_TESTS_UNIT_EVENT_KERNEL_H

#include <errno.h>
#include <string.h>

#include "unit/event/machine.h"

#define KERNEL_FD 9999 /* every event that opened, and the paranoid file */

struct kernel {
	struct sys sys;
	/* 0, or the positive errno */
	int (*open_rule)(const struct kernel *kernel, const struct perf_event_attr *attr);
	const char *paranoid; /* text of the file; NULL: it does not exist */
	const char *sysfs;    /* takes the place of /sys */
	unsigned int n_opened, n_open;
	size_t read_at;
};

static inline int kernel_perf_event_open(void *state, struct perf_event_attr *attr, pid_t pid,
					 int cpu, int group_fd, unsigned long flags)
{
	struct kernel *kernel = state;
	const int os_errno = kernel->open_rule(kernel, attr);

	(void)pid;
	(void)cpu;
	(void)group_fd;
	(void)flags;
	kernel->n_opened++;
	if (os_errno)
		return -os_errno;
	kernel->n_open++;
	return KERNEL_FD;
}

static inline int kernel_openat(void *state, int dir_fd, const char *path, int flags, mode_t mode)
{
	struct kernel *kernel = state;
	char there[1024];

	if (!strcmp(path, "/proc/sys/kernel/perf_event_paranoid")) {
		kernel->read_at = 0;
		kernel->n_open += kernel->paranoid != NULL;
		return kernel->paranoid ? KERNEL_FD : -ENOENT;
	}
	if (kernel->sysfs && !strncmp(path, "/sys/", 5)) {
		snprintf(there, sizeof(there), "%s/%s", kernel->sysfs, path + 5);
		path = there;
	}
	return sys_real()->openat(NULL, dir_fd, path, flags, mode);
}

static inline ssize_t kernel_read(void *state, int fd, void *buffer, size_t size)
{
	struct kernel *kernel = state;
	size_t left;

	if (fd != KERNEL_FD)
		return sys_real()->read(NULL, fd, buffer, size);
	left = strlen(kernel->paranoid) - kernel->read_at;
	size = size < left ? size : left;
	memcpy(buffer, kernel->paranoid + kernel->read_at, size);
	kernel->read_at += size;
	return (ssize_t)size;
}

static inline int kernel_close(void *state, int fd)
{
	if (fd != KERNEL_FD)
		return sys_real()->close(NULL, fd);
	((struct kernel *)state)->n_open--;
	return 0;
}

static inline void kernel_init(struct kernel *kernel,
			       int (*open_rule)(const struct kernel *kernel,
						const struct perf_event_attr *attr),
			       const char *paranoid)
{
	*kernel =
		(struct kernel){ .sys = *sys_real(), .open_rule = open_rule, .paranoid = paranoid };
	kernel->sys.state = kernel;
	kernel->sys.perf_event_open = kernel_perf_event_open;
	kernel->sys.openat = kernel_openat;
	kernel->sys.read = kernel_read;
	kernel->sys.close = kernel_close;
}

#endif
