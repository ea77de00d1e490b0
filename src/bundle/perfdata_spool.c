/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Copies input that cannot be rewound, or that is gzip-compressed, into a temporary file without a
 * name, so that the reader can take it in windows and twice. The file lies in $TMPDIR, else /tmp, and
 * is gone when the reader closes it or dies. Both ways are bounded by a named maximum.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "bundle/perfdata_format.h"
#include "bundle/perfdata_source.h"

#define SPOOL_CHUNK_BYTES (64u * 1024)

static const char *spool_directory(void)
{
	const char *directory = getenv("TMPDIR");

	return directory && *directory ? directory : "/tmp";
}

/* O_TMPFILE needs help of the file system; where it is missing, a random name is made and removed. */
static int spool_create(const struct sys *sys, const char *directory)
{
	const int fd = sys->openat(sys->state, AT_FDCWD, directory,
				   O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);

	if (fd >= 0 || (fd != -EOPNOTSUPP && fd != -EISDIR && fd != -EINVAL))
		return fd;
	for (int tries = 0; tries < 100; tries++) {
		char path[4096];
		uint64_t name = 0;
		int named;

		if (sys->getrandom(sys->state, &name, sizeof(name), 0) != (ssize_t)sizeof(name))
			return -EIO;
		if (snprintf(path, sizeof(path), "%s/assay-%016llx", directory,
			     (unsigned long long)name) >= (int)sizeof(path))
			return -ENAMETOOLONG;
		named = sys->openat(sys->state, AT_FDCWD, path,
				    O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (named == -EEXIST)
			continue;
		if (named >= 0)
			sys->unlinkat(sys->state, AT_FDCWD, path, 0);
		return named;
	}
	return -EEXIST;
}

struct spool {
	const struct sys *sys;
	int fd;
	uint64_t size, maximum;
	const char *label;
};

static enum status spool_write(struct spool *spool, const void *data, size_t size,
			       struct error *error)
{
	int result;

	if (size > spool->maximum - spool->size)
		return error_set(
			error, STATUS_LIMIT,
			"%s holds more than %llu bytes once it is unpacked: unpack it to a "
			"file and give that",
			spool->label, (unsigned long long)spool->maximum);
	result = sys_pwrite_all(spool->sys, spool->fd, data, size, (off_t)spool->size);
	if (result < 0)
		return error_set_errno(error, status_from_errno(-result), -result,
				       "cannot keep %s in a temporary file in %s (set TMPDIR to a "
				       "directory with room)",
				       spool->label, spool_directory());
	spool->size += size;
	return STATUS_OK;
}

static enum status spool_copy(struct spool *spool, int from, struct error *error)
{
	enum status status = STATUS_OK;
	uint8_t *chunk = malloc(SPOOL_CHUNK_BYTES);

	if (!chunk)
		return error_set(error, STATUS_NO_MEMORY, "no memory to read %s", spool->label);
	for (;;) {
		const ssize_t n = sys_read_full(spool->sys, from, chunk, SPOOL_CHUNK_BYTES);

		if (n < 0) {
			status = error_set_errno(error, status_from_errno((int)-n), (int)-n,
						 "cannot read %s", spool->label);
			break;
		}
		if (n == 0)
			break;
		status = spool_write(spool, chunk, (size_t)n, error);
		if (status != STATUS_OK)
			break;
	}
	free(chunk);
	return status;
}

/* Unpacks what is in the input buffer. STATUS_END when the last member is complete and none follows. */
static enum status gunzip_step(struct spool *spool, z_stream *zlib, uint8_t *out,
			       struct error *error)
{
	while (zlib->avail_in) {
		enum status status;
		int result;

		zlib->next_out = out;
		zlib->avail_out = SPOOL_CHUNK_BYTES;
		result = inflate(zlib, Z_NO_FLUSH);
		if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
			return error_set(error, STATUS_CORRUPT, "%s is damaged gzip data: %s",
					 spool->label, zlib->msg ? zlib->msg : "bad stream");
		status = spool_write(spool, out, SPOOL_CHUNK_BYTES - zlib->avail_out, error);
		if (status != STATUS_OK)
			return status;
		/* Padding behind the last member is not a further member. */
		if (result == Z_STREAM_END) {
			if (!zlib->avail_in || *zlib->next_in != 0x1f)
				return STATUS_END;
			inflateReset(zlib);
		}
	}
	return STATUS_OK;
}

/* A cut gzip file gives what could be unpacked: the perf.data reader will say where it ends. */
static enum status spool_gunzip(struct spool *spool, const struct perfdata_source *from,
				struct error *error)
{
	enum status status = STATUS_OK;
	uint8_t *in = malloc(SPOOL_CHUNK_BYTES), *out = malloc(SPOOL_CHUNK_BYTES);
	z_stream zlib = { 0 };
	uint64_t offset = 0;

	if (!in || !out || inflateInit2(&zlib, 15 + 16) != Z_OK) {
		free(in);
		free(out);
		return error_set(error, STATUS_NO_MEMORY, "no memory to unpack %s", from->label);
	}
	while (status == STATUS_OK) {
		size_t got;

		status = perfdata_source_read(from, in, SPOOL_CHUNK_BYTES, offset, &got, error);
		if (status != STATUS_OK || !got)
			break;
		offset += got;
		zlib.next_in = in;
		zlib.avail_in = (uInt)got;
		status = gunzip_step(spool, &zlib, out, error);
	}
	inflateEnd(&zlib);
	free(in);
	free(out);
	return status == STATUS_END ? STATUS_OK : status;
}

enum status perfdata_source_spool(struct perfdata_source *source, bool gunzip, struct error *error)
{
	const struct sys *sys = source->sys;
	struct spool spool = { sys, spool_create(sys, spool_directory()), 0,
			       gunzip ? PERFDATA_GUNZIP_MAX_BYTES : PERFDATA_SPOOL_MAX_BYTES,
			       source->label };
	enum status status;

	if (spool.fd < 0)
		return error_set_errno(error, status_from_errno(-spool.fd), -spool.fd,
				       "cannot make a temporary file in %s to hold %s (set TMPDIR)",
				       spool_directory(), source->label);
	status = gunzip ? spool_gunzip(&spool, source, error)
			: spool_copy(&spool, source->fd, error);
	if (status != STATUS_OK) {
		sys->close(sys->state, spool.fd);
		return status;
	}
	if (source->close_fd)
		sys->close(sys->state, source->fd);
	source->fd = spool.fd;
	source->close_fd = true;
	source->size = spool.size;
	return STATUS_OK;
}
