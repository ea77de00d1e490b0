/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bundle/bundle.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_BYTES 4096

/* The descriptor of the bundle's directory, -1 when `path` is no bundle. */
static int bundle_directory(const struct sys *sys, const char *path)
{
	struct stat stat;
	int fd;

	if (!strcmp(path, "-"))
		return -1;
	fd = sys->openat(sys->state, AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	if (sys->fstatat(sys->state, fd, "manifest.json", &stat, 0) == 0)
		return fd;
	sys->close(sys->state, fd);
	return -1;
}

static enum status manifest_load(struct bundle *bundle, const struct sys *sys, struct error *error)
{
	char *text;
	size_t size;
	enum status status = sys_read_file(sys, bundle->dir_fd, "manifest.json", MANIFEST_MAX_BYTES,
					   &text, &size, error);

	if (status == STATUS_OK) {
		status = manifest_parse(&bundle->manifest, text, size, error);
		free(text);
	}
	if (status != STATUS_OK) {
		error_prefix(error, "bundle %s", bundle->path);
		return status;
	}
	bundle->has_manifest = true;
	return STATUS_OK;
}

static enum status data_open(struct bundle *bundle, const struct sys *sys, struct error *error)
{
	const struct manifest *manifest = &bundle->manifest;
	char label[PATH_BYTES];
	enum status status;

	snprintf(label, sizeof(label), "%s/perf.data", bundle->path);
	status = perfdata_reader_open_at(&bundle->reader, sys, bundle->dir_fd, "perf.data", label,
					 error);
	/* A full disk can end the manifest where perf.data could not be finished. */
	if (status == STATUS_OK &&
	    !(manifest->end.present && perfdata_reader_header(bundle->reader)->finished))
		perfdata_reader_limit(bundle->reader,
				      manifest->n_epochs
					      ? manifest->epochs[manifest->n_epochs - 1].data_bytes
					      : 0);
	return status;
}

enum status bundle_open(struct bundle *bundle, const struct sys *sys, const char *path,
			struct error *error)
{
	enum status status;

	*bundle = (struct bundle){ .path = strdup(path), .dir_fd = -1, .sys = sys };
	manifest_init(&bundle->manifest);
	if (!bundle->path)
		return error_set(error, STATUS_NO_MEMORY, "no memory to open %s", path);
	bundle->dir_fd = bundle_directory(sys, path);
	if (bundle->dir_fd < 0) {
		status = perfdata_reader_open(&bundle->reader, sys, path, error);
	} else {
		status = manifest_load(bundle, sys, error);
		if (status == STATUS_OK)
			status = data_open(bundle, sys, error);
	}
	if (status != STATUS_OK)
		bundle_close(bundle);
	return status;
}

void bundle_close(struct bundle *bundle)
{
	perfdata_reader_close(bundle->reader);
	bundle->reader = NULL;
	manifest_release(&bundle->manifest);
	bundle->has_manifest = false;
	if (bundle->dir_fd >= 0)
		bundle->sys->close(bundle->sys->state, bundle->dir_fd);
	bundle->dir_fd = -1;
	free(bundle->path);
	bundle->path = NULL;
}
