/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bundle/bundle_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/directory.h"

/* A bundle has two levels; what users put into one may have more. */
#define TREE_MAX_DEPTH 16
#define TREE_MAX_NAMES (1u << 20)

struct visit {
	const struct sys *sys;
	/* called for every entry, after those below it; flags as for unlinkat */
	int (*entry)(const struct visit *visit, int dir_fd, const char *name, bool is_directory);
	const char *doing;
	uid_t uid;
	gid_t gid;
};

static int entry_remove(const struct visit *visit, int dir_fd, const char *name, bool is_directory)
{
	return visit->sys->unlinkat(visit->sys->state, dir_fd, name,
				    is_directory ? AT_REMOVEDIR : 0);
}

static int entry_own(const struct visit *visit, int dir_fd, const char *name, bool is_directory)
{
	(void)is_directory;
	return visit->sys->fchownat(visit->sys->state, dir_fd, name, visit->uid, visit->gid,
				    AT_SYMLINK_NOFOLLOW);
}

static enum status tree_visit(const struct visit *visit, int dir_fd, const char *name, int depth,
			      struct error *error);

static enum status names_visit(const struct visit *visit, int dir_fd, const char *name, int depth,
			       struct error *error)
{
	const struct sys *sys = visit->sys;
	struct directory directory;
	enum status status;
	int fd;

	if (depth == TREE_MAX_DEPTH)
		return error_set(error, STATUS_LIMIT, "cannot %s %s: more than %d levels deep",
				 visit->doing, name, TREE_MAX_DEPTH);
	fd = sys->openat(sys->state, dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
			 0);
	if (fd < 0)
		return error_set_errno(error, status_from_errno(-fd), -fd, "cannot %s %s",
				       visit->doing, name);
	status = directory_list(&directory, sys, fd, ".", TREE_MAX_NAMES, error);
	for (size_t i = 0; status == STATUS_OK && i < directory.n; i++)
		status = tree_visit(visit, fd, directory.names[i], depth + 1, error);
	directory_release(&directory);
	sys->close(sys->state, fd);
	return status;
}

static enum status tree_visit(const struct visit *visit, int dir_fd, const char *name, int depth,
			      struct error *error)
{
	const struct sys *sys = visit->sys;
	struct stat stat;
	bool is_directory;
	int result = sys->fstatat(sys->state, dir_fd, name, &stat, AT_SYMLINK_NOFOLLOW);

	if (result == 0) {
		is_directory = S_ISDIR(stat.st_mode);
		if (is_directory) {
			const enum status status = names_visit(visit, dir_fd, name, depth, error);

			if (status != STATUS_OK)
				return status;
		}
		result = visit->entry(visit, dir_fd, name, is_directory);
	}
	if (result < 0)
		return error_set_errno(error, status_from_errno(-result), -result, "cannot %s %s",
				       visit->doing, name);
	return STATUS_OK;
}

enum status bundle_tree_remove(const struct sys *sys, int dir_fd, const char *name,
			       struct error *error)
{
	const struct visit visit = { .sys = sys, .entry = entry_remove, .doing = "remove" };

	return tree_visit(&visit, dir_fd, name, 0, error);
}

enum status bundle_tree_own(const struct sys *sys, int dir_fd, const char *name, uid_t uid,
			    gid_t gid, struct error *error)
{
	const struct visit visit = {
		.sys = sys, .entry = entry_own, .doing = "give away", .uid = uid, .gid = gid
	};

	return tree_visit(&visit, dir_fd, name, 0, error);
}

static const char *kind_of(mode_t mode)
{
	if (S_ISREG(mode))
		return "a file";
	if (S_ISLNK(mode))
		return "a symbolic link";
	if (S_ISDIR(mode))
		return "a directory that is no bundle (it has no manifest.json)";
	return "something else";
}

enum status bundle_place_find(const struct sys *sys, int dir_fd, const char *name,
			      enum bundle_place *place, const char **what, struct error *error)
{
	char manifest[4096];
	struct stat stat, inside;
	int result = sys->fstatat(sys->state, dir_fd, name, &stat, AT_SYMLINK_NOFOLLOW);

	*place = BUNDLE_PLACE_FREE;
	if (result == -ENOENT)
		return STATUS_OK;
	if (result < 0)
		return error_set_errno(error, status_from_errno(-result), -result,
				       "cannot look at %s", name);
	*place = BUNDLE_PLACE_OTHER;
	*what = kind_of(stat.st_mode);
	if (!S_ISDIR(stat.st_mode) ||
	    snprintf(manifest, sizeof(manifest), "%s/manifest.json", name) >= (int)sizeof(manifest))
		return STATUS_OK;
	if (sys->fstatat(sys->state, dir_fd, manifest, &inside, AT_SYMLINK_NOFOLLOW) == 0)
		*place = BUNDLE_PLACE_BUNDLE;
	return STATUS_OK;
}
