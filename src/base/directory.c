/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * getdents64(2) fills a buffer with records of variable length; `d_reclen` leads to the next one.
 * The kernel wrote them, but a FUSE server or a test may have chosen the names, so lengths are
 * checked against what was returned.
 */
#include "base/directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define BLOCK_BYTES 16384

static int name_order(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool name_add(struct directory *directory, const char *name, size_t length)
{
	char *copy;

	if (!array_reserve(&directory->names, &directory->capacity, directory->n + 1))
		return false;
	copy = strndup(name, length);
	if (!copy)
		return false;
	directory->names[directory->n++] = copy;
	return true;
}

static enum status block_add(struct directory *directory, const char *block, size_t size,
			     const char *path, size_t maximum, struct error *error)
{
	const size_t name_at = offsetof(struct dirent64, d_name);

	for (size_t at = 0; at + name_at < size;) {
		uint16_t length;
		const char *name = block + at + name_at;
		size_t n;

		memcpy(&length, block + at + offsetof(struct dirent64, d_reclen), sizeof(length));
		if (length <= name_at || length > size - at)
			return error_set_corrupt(error, at, "directory %s: bad entry", path);
		n = strnlen(name, length - name_at);
		at += length;
		if (!n || (n == 1 && name[0] == '.') ||
		    (n == 2 && name[0] == '.' && name[1] == '.'))
			continue;
		if (directory->n == maximum)
			return error_set(error, STATUS_LIMIT, "%s holds more than %zu names", path,
					 maximum);
		if (!name_add(directory, name, n))
			return error_set(error, STATUS_NO_MEMORY, "no memory to list %s", path);
	}
	return STATUS_OK;
}

enum status directory_list(struct directory *directory, const struct sys *sys, int dir_fd,
			   const char *path, size_t maximum, struct error *error)
{
	_Alignas(struct dirent64) char block[BLOCK_BYTES];
	enum status status = STATUS_OK;
	int fd;

	*directory = (struct directory){ 0 };
	fd = sys->openat(sys->state, dir_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (fd < 0)
		return error_set_errno(error, status_from_errno(-fd), -fd, "cannot open %s", path);
	while (status == STATUS_OK) {
		ssize_t size = sys->getdents(sys->state, fd, block, sizeof(block));

		if (size == 0)
			break;
		if (size < 0)
			status = error_set_errno(error, status_from_errno((int)-size), (int)-size,
						 "cannot list %s", path);
		else
			status = block_add(directory, block, (size_t)size, path, maximum, error);
	}
	sys->close(sys->state, fd);
	if (status != STATUS_OK)
		directory_release(directory);
	else if (directory->n)
		qsort(directory->names, directory->n, sizeof(*directory->names), name_order);
	return status;
}

void directory_release(struct directory *directory)
{
	for (size_t i = 0; i < directory->n; i++)
		free(directory->names[i]);
	free(directory->names);
	*directory = (struct directory){ 0 };
}
