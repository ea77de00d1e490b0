/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "target/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <sys/sysmacros.h>

/* O_NONBLOCK so that a FIFO or device that took the file's name cannot hold us up. */
static int candidate_open(const struct sys *sys, const char *path, struct stat *stat)
{
	const int fd = sys->openat(sys->state, AT_FDCWD, path,
				   O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
	int result;

	if (fd < 0)
		return fd;
	result = sys->fstat(sys->state, fd, stat);
	if (result == 0 && S_ISREG(stat->st_mode))
		return fd;
	sys->close(sys->state, fd);
	return result < 0 ? result : -EINVAL;
}

static bool device_matches(const struct mapping *mapping, const struct stat *stat)
{
	return makedev(mapping->major, mapping->minor) == stat->st_dev;
}

/* Filesystems on anonymous devices (major 0: overlayfs, btrfs, tmpfs) may stat with another number. */
static bool device_plausible(const struct mapping *mapping, const struct stat *stat)
{
	return device_matches(mapping, stat) || mapping->major == 0 || major(stat->st_dev) == 0;
}

/* Tries one candidate; keeps the reason of the last that could not even be opened. */
static bool candidate_take(struct mapped_file *file, const struct sys *sys,
			   const struct mapping *mapping, const char *path, bool is_mapping,
			   int *reason)
{
	const int fd = candidate_open(sys, path, &file->stat);

	if (fd < 0) {
		if (*reason != -ESTALE)
			*reason = fd;
		return false;
	}
	if (file->stat.st_ino == mapping->inode &&
	    (is_mapping || device_plausible(mapping, &file->stat))) {
		file->fd = fd;
		return true;
	}
	*reason = -ESTALE;
	sys->close(sys->state, fd);
	return false;
}

bool mapped_file_is_at(const struct sys *sys, const char *path, const struct stat *stat)
{
	struct stat now;

	return sys->fstatat(sys->state, AT_FDCWD, path, &now, 0) == 0 &&
	       now.st_dev == stat->st_dev && now.st_ino == stat->st_ino;
}

enum status mapped_file_open(struct mapped_file *file, const struct sys *sys,
			     const struct mapping *mapping, struct error *error)
{
	char path[PATH_MAX + 64];
	int reason = -ENOENT;
	bool found;

	file->fd = -1;
	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)mapping->pid, mapping->path);
	found = candidate_take(file, sys, mapping, path, false, &reason) ||
		candidate_take(file, sys, mapping, mapping->path, false, &reason);
	if (!found) {
		snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64,
			 (int)mapping->pid, mapping->start, mapping->end);
		found = candidate_take(file, sys, mapping, path, true, &reason);
	}
	if (!found) {
		snprintf(path, sizeof(path), "/proc/%d/exe", (int)mapping->pid);
		found = candidate_take(file, sys, mapping, path, false, &reason);
	}
	if (!found && reason == -ESTALE)
		return error_set(error, STATUS_NOT_FOUND,
				 "%s is another file now than the one that was mapped",
				 mapping->path);
	if (!found)
		return error_set_errno(error, status_from_errno(-reason), -reason,
				       "the file mapped as %s cannot be opened", mapping->path);
	file->path_is_it = mapped_file_is_at(sys, mapping->path, &file->stat);
	return STATUS_OK;
}
