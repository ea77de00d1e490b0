/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "record/perf_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#define DIRECTORY_NAME "maps"
#define COPY_BLOCK     (256u * 1024)

void perf_maps_init(struct perf_maps *maps, const struct sys *sys, int bundle_fd)
{
	*maps = (struct perf_maps){ .sys = sys, .bundle_fd = bundle_fd, .directory_fd = -1 };
}

void perf_maps_release(struct perf_maps *maps)
{
	if (maps->directory_fd >= 0)
		maps->sys->close(maps->sys->state, maps->directory_fd);
	maps->directory_fd = -1;
}

static int source_open(const struct perf_maps *maps, pid_t pid, pid_t inner_pid)
{
	const struct sys *sys = maps->sys;
	char path[96];
	struct stat stat;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/root/tmp/perf-%d.map", (int)pid, (int)inner_pid);
	fd = sys->openat(sys->state, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW,
			 0);
	if (fd < 0) {
		/* The process is gone: its root cannot be entered any more. */
		snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)inner_pid);
		fd = sys->openat(sys->state, AT_FDCWD, path,
				 O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW, 0);
	}
	if (fd < 0)
		return fd;
	if (sys->fstat(sys->state, fd, &stat) < 0 || !S_ISREG(stat.st_mode)) {
		sys->close(sys->state, fd);
		return -EINVAL;
	}
	return fd;
}

static bool directory_open(struct perf_maps *maps)
{
	const struct sys *sys = maps->sys;

	if (maps->directory_fd >= 0)
		return true;
	sys->mkdirat(sys->state, maps->bundle_fd, DIRECTORY_NAME, 0700);
	maps->directory_fd = sys->openat(sys->state, maps->bundle_fd, DIRECTORY_NAME,
					 O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	return maps->directory_fd >= 0;
}

static void bytes_copy(const struct sys *sys, int from, int to)
{
	char *block = malloc(COPY_BLOCK);
	uint64_t done = 0;

	while (block && done < PERF_MAP_MAX_BYTES) {
		const ssize_t n = sys_read_full(sys, from, block, COPY_BLOCK);

		if (n <= 0 || sys_write_all(sys, to, block, (size_t)n) < 0)
			break;
		done += (uint64_t)n;
	}
	free(block);
}

void perf_maps_take(struct perf_maps *maps, pid_t pid, pid_t inner_pid)
{
	const struct sys *sys = maps->sys;
	const int from = maps->n < PERF_MAPS_MAX ? source_open(maps, pid, inner_pid) : -1;
	char name[48];
	int to;

	if (from < 0)
		return;
	snprintf(name, sizeof(name), "perf-%d.map", (int)pid);
	if (directory_open(maps)) {
		to = sys->openat(sys->state, maps->directory_fd, name,
				 O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		if (to >= 0) {
			bytes_copy(sys, from, to);
			sys->close(sys->state, to);
			maps->n++;
		}
	}
	sys->close(sys->state, from);
}
