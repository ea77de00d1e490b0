/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "record/objects.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/array.h"
#include "base/hash.h"

#define DIRECTORY_NAME "objects"
#define COPY_BLOCK     (256u * 1024)

void objects_init(struct objects *objects, const struct sys *sys, int bundle_fd, size_t max_fds)
{
	*objects = (struct objects){
		.sys = sys, .bundle_fd = bundle_fd, .directory_fd = -1, .max_fds = max_fds
	};
}

static void object_close(struct objects *objects, struct object *object)
{
	if (object->fd < 0)
		return;
	objects->sys->close(objects->sys->state, object->fd);
	object->fd = -1;
	objects->fds--;
}

void objects_release(struct objects *objects)
{
	for (size_t i = 0; i < objects->n; i++) {
		struct object *object = &objects->items[i];

		object_close(objects, object);
		free(object->manifest.path);
		free(object->manifest.build_id);
		free(object->manifest.copy);
		free(object->manifest.missing);
	}
	free(objects->items);
	id_map_release(&objects->by_name);
	if (objects->directory_fd >= 0)
		objects->sys->close(objects->sys->state, objects->directory_fd);
	*objects = (struct objects){ .directory_fd = -1 };
}

static uint64_t name_of(const struct mapping *mapping)
{
	uint64_t h = hash_bytes(mapping->path, strlen(mapping->path));

	h = hash_combine(h, makedev(mapping->major, mapping->minor));
	return hash_combine(h, mapping->inode);
}

static int directory_open(struct objects *objects)
{
	const struct sys *sys = objects->sys;
	int result;

	if (objects->directory_fd >= 0)
		return objects->directory_fd;
	result = sys->mkdirat(sys->state, objects->bundle_fd, DIRECTORY_NAME, 0700);
	if (result < 0 && result != -EEXIST)
		return result;
	objects->directory_fd = sys->openat(sys->state, objects->bundle_fd, DIRECTORY_NAME,
					    O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	return objects->directory_fd;
}

static int bytes_copy(const struct sys *sys, int from, int to, uint64_t maximum)
{
	char *block = malloc(COPY_BLOCK);
	uint64_t done = 0;
	int result = block ? 0 : -ENOMEM;

	while (result == 0 && done < maximum) {
		const ssize_t n = sys_pread_full(sys, from, block, COPY_BLOCK, (off_t)done);

		if (n <= 0) {
			result = (int)n;
			break;
		}
		result = sys_write_all(sys, to, block, (size_t)n);
		done += (uint64_t)n;
	}
	free(block);
	return result;
}

/* Two objects with the same build-id are one file: the copy that is there already serves. */
static int copy_make(struct objects *objects, const struct object *object, const char *name)
{
	const struct sys *sys = objects->sys;
	const int directory = directory_open(objects);
	int to, result;

	if (directory < 0)
		return directory;
	to = sys->openat(sys->state, directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
			 0600);
	if (to == -EEXIST)
		return 0;
	if (to < 0)
		return to;
	result = bytes_copy(sys, object->fd, to, OBJECTS_MAX_COPY_BYTES);
	sys->close(sys->state, to);
	if (result < 0)
		sys->unlinkat(sys->state, directory, name, 0);
	return result;
}

static void missing_set(struct object *object, const char *text)
{
	free(object->manifest.missing);
	object->manifest.missing = strdup(text);
}

static void object_copy(struct objects *objects, struct object *object)
{
	char name[2 * BUILD_ID_MAX_BYTES + 32];
	int result;

	object->must_copy = false;
	if (object->manifest.size > OBJECTS_MAX_COPY_BYTES ||
	    object->manifest.size > OBJECTS_MAX_TOTAL_BYTES - objects->copied_bytes) {
		missing_set(object, "too large to be copied into the bundle");
		return;
	}
	if (object->build_id_size)
		build_id_format(object->build_id, object->build_id_size, name);
	else
		snprintf(name, sizeof(name), "%" PRIx64 "-%" PRIu64, object->manifest.device,
			 object->manifest.inode);
	result = copy_make(objects, object, name);
	if (result < 0) {
		char text[160];

		snprintf(text, sizeof(text), "could not be copied into the bundle: %s",
			 strerror(-result));
		missing_set(object, text);
		return;
	}
	objects->copied_bytes += object->manifest.size;
	object->manifest.copy = strdup(name);
	object->written = false;
}

/* Fills in what the open file says. */
static void object_identify(struct object *object, const struct mapped_file *file,
			    const struct sys *sys)
{
	char text[2 * BUILD_ID_MAX_BYTES + 1];

	object->stat = file->stat;
	object->manifest.device = file->stat.st_dev;
	object->manifest.inode = file->stat.st_ino;
	object->manifest.size = (uint64_t)file->stat.st_size;
	object->manifest.mtime_ns = (uint64_t)file->stat.st_mtim.tv_sec * 1000000000u +
				    (uint64_t)file->stat.st_mtim.tv_nsec;
	object->build_id_size = build_id_read(sys, file->fd, object->build_id);
	if (!object->build_id_size)
		return;
	build_id_format(object->build_id, object->build_id_size, text);
	object->manifest.build_id = strdup(text);
}

static void object_read(struct objects *objects, struct object *object,
			const struct mapping *mapping)
{
	struct mapped_file file;
	struct error why;

	if (mapped_file_open(&file, objects->sys, mapping, &why) != STATUS_OK) {
		object->manifest.device = makedev(mapping->major, mapping->minor);
		object->manifest.inode = mapping->inode;
		missing_set(object, why.text);
		return;
	}
	object->fd = file.fd;
	objects->fds++;
	object_identify(object, &file, objects->sys);
	object->must_copy = !file.path_is_it;
	if (object->must_copy &&
	    (object->manifest.size <= OBJECTS_SMALL_BYTES || objects->fds > objects->max_fds))
		object_copy(objects, object);
	if (objects->fds > objects->max_fds || object->manifest.copy)
		object_close(objects, object);
}

static bool is_file(const struct mapping *mapping)
{
	return mapping->path[0] == '/' && mapping->inode;
}

enum status objects_note(struct objects *objects, const struct mapping *mapping,
			 struct error *error)
{
	struct object *object;
	uint64_t name;

	if (!is_file(mapping) || objects->n == OBJECTS_MAX)
		return STATUS_OK;
	name = name_of(mapping);
	if (id_map_get(&objects->by_name, name) != ID_MAP_NONE)
		return STATUS_OK;
	if (!array_reserve(&objects->items, &objects->capacity, objects->n + 1) ||
	    !id_map_put(&objects->by_name, name, (uint32_t)objects->n))
		return error_set(error, STATUS_NO_MEMORY, "no memory for the mapped files");
	object = &objects->items[objects->n];
	*object = (struct object){ .fd = -1 };
	object->manifest.path = strdup(mapping->path);
	if (!object->manifest.path)
		return error_set(error, STATUS_NO_MEMORY, "no memory for the mapped files");
	objects->n++;
	object_read(objects, object, mapping);
	return STATUS_OK;
}

void objects_finish(struct objects *objects)
{
	for (size_t i = 0; i < objects->n; i++) {
		struct object *object = &objects->items[i];

		if (object->fd < 0)
			continue;
		if (object->must_copy ||
		    !mapped_file_is_at(objects->sys, object->manifest.path, &object->stat))
			object_copy(objects, object);
		object_close(objects, object);
	}
}
