/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/sys.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/checked.h"

/* The C library reports failure by -1 and errno; the seam by -errno. */
#define OR_ERRNO(call)                          \
	({                                      \
		__auto_type result_ = (call);   \
		result_ < 0 ? -errno : result_; \
	})

static int real_openat(void *state, int dir_fd, const char *path, int flags, mode_t mode)
{
	(void)state;
	return OR_ERRNO(openat(dir_fd, path, flags, mode));
}

static int real_close(void *state, int fd)
{
	(void)state;
	return OR_ERRNO(close(fd));
}

static ssize_t real_read(void *state, int fd, void *buffer, size_t size)
{
	(void)state;
	return OR_ERRNO(read(fd, buffer, size));
}

static ssize_t real_pread(void *state, int fd, void *buffer, size_t size, off_t offset)
{
	(void)state;
	return OR_ERRNO(pread(fd, buffer, size, offset));
}

static ssize_t real_write(void *state, int fd, const void *buffer, size_t size)
{
	(void)state;
	return OR_ERRNO(write(fd, buffer, size));
}

static ssize_t real_pwrite(void *state, int fd, const void *buffer, size_t size, off_t offset)
{
	(void)state;
	return OR_ERRNO(pwrite(fd, buffer, size, offset));
}

static int real_fstat(void *state, int fd, struct stat *stat)
{
	(void)state;
	return OR_ERRNO(fstat(fd, stat));
}

static int real_fstatat(void *state, int dir_fd, const char *path, struct stat *stat, int flags)
{
	(void)state;
	return OR_ERRNO(fstatat(dir_fd, path, stat, flags));
}

static int real_ftruncate(void *state, int fd, off_t size)
{
	(void)state;
	return OR_ERRNO(ftruncate(fd, size));
}

static int real_mkdirat(void *state, int dir_fd, const char *path, mode_t mode)
{
	(void)state;
	return OR_ERRNO(mkdirat(dir_fd, path, mode));
}

static int real_unlinkat(void *state, int dir_fd, const char *path, int flags)
{
	(void)state;
	return OR_ERRNO(unlinkat(dir_fd, path, flags));
}

static int real_renameat(void *state, int old_dir, const char *old_path, int new_dir,
			 const char *new_path)
{
	(void)state;
	return OR_ERRNO(renameat(old_dir, old_path, new_dir, new_path));
}

static int real_fchownat(void *state, int dir_fd, const char *path, uid_t uid, gid_t gid, int flags)
{
	(void)state;
	return OR_ERRNO(fchownat(dir_fd, path, uid, gid, flags));
}

static ssize_t real_getdents(void *state, int fd, void *buffer, size_t size)
{
	(void)state;
	return OR_ERRNO(getdents64(fd, buffer, size));
}

static void *real_mmap(void *state, void *address, size_t size, int prot, int flags, int fd,
		       off_t offset)
{
	(void)state;
	return mmap(address, size, prot, flags, fd, offset);
}

static int real_munmap(void *state, void *address, size_t size)
{
	(void)state;
	return OR_ERRNO(munmap(address, size));
}

static size_t real_page_size(void *state)
{
	(void)state;
	return (size_t)sysconf(_SC_PAGESIZE);
}

static int real_perf_event_open(void *state, struct perf_event_attr *attr, pid_t pid, int cpu,
				int group_fd, unsigned long flags)
{
	(void)state;
	return (int)OR_ERRNO(syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, flags));
}

static int real_ioctl(void *state, int fd, unsigned long request, void *argument)
{
	(void)state;
	return OR_ERRNO(ioctl(fd, request, argument));
}

static int real_ppoll(void *state, struct pollfd *fds, nfds_t n, const struct timespec *timeout,
		      const sigset_t *mask)
{
	(void)state;
	return OR_ERRNO(ppoll(fds, n, timeout, mask));
}

static int real_kill(void *state, pid_t pid, int signal)
{
	(void)state;
	return OR_ERRNO(kill(pid, signal));
}

static int real_clock_gettime(void *state, clockid_t clock, struct timespec *now)
{
	(void)state;
	return OR_ERRNO(clock_gettime(clock, now));
}

static ssize_t real_getrandom(void *state, void *buffer, size_t size, unsigned int flags)
{
	(void)state;
	return OR_ERRNO(getrandom(buffer, size, flags));
}

const struct sys *sys_real(void)
{
	static const struct sys real = {
		.openat = real_openat,
		.close = real_close,
		.read = real_read,
		.pread = real_pread,
		.write = real_write,
		.pwrite = real_pwrite,
		.fstat = real_fstat,
		.fstatat = real_fstatat,
		.ftruncate = real_ftruncate,
		.mkdirat = real_mkdirat,
		.unlinkat = real_unlinkat,
		.renameat = real_renameat,
		.fchownat = real_fchownat,
		.getdents = real_getdents,
		.mmap = real_mmap,
		.munmap = real_munmap,
		.page_size = real_page_size,
		.perf_event_open = real_perf_event_open,
		.ioctl = real_ioctl,
		.ppoll = real_ppoll,
		.kill = real_kill,
		.clock_gettime = real_clock_gettime,
		.getrandom = real_getrandom,
	};

	return &real;
}

static uint64_t clock_ns(const struct sys *sys, clockid_t clock)
{
	struct timespec now = { 0 };

	sys->clock_gettime(sys->state, clock, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t sys_now_ns(const struct sys *sys)
{
	return clock_ns(sys, CLOCK_MONOTONIC);
}

uint64_t sys_own_cpu_ns(const struct sys *sys)
{
	return clock_ns(sys, CLOCK_PROCESS_CPUTIME_ID);
}

int sys_write_all(const struct sys *sys, int fd, const void *buffer, size_t size)
{
	const char *at = buffer;

	while (size) {
		ssize_t n = sys->write(sys->state, fd, at, size);

		if (n == -EINTR)
			continue;
		if (n <= 0)
			return n ? (int)n : -EIO;
		at += n;
		size -= (size_t)n;
	}
	return 0;
}

int sys_pwrite_all(const struct sys *sys, int fd, const void *buffer, size_t size, off_t offset)
{
	const char *at = buffer;

	while (size) {
		ssize_t n = sys->pwrite(sys->state, fd, at, size, offset);

		if (n == -EINTR)
			continue;
		if (n <= 0)
			return n ? (int)n : -EIO;
		at += n;
		offset += n;
		size -= (size_t)n;
	}
	return 0;
}

ssize_t sys_read_full(const struct sys *sys, int fd, void *buffer, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = sys->read(sys->state, fd, (char *)buffer + done, size - done);

		if (n == -EINTR)
			continue;
		if (n < 0)
			return n;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

ssize_t sys_pread_full(const struct sys *sys, int fd, void *buffer, size_t size, off_t offset)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = sys->pread(sys->state, fd, (char *)buffer + done, size - done,
				       offset + (off_t)done);

		if (n == -EINTR)
			continue;
		if (n < 0)
			return n;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

/* procfs files have no size of their own, so the buffer grows until a read comes back short. */
static enum status text_read(const struct sys *sys, int fd, const char *path, size_t maximum,
			     char **text, size_t *used, struct error *error)
{
	size_t capacity = 4096;

	for (;;) {
		char *grown = realloc(*text, capacity + 1);
		ssize_t n;

		if (!grown)
			return error_set(error, STATUS_NO_MEMORY, "no memory to read %s", path);
		*text = grown;
		n = sys_read_full(sys, fd, *text + *used, capacity - *used);
		if (n < 0)
			return error_set_errno(error, status_from_errno((int)-n), (int)-n,
					       "cannot read %s", path);
		*used += (size_t)n;
		if (*used > maximum)
			return error_set(error, STATUS_LIMIT, "%s is longer than %zu bytes", path,
					 maximum);
		if (*used < capacity) {
			(*text)[*used] = '\0';
			return STATUS_OK;
		}
		if (!checked_mul_size(capacity, 2, &capacity))
			return error_set(error, STATUS_NO_MEMORY, "no memory to read %s", path);
	}
}

/* O_NONBLOCK: a FIFO that somebody put in the file's place reads as empty instead of never. */
enum status sys_read_file(const struct sys *sys, int dir_fd, const char *path, size_t maximum,
			  char **text, size_t *size, struct error *error)
{
	int fd = sys->openat(sys->state, dir_fd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
	size_t used = 0;
	enum status status;

	*text = NULL;
	if (fd < 0)
		return error_set_errno(error, status_from_errno(-fd), -fd, "cannot open %s", path);
	status = text_read(sys, fd, path, maximum, text, &used, error);
	sys->close(sys->state, fd);
	if (status != STATUS_OK) {
		free(*text);
		*text = NULL;
		return status;
	}
	if (size)
		*size = used;
	return STATUS_OK;
}
