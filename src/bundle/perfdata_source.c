/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bundle/perfdata_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

void perfdata_source_memory(struct perfdata_source *source, const void *data, size_t size)
{
	*source = (struct perfdata_source){ .fd = -1, .memory = data, .size = size };
	snprintf(source->label, sizeof(source->label), "memory");
}

void perfdata_source_close(struct perfdata_source *source)
{
	if (source->fd >= 0 && source->close_fd)
		source->sys->close(source->sys->state, source->fd);
	source->fd = -1;
	source->memory = NULL;
	source->size = 0;
}

enum status perfdata_source_read(const struct perfdata_source *source, void *buffer, size_t size,
				 uint64_t offset, size_t *got, struct error *error)
{
	ssize_t n;

	*got = 0;
	if (offset >= source->size)
		return STATUS_OK;
	if (size > source->size - offset)
		size = (size_t)(source->size - offset);
	if (source->memory) {
		memcpy(buffer, source->memory + offset, size);
		*got = size;
		return STATUS_OK;
	}
	n = sys_pread_full(source->sys, source->fd, buffer, size, (off_t)offset);
	if (n < 0)
		return error_set_errno(error, status_from_errno((int)-n), (int)-n,
				       "cannot read %s at offset %#llx", source->label,
				       (unsigned long long)offset);
	*got = (size_t)n;
	return STATUS_OK;
}

static enum status source_refuse_special(const struct perfdata_source *source, mode_t mode,
					 struct error *error)
{
	if (S_ISBLK(mode))
		return error_set(error, STATUS_UNSUPPORTED, "%s is a block device, not a recording",
				 source->label);
	return STATUS_OK;
}

enum status perfdata_source_open(struct perfdata_source *source, const struct sys *sys, int dir_fd,
				 const char *name, const char *label, bool *is_directory,
				 struct error *error)
{
	const bool standard_input = !strcmp(name, "-");
	enum status status;
	struct stat stat;
	uint8_t magic[2];
	size_t got;
	int result;

	*is_directory = false;
	*source = (struct perfdata_source){ .sys = sys, .fd = 0, .close_fd = !standard_input };
	snprintf(source->label, sizeof(source->label), "%s",
		 standard_input ? "standard input" : label);
	if (!standard_input)
		source->fd =
			sys->openat(sys->state, dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOCTTY, 0);
	if (source->fd < 0)
		return error_set_errno(error, status_from_errno(-source->fd), -source->fd,
				       "cannot open %s", source->label);
	result = sys->fstat(sys->state, source->fd, &stat);
	if (result < 0) {
		status = error_set_errno(error, status_from_errno(-result), -result,
					 "cannot look at %s", source->label);
		goto fail;
	}
	if (S_ISDIR(stat.st_mode)) {
		*is_directory = true;
		status = STATUS_UNSUPPORTED;
		goto fail;
	}
	status = source_refuse_special(source, stat.st_mode, error);
	if (status != STATUS_OK)
		goto fail;
	source->size = stat.st_size < 0 ? 0 : (uint64_t)stat.st_size;
	if (!S_ISREG(stat.st_mode)) {
		status = perfdata_source_spool(source, false, error);
		if (status != STATUS_OK)
			goto fail;
	}
	status = perfdata_source_read(source, magic, sizeof(magic), 0, &got, error);
	if (status == STATUS_OK && got == 2 && magic[0] == 0x1f && magic[1] == 0x8b)
		status = perfdata_source_spool(source, true, error);
	if (status == STATUS_OK)
		return STATUS_OK;
fail:
	perfdata_source_close(source);
	return status;
}
