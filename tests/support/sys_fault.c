/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/sys_fault.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* True when this call of `kind` is to fail. */
static bool fault_due(struct sys_fault *fault, enum sys_fault_kind kind)
{
	fault->calls[__builtin_ctz(kind)]++;
	if (!(fault->kinds & kind))
		return false;
	fault->seen++;
	if (fault->seen < fault->at || (fault->how == SYS_FAULT_ONCE && fault->seen > fault->at))
		return false;
	fault->fired = true;
	return true;
}

#define UNDER(call, ...) fault->under->call(fault->under->state, __VA_ARGS__)

/* The wrapper of a member that needs nothing special. */
#define WRAP(kind, type, name, parameters, ...)  \
	static type fault_##name parameters      \
	{                                        \
		struct sys_fault *fault = state; \
                                                 \
		if (fault_due(fault, kind))      \
			return -fault->os_errno; \
		return UNDER(name, __VA_ARGS__); \
	}

WRAP(SYS_FAULT_READ, ssize_t, read, (void *state, int fd, void *buffer, size_t size), fd, buffer,
     size)
WRAP(SYS_FAULT_READ, ssize_t, pread, (void *state, int fd, void *buffer, size_t size, off_t offset),
     fd, buffer, size, offset)
WRAP(SYS_FAULT_STAT, int, fstat, (void *state, int fd, struct stat *stat), fd, stat)
WRAP(SYS_FAULT_STAT, int, fstatat,
     (void *state, int dir_fd, const char *path, struct stat *stat, int flags), dir_fd, path, stat,
     flags)
WRAP(SYS_FAULT_TRUNCATE, int, ftruncate, (void *state, int fd, off_t size), fd, size)
WRAP(SYS_FAULT_MKDIR, int, mkdirat, (void *state, int dir_fd, const char *path, mode_t mode),
     dir_fd, path, mode)
WRAP(SYS_FAULT_UNLINK, int, unlinkat, (void *state, int dir_fd, const char *path, int flags),
     dir_fd, path, flags)
WRAP(SYS_FAULT_RENAME, int, renameat,
     (void *state, int old_dir, const char *old_path, int new_dir, const char *new_path), old_dir,
     old_path, new_dir, new_path)
WRAP(SYS_FAULT_CHOWN, int, fchownat,
     (void *state, int dir_fd, const char *path, uid_t uid, gid_t gid, int flags), dir_fd, path,
     uid, gid, flags)
WRAP(SYS_FAULT_GETDENTS, ssize_t, getdents, (void *state, int fd, void *buffer, size_t size), fd,
     buffer, size)
WRAP(SYS_FAULT_MUNMAP, int, munmap, (void *state, void *address, size_t size), address, size)
WRAP(SYS_FAULT_IOCTL, int, ioctl, (void *state, int fd, unsigned long request, void *argument), fd,
     request, argument)
WRAP(SYS_FAULT_POLL, int, ppoll,
     (void *state, struct pollfd *fds, nfds_t n, const struct timespec *timeout,
      const sigset_t *mask),
     fds, n, timeout, mask)
WRAP(SYS_FAULT_KILL, int, kill, (void *state, pid_t pid, int signal), pid, signal)
WRAP(SYS_FAULT_RANDOM, ssize_t, getrandom,
     (void *state, void *buffer, size_t size, unsigned int flags), buffer, size, flags)

static int fd_opened(struct sys_fault *fault, int fd)
{
	fault->open_fds += fd >= 0;
	return fd;
}

static int fault_openat(void *state, int dir_fd, const char *path, int flags, mode_t mode)
{
	struct sys_fault *fault = state;

	if (fault_due(fault, SYS_FAULT_OPEN))
		return -fault->os_errno;
	return fd_opened(fault, UNDER(openat, dir_fd, path, flags, mode));
}

static int fault_perf_event_open(void *state, struct perf_event_attr *attr, pid_t pid, int cpu,
				 int group_fd, unsigned long flags)
{
	struct sys_fault *fault = state;

	if (fault_due(fault, SYS_FAULT_PERF_OPEN))
		return -fault->os_errno;
	return fd_opened(fault, UNDER(perf_event_open, attr, pid, cpu, group_fd, flags));
}

static int fault_close(void *state, int fd)
{
	struct sys_fault *fault = state;
	const int result = UNDER(close, fd);

	fault->open_fds -= result == 0;
	return fault_due(fault, SYS_FAULT_CLOSE) ? -fault->os_errno : result;
}

/* How much of a write that is due to fail is written all the same. */
static size_t torn_bytes(const struct sys_fault *fault, size_t size)
{
	return fault->how == SYS_FAULT_TORN && fault->seen == fault->at ? size / 2 : 0;
}

static ssize_t fault_write(void *state, int fd, const void *buffer, size_t size)
{
	struct sys_fault *fault = state;

	if (fault_due(fault, SYS_FAULT_WRITE)) {
		size = torn_bytes(fault, size);
		if (!size)
			return -fault->os_errno;
	}
	return UNDER(write, fd, buffer, size);
}

static ssize_t fault_pwrite(void *state, int fd, const void *buffer, size_t size, off_t offset)
{
	struct sys_fault *fault = state;

	if (fault_due(fault, SYS_FAULT_WRITE)) {
		size = torn_bytes(fault, size);
		if (!size)
			return -fault->os_errno;
	}
	return UNDER(pwrite, fd, buffer, size, offset);
}

static void *fault_mmap(void *state, void *address, size_t size, int prot, int flags, int fd,
			off_t offset)
{
	struct sys_fault *fault = state;

	if (fault_due(fault, SYS_FAULT_MMAP)) {
		errno = fault->os_errno;
		return MAP_FAILED;
	}
	return UNDER(mmap, address, size, prot, flags, fd, offset);
}

/* Members that never fail pass through; they need the state of the table underneath, too. */
static size_t fault_page_size(void *state)
{
	struct sys_fault *fault = state;

	return fault->under->page_size(fault->under->state);
}

static int fault_clock_gettime(void *state, clockid_t clock, struct timespec *now)
{
	struct sys_fault *fault = state;

	return UNDER(clock_gettime, clock, now);
}

void sys_fault_init(struct sys_fault *fault, const struct sys *under)
{
	memset(fault, 0, sizeof(*fault));
	fault->under = under;
	fault->table = (struct sys){
		.state = fault,
		.openat = fault_openat,
		.close = fault_close,
		.read = fault_read,
		.pread = fault_pread,
		.write = fault_write,
		.pwrite = fault_pwrite,
		.fstat = fault_fstat,
		.fstatat = fault_fstatat,
		.ftruncate = fault_ftruncate,
		.mkdirat = fault_mkdirat,
		.unlinkat = fault_unlinkat,
		.renameat = fault_renameat,
		.fchownat = fault_fchownat,
		.getdents = fault_getdents,
		.mmap = fault_mmap,
		.munmap = fault_munmap,
		.page_size = fault_page_size,
		.perf_event_open = fault_perf_event_open,
		.ioctl = fault_ioctl,
		.ppoll = fault_ppoll,
		.kill = fault_kill,
		.clock_gettime = fault_clock_gettime,
		.getrandom = fault_getrandom,
	};
}

void sys_fault_plan(struct sys_fault *fault, unsigned int kinds, unsigned int at, int os_errno,
		    enum sys_fault_how how)
{
	fault->kinds = kinds;
	fault->at = at;
	fault->os_errno = os_errno;
	fault->how = how;
	fault->seen = 0;
	fault->fired = false;
}

const struct sys *sys_fault_table(struct sys_fault *fault)
{
	return &fault->table;
}

unsigned int sys_fault_calls(const struct sys_fault *fault, unsigned int kinds)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < SYS_FAULT_N_KINDS; i++)
		if (kinds >> i & 1)
			n += fault->calls[i];
	return n;
}
