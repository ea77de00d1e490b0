/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The directory of a bundle that is being written, from a temporary name to its place.
 *
 *	.NAME.assay-XXXX  made, filled           unpublished: removed on close
 *	NAME.old  -> .NAME.old-XXXX              publish, each step undone if a later one fails
 *	NAME      -> NAME.old
 *	.NAME.assay-XXXX -> NAME
 *	.NAME.old-XXXX removed
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bundle/bundle.h"
#include "bundle/bundle_tree.h"

#define NAME_BYTES 256

struct bundle_output {
	const struct sys *sys;
	char *path;            /* as the user wrote it */
	char name[NAME_BYTES]; /* its last component */
	char temporary[NAME_BYTES], old[NAME_BYTES], older[NAME_BYTES];
	int parent_fd, dir_fd;
	bool published;
	bool give_away; /* to the user behind sudo */
	uid_t uid;
	gid_t gid;
};

static bool id_parse(const char *text, unsigned int *id)
{
	unsigned long value;
	char *end;

	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || *end || value >= UINT32_MAX)
		return false;
	*id = (unsigned int)value;
	return true;
}

static void invoking_user_find(struct bundle_output *output)
{
	output->give_away = geteuid() == 0 && id_parse(getenv("SUDO_UID"), &output->uid) &&
			    id_parse(getenv("SUDO_GID"), &output->gid);
}

/* Splits the path, without changing it: the directory that holds the bundle, and its name there. */
static enum status names_make(struct bundle_output *output, char *parent, size_t parent_size,
			      struct error *error)
{
	const char *path = output->path, *end = path + strlen(path), *slash;
	uint32_t random = 0;
	int length;

	while (end > path + 1 && end[-1] == '/')
		end--;
	slash = memrchr(path, '/', (size_t)(end - path));
	length = (int)(slash ? end - slash - 1 : end - path);
	snprintf(output->name, sizeof(output->name), "%.*s", length, slash ? slash + 1 : path);
	if (!length || !strcmp(output->name, ".") || !strcmp(output->name, ".."))
		return error_set(error, STATUS_USAGE, "'%s' is no name for a bundle", path);
	if (length > NAME_BYTES - 24)
		return error_set(error, STATUS_USAGE, "the name of the bundle %s is too long",
				 path);
	if (!slash)
		snprintf(parent, parent_size, ".");
	else if (snprintf(parent, parent_size, "%.*s/", (int)(slash - path), path) >=
		 (int)parent_size)
		return error_set(error, STATUS_USAGE, "the path %s is too long", path);
	if (output->sys->getrandom(output->sys->state, &random, sizeof(random), 0) !=
	    (ssize_t)sizeof(random))
		return error_set(error, STATUS_IO, "no randomness for a temporary name");
	length = (int)strlen(output->name);
	snprintf(output->old, sizeof(output->old), "%.*s.old", length, output->name);
	snprintf(output->temporary, sizeof(output->temporary), ".%.*s.assay-%08x", length,
		 output->name, random);
	snprintf(output->older, sizeof(output->older), ".%.*s.old-%08x", length, output->name,
		 random);
	return STATUS_OK;
}

/* Nothing but bundles is ever moved or removed. *exists is for the place itself. */
static enum status places_check(const struct bundle_output *output, bool *exists, bool *old_exists,
				struct error *error)
{
	enum bundle_place place = BUNDLE_PLACE_FREE, old_place = BUNDLE_PLACE_FREE;
	const char *what = "", *old_what = "";
	enum status status = bundle_place_find(output->sys, output->parent_fd, output->name, &place,
					       &what, error);

	if (status == STATUS_OK)
		status = bundle_place_find(output->sys, output->parent_fd, output->old, &old_place,
					   &old_what, error);
	if (status != STATUS_OK)
		return status;
	if (place == BUNDLE_PLACE_OTHER)
		return error_set(error, STATUS_USAGE,
				 "%s is in the way: it is %s; choose another place with -o",
				 output->path, what);
	if (place == BUNDLE_PLACE_BUNDLE && old_place == BUNDLE_PLACE_OTHER)
		return error_set(error, STATUS_USAGE,
				 "%s is kept as %s, but there is %s in the way; move it or choose "
				 "another place with -o",
				 output->path, output->old, old_what);
	*exists = place == BUNDLE_PLACE_BUNDLE;
	*old_exists = old_place == BUNDLE_PLACE_BUNDLE;
	return STATUS_OK;
}

static enum status directory_make(struct bundle_output *output, struct error *error)
{
	const struct sys *sys = output->sys;
	int result = sys->mkdirat(sys->state, output->parent_fd, output->temporary, 0700);

	if (result < 0)
		return error_set_errno(error, status_from_errno(-result), -result,
				       "cannot create a bundle at %s", output->path);
	output->dir_fd = sys->openat(sys->state, output->parent_fd, output->temporary,
				     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
	result = output->dir_fd;
	if (result >= 0 && output->give_away)
		result = sys->fchownat(sys->state, output->parent_fd, output->temporary,
				       output->uid, output->gid, AT_SYMLINK_NOFOLLOW);
	if (result >= 0)
		return STATUS_OK;
	sys->unlinkat(sys->state, output->parent_fd, output->temporary, AT_REMOVEDIR);
	return error_set_errno(error, status_from_errno(-result), -result,
			       "cannot create a bundle at %s", output->path);
}

static void output_free(struct bundle_output *output)
{
	const struct sys *sys = output->sys;

	if (output->dir_fd >= 0)
		sys->close(sys->state, output->dir_fd);
	if (output->parent_fd >= 0)
		sys->close(sys->state, output->parent_fd);
	free(output->path);
	free(output);
}

enum status bundle_create(struct bundle_output **out, const struct sys *sys, const char *path,
			  struct error *error)
{
	struct bundle_output *output = calloc(1, sizeof(*output));
	char parent[4096];
	bool exists, old_exists;
	enum status status;

	*out = NULL;
	if (output)
		output->path = strdup(path);
	if (!output || !output->path) {
		free(output);
		return error_set(error, STATUS_NO_MEMORY, "no memory for a bundle");
	}
	output->sys = sys;
	output->parent_fd = output->dir_fd = -1;
	invoking_user_find(output);
	status = names_make(output, parent, sizeof(parent), error);
	if (status == STATUS_OK) {
		output->parent_fd = sys->openat(sys->state, AT_FDCWD, parent,
						O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
		if (output->parent_fd < 0)
			status = error_set_errno(
				error, status_from_errno(-output->parent_fd), -output->parent_fd,
				"cannot create the bundle %s in directory %s", path, parent);
	}
	if (status == STATUS_OK)
		status = places_check(output, &exists, &old_exists, error);
	if (status == STATUS_OK)
		status = directory_make(output, error);
	if (status != STATUS_OK) {
		output_free(output);
		return status;
	}
	*out = output;
	return STATUS_OK;
}

int bundle_output_dir_fd(const struct bundle_output *output)
{
	return output->dir_fd;
}

static int move(const struct bundle_output *output, const char *from, const char *to)
{
	const struct sys *sys = output->sys;

	return sys->renameat(sys->state, output->parent_fd, from, output->parent_fd, to);
}

/* Once when published, so that a killed recording is its user's, and again for what came later. */
static void give_away(const struct bundle_output *output)
{
	enum status status = STATUS_OK;

	if (output->give_away)
		status = bundle_tree_own(output->sys, output->parent_fd, output->name, output->uid,
					 output->gid, NULL);
	(void)status;
}

enum status bundle_output_publish(struct bundle_output *output, struct error *error)
{
	bool exists = false, old_exists = false;
	int result = 0;
	enum status status = places_check(output, &exists, &old_exists, error);

	if (status != STATUS_OK)
		return status;
	old_exists &= exists; /* without a predecessor NAME.old stays what it is */
	if (old_exists)
		result = move(output, output->old, output->older);
	if (result == 0 && exists) {
		result = move(output, output->name, output->old);
		if (result < 0 && old_exists)
			move(output, output->older, output->old);
	}
	if (result == 0) {
		result = move(output, output->temporary, output->name);
		if (result < 0 && exists) {
			move(output, output->old, output->name);
			if (old_exists)
				move(output, output->older, output->old);
		}
	}
	if (result < 0)
		return error_set_errno(error, status_from_errno(-result), -result,
				       "cannot move the bundle to %s", output->path);
	output->published = true;
	/* neither is worth failing a recording for: what is left of the grandparent, and who owns it */
	if (old_exists)
		status = bundle_tree_remove(output->sys, output->parent_fd, output->older, NULL);
	(void)status;
	give_away(output);
	return STATUS_OK;
}

void bundle_output_close(struct bundle_output *output)
{
	enum status status = STATUS_OK;

	if (!output)
		return;
	if (!output->published)
		status =
			bundle_tree_remove(output->sys, output->parent_fd, output->temporary, NULL);
	else
		give_away(output);
	(void)status; /* best effort: the recording itself is done or undone */
	output_free(output);
}
