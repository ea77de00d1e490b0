/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "target/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/directory.h"

#define MOUNTS_MAX_BYTES (4u * 1024 * 1024)
#define PROCS_MAX_BYTES  (4u * 1024 * 1024)
#define STAT_MAX_BYTES   4095 /* usage_usec is in its first line */
#define SIBLINGS_MAX     65536
#define NAME_PREFIX      "assay-"

/* /proc/mounts writes space, tab, newline and backslash as octal. */
static void octal_decode(char *text)
{
	char *to = text;

	for (const char *from = text; *from; to++) {
		if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && from[2] >= '0' &&
		    from[2] <= '7' && from[3] >= '0' && from[3] <= '7') {
			*to = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0'));
			from += 4;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
}

/* The mount point of the cgroup2 hierarchy, wherever a distribution puts it. */
static enum status mount_point(const struct sys *sys, char *path, size_t size, struct error *error)
{
	char *mounts, *save = NULL;
	enum status status = sys_read_file(sys, AT_FDCWD, "/proc/mounts", MOUNTS_MAX_BYTES, &mounts,
					   NULL, error);

	if (status != STATUS_OK)
		return status;
	status = error_set(error, STATUS_UNSUPPORTED,
			   "no cgroup-v2 hierarchy is mounted (mount -t cgroup2 none DIR)");
	for (char *line = strtok_r(mounts, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *where = strchr(line, ' ');
		char *type = where ? strchr(where + 1, ' ') : NULL;

		if (!type || strncmp(type + 1, "cgroup2 ", 8))
			continue;
		*type = '\0';
		octal_decode(++where);
		if (strlen(where) >= size)
			break;
		memcpy(path, where, strlen(where) + 1);
		status = STATUS_OK;
		break;
	}
	free(mounts);
	return status;
}

/* The line "0::/path" of /proc/self/cgroup is this process's place in the v2 hierarchy. */
static enum status own_place(const struct sys *sys, char *path, size_t size, struct error *error)
{
	char *text, *save = NULL;
	enum status status = sys_read_file(sys, AT_FDCWD, "/proc/self/cgroup", PROCS_MAX_BYTES,
					   &text, NULL, error);

	if (status != STATUS_OK)
		return status;
	status = error_set(error, STATUS_UNSUPPORTED,
			   "/proc/self/cgroup names no cgroup-v2 path for this process");
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (strncmp(line, "0::/", 4) || strlen(line + 3) >= size)
			continue;
		memcpy(path, line + 3, strlen(line + 3) + 1);
		status = STATUS_OK;
	}
	free(text);
	return status;
}

static void stale_siblings_remove(const struct sys *sys, const char *parent)
{
	struct directory names;

	if (directory_list(&names, sys, AT_FDCWD, parent, SIBLINGS_MAX, NULL) != STATUS_OK)
		return;
	for (size_t i = 0; i < names.n; i++) {
		char path[PATH_MAX];
		long pid;

		if (strncmp(names.names[i], NAME_PREFIX, strlen(NAME_PREFIX)))
			continue;
		pid = strtol(names.names[i] + strlen(NAME_PREFIX), NULL, 10);
		if (pid <= 0 || sys->kill(sys->state, (pid_t)pid, 0) != -ESRCH)
			continue;
		if (snprintf(path, sizeof(path), "%s/%s", parent, names.names[i]) <
		    (int)sizeof(path))
			sys->unlinkat(sys->state, AT_FDCWD, path, AT_REMOVEDIR);
	}
	directory_release(&names);
}

enum status cgroup_create(struct cgroup *cgroup, const struct sys *sys, struct error *error)
{
	char mount[PATH_MAX], place[PATH_MAX];
	enum status status;
	int result;

	cgroup->fd = cgroup->stat_fd = -1;
	cgroup->path[0] = '\0';
	status = mount_point(sys, mount, sizeof(mount), error);
	if (status == STATUS_OK)
		status = own_place(sys, place, sizeof(place), error);
	if (status != STATUS_OK)
		return status;
	if (!strcmp(place, "/"))
		place[0] = '\0';
	if (snprintf(cgroup->parent, sizeof(cgroup->parent), "%s%s", mount, place) >=
		    (int)sizeof(cgroup->parent) ||
	    snprintf(cgroup->path, sizeof(cgroup->path), "%s%s/" NAME_PREFIX "%ld", mount, place,
		     (long)getpid()) >= (int)sizeof(cgroup->path)) {
		cgroup->path[0] = '\0';
		return error_set(error, STATUS_LIMIT, "the path of the cgroup is too long");
	}
	stale_siblings_remove(sys, cgroup->parent);
	result = sys->mkdirat(sys->state, AT_FDCWD, cgroup->path, 0755);
	if (result < 0) {
		status = error_set_errno(error, status_from_errno(-result), -result,
					 "cannot make the cgroup %s", cgroup->path);
		cgroup->path[0] = '\0';
		return status;
	}
	result = sys->openat(sys->state, AT_FDCWD, cgroup->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC,
			     0);
	if (result < 0) {
		status = error_set_errno(error, status_from_errno(-result), -result,
					 "cannot open the cgroup %s", cgroup->path);
		cgroup_remove(cgroup, sys);
		return status;
	}
	cgroup->fd = result;
	result = sys->openat(sys->state, cgroup->fd, "cpu.stat", O_RDONLY | O_CLOEXEC, 0);
	cgroup->stat_fd = result < 0 ? -1 : result;
	return STATUS_OK;
}

static int procs_write(const struct sys *sys, const char *directory, long pid)
{
	char path[PATH_MAX], text[24];
	int fd, result;

	if (snprintf(path, sizeof(path), "%s/cgroup.procs", directory) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = sys->openat(sys->state, AT_FDCWD, path, O_WRONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	result = sys_write_all(sys, fd, text, (size_t)snprintf(text, sizeof(text), "%ld", pid));
	sys->close(sys->state, fd);
	return result;
}

enum status cgroup_add(const struct cgroup *cgroup, const struct sys *sys, pid_t pid,
		       struct error *error)
{
	const int result = procs_write(sys, cgroup->path, pid);

	if (result < 0)
		return error_set_errno(error, status_from_errno(-result), -result,
				       "cannot move process %d into the cgroup %s", (int)pid,
				       cgroup->path);
	return STATUS_OK;
}

uint64_t cgroup_cpu_ns(const struct cgroup *cgroup, const struct sys *sys)
{
	static const char key[] = "usage_usec ";
	char text[STAT_MAX_BYTES + 1], *at;
	ssize_t n;

	if (cgroup->stat_fd < 0)
		return 0;
	n = sys->pread(sys->state, cgroup->stat_fd, text, STAT_MAX_BYTES, 0);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	at = strstr(text, key);
	return at ? strtoull(at + strlen(key), NULL, 10) * 1000 : 0;
}

bool cgroup_is_empty(const struct cgroup *cgroup, const struct sys *sys)
{
	bool empty;
	char *text;

	if (cgroup->fd < 0 ||
	    sys_read_file(sys, cgroup->fd, "cgroup.events", 65536, &text, NULL, NULL) != STATUS_OK)
		return true;
	empty = strstr(text, "populated 0") != NULL;
	free(text);
	return empty;
}

/* One pass moves whoever is listed; a process that forks meanwhile needs another. */
static void survivors_move(const struct cgroup *cgroup, const struct sys *sys)
{
	for (int pass = 0; pass < 8; pass++) {
		char *text, *save = NULL;
		bool any = false;

		if (sys_read_file(sys, cgroup->fd, "cgroup.procs", PROCS_MAX_BYTES, &text, NULL,
				  NULL) != STATUS_OK)
			return;
		for (char *word = strtok_r(text, "\n", &save); word;
		     word = strtok_r(NULL, "\n", &save)) {
			any = true;
			procs_write(sys, cgroup->parent, strtol(word, NULL, 10));
		}
		free(text);
		if (!any)
			return;
	}
}

/* A task that has just ended keeps its cgroup busy until the kernel has let go of it, so the last
 * step is tried for a moment. */
void cgroup_remove(struct cgroup *cgroup, const struct sys *sys)
{
	if (!cgroup->path[0])
		return;
	if (cgroup->fd >= 0) {
		survivors_move(cgroup, sys);
		sys->close(sys->state, cgroup->fd);
	}
	if (cgroup->stat_fd >= 0)
		sys->close(sys->state, cgroup->stat_fd);
	for (int attempt = 0; attempt < 50; attempt++) {
		const struct timespec pause = { 0, 2000000 };

		if (sys->unlinkat(sys->state, AT_FDCWD, cgroup->path, AT_REMOVEDIR) != -EBUSY)
			break;
		sys->ppoll(sys->state, NULL, 0, &pause, NULL);
	}
	cgroup->fd = cgroup->stat_fd = -1;
	cgroup->path[0] = '\0';
}
