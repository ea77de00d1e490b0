/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The seam between assay and the kernel: every system call, the time and true randomness.
 *
 * Code takes a `const struct sys *` and calls through it; `sys_real()` is the kernel itself. A test
 * passes its own table and can script a hardware counter, fail the Nth call, run a clock by hand or
 * pretend 64 KiB pages. Nothing outside this folder calls the kernel directly for what the table
 * offers (tests/lint checks the calls that matter).
 *
 * Convention: results are those of the raw system call; failure is -errno (never errno itself).
 * `state` is for the table's owner and is passed back by every wrapper.
 */
#ifndef ASSAY_BASE_SYS_H
#define ASSAY_BASE_SYS_H

#include <linux/perf_event.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

#include "base/status.h"

struct sys {
	void *state;

	/* files */
	int (*openat)(void *state, int dir_fd, const char *path, int flags, mode_t mode);
	int (*close)(void *state, int fd);
	ssize_t (*read)(void *state, int fd, void *buffer, size_t size);
	ssize_t (*pread)(void *state, int fd, void *buffer, size_t size, off_t offset);
	ssize_t (*write)(void *state, int fd, const void *buffer, size_t size);
	ssize_t (*pwrite)(void *state, int fd, const void *buffer, size_t size, off_t offset);
	int (*fstat)(void *state, int fd, struct stat *stat);
	int (*fstatat)(void *state, int dir_fd, const char *path, struct stat *stat, int flags);
	int (*ftruncate)(void *state, int fd, off_t size);
	int (*mkdirat)(void *state, int dir_fd, const char *path, mode_t mode);
	int (*unlinkat)(void *state, int dir_fd, const char *path, int flags);
	int (*renameat)(void *state, int old_dir, const char *old_path, int new_dir,
			const char *new_path);
	int (*fchownat)(void *state, int dir_fd, const char *path, uid_t uid, gid_t gid, int flags);
	ssize_t (*getdents)(void *state, int fd, void *buffer, size_t size); /* getdents64(2) */

	/* memory */
	void *(*mmap)(void *state, void *address, size_t size, int prot, int flags, int fd,
		      off_t offset); /* MAP_FAILED on failure, with the reason in errno */
	int (*munmap)(void *state, void *address, size_t size);
	size_t (*page_size)(void *state);

	/* performance events */
	int (*perf_event_open)(void *state, struct perf_event_attr *attr, pid_t pid, int cpu,
			       int group_fd, unsigned long flags);
	int (*ioctl)(void *state, int fd, unsigned long request, void *argument);
	int (*ppoll)(void *state, struct pollfd *fds, nfds_t n, const struct timespec *timeout,
		     const sigset_t *mask);

	/* processes */
	int (*kill)(void *state, pid_t pid, int signal);

	/* time and randomness */
	int (*clock_gettime)(void *state, clockid_t clock, struct timespec *now);
	ssize_t (*getrandom)(void *state, void *buffer, size_t size, unsigned int flags);
};

/* The kernel itself. Never NULL, immutable, safe from every thread. */
const struct sys *sys_real(void);

/* CLOCK_MONOTONIC in ns: the clock that perf events are told to use, so that sample times and
 * assay's own times are one scale. */
uint64_t sys_now_ns(const struct sys *sys);

/* CPU time of this process, all its threads, in ns. */
uint64_t sys_own_cpu_ns(const struct sys *sys);

/* Writes all of it, through short writes and EINTR. 0 or -errno; on failure some bytes may be out. */
int sys_write_all(const struct sys *sys, int fd, const void *buffer, size_t size);
int sys_pwrite_all(const struct sys *sys, int fd, const void *buffer, size_t size, off_t offset);

/* Reads until `size` bytes, end of file or an error: the number of bytes, or -errno. */
ssize_t sys_read_full(const struct sys *sys, int fd, void *buffer, size_t size);
ssize_t sys_pread_full(const struct sys *sys, int fd, void *buffer, size_t size, off_t offset);

/* The whole of a small text file (procfs, sysfs) in a NUL-terminated buffer that the caller frees;
 * *size (may be NULL) without the NUL. STATUS_LIMIT when it is longer than `maximum`. */
MUST_CHECK enum status sys_read_file(const struct sys *sys, int dir_fd, const char *path,
				     size_t maximum, char **text, size_t *size,
				     struct error *error);

#endif
