/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bundle/draws.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

#define DRAWS_MAGIC        "ASSAYDRW"
#define DRAWS_VERSION      1u
#define DRAWS_HEADER_BYTES 16u
#define DRAWS_RECORD_BYTES 40u
/* Longest record of a later version that this one still reads (it may append fields). */
#define DRAWS_RECORD_MAX_BYTES 4096u
#define DRAWS_BUFFER_BYTES     (64u * 1024)

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define DRAWS_SWAP true
#else
#define DRAWS_SWAP false
#endif

struct draws_writer {
	const struct sys *sys;
	int fd;
	char name[64];
	struct error failed;
	uint64_t written; /* whole bytes in the file */
	size_t buffered;
	uint8_t buffer[DRAWS_BUFFER_BYTES];
};

struct draws_reader {
	const struct sys *sys;
	int fd;
	char name[64];
	uint32_t record_bytes;
	uint64_t offset; /* of the buffer's end in the file */
	size_t at, end;
	uint8_t buffer[DRAWS_BUFFER_BYTES];
};

static uint8_t *put64(uint8_t *at, uint64_t value)
{
	value = DRAWS_SWAP ? __builtin_bswap64(value) : value;
	memcpy(at, &value, sizeof(value));
	return at + sizeof(value);
}

static uint8_t *put32(uint8_t *at, uint32_t value)
{
	value = DRAWS_SWAP ? __builtin_bswap32(value) : value;
	memcpy(at, &value, sizeof(value));
	return at + sizeof(value);
}

enum status draws_writer_create(struct draws_writer **out, const struct sys *sys, int dir_fd,
				const char *name, struct error *error)
{
	struct draws_writer *writer = malloc(sizeof(*writer));
	enum status status;

	*out = NULL;
	if (!writer)
		return error_set(error, STATUS_NO_MEMORY, "no memory to write %s", name);
	writer->sys = sys;
	writer->failed.status = STATUS_OK;
	writer->written = 0;
	writer->buffered = DRAWS_HEADER_BYTES;
	snprintf(writer->name, sizeof(writer->name), "%s", name);
	memcpy(writer->buffer, DRAWS_MAGIC, 8);
	put32(put32(writer->buffer + 8, DRAWS_VERSION), DRAWS_RECORD_BYTES);
	writer->fd = sys->openat(sys->state, dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
				 0600);
	if (writer->fd < 0) {
		status = error_set_errno(error, status_from_errno(-writer->fd), -writer->fd,
					 "cannot create %s", name);
		free(writer);
		return status;
	}
	status = draws_writer_flush(writer, error);
	if (status != STATUS_OK) {
		sys->unlinkat(sys->state, dir_fd, name, 0);
		draws_writer_close(writer);
		return status;
	}
	*out = writer;
	return STATUS_OK;
}

enum status draws_writer_flush(struct draws_writer *writer, struct error *error)
{
	int result;

	if (writer->failed.status == STATUS_OK && writer->buffered) {
		result = sys_pwrite_all(writer->sys, writer->fd, writer->buffer, writer->buffered,
					(off_t)writer->written);
		if (result == 0) {
			writer->written += writer->buffered;
			writer->buffered = 0;
		} else {
			error_set_errno(&writer->failed, status_from_errno(-result), -result,
					"cannot write %s", writer->name);
		}
	}
	if (writer->failed.status != STATUS_OK && error)
		*error = writer->failed;
	return writer->failed.status;
}

enum status draws_writer_append(struct draws_writer *writer, const struct draw *draw,
				struct error *error)
{
	uint8_t *at;

	if (sizeof(writer->buffer) - writer->buffered < DRAWS_RECORD_BYTES) {
		const enum status status = draws_writer_flush(writer, error);

		if (status != STATUS_OK)
			return status;
	}
	at = writer->buffer + writer->buffered;
	at = put64(at, draw->before_ns);
	at = put64(at, draw->after_ns);
	at = put64(at, draw->period);
	at = put64(at, draw->epoch);
	at = put32(at, draw->clock);
	put32(at, draw->slot);
	writer->buffered += DRAWS_RECORD_BYTES;
	return STATUS_OK;
}

void draws_writer_close(struct draws_writer *writer)
{
	if (!writer)
		return;
	writer->sys->close(writer->sys->state, writer->fd);
	free(writer);
}

/* Fills the buffer behind what is left in it; at the end of the file nothing is added. */
static enum status reader_fill(struct draws_reader *reader, struct error *error)
{
	ssize_t n;

	memmove(reader->buffer, reader->buffer + reader->at, reader->end - reader->at);
	reader->end -= reader->at;
	reader->at = 0;
	n = sys_pread_full(reader->sys, reader->fd, reader->buffer + reader->end,
			   sizeof(reader->buffer) - reader->end, (off_t)reader->offset);
	if (n < 0)
		return error_set_errno(error, status_from_errno((int)-n), (int)-n, "cannot read %s",
				       reader->name);
	reader->offset += (uint64_t)n;
	reader->end += (size_t)n;
	return STATUS_OK;
}

static enum status reader_header(struct draws_reader *reader, struct error *error)
{
	enum status status = reader_fill(reader, error);
	struct bytes b = bytes_of(reader->buffer, reader->end, DRAWS_SWAP);
	const void *magic;
	uint32_t version;

	if (status != STATUS_OK)
		return status;
	magic = bytes_take(&b, 8);
	version = bytes_u32(&b);
	reader->record_bytes = bytes_u32(&b);
	if (b.failed || memcmp(magic, DRAWS_MAGIC, 8) != 0)
		return error_set_corrupt(error, 0, "%s is no log of draws", reader->name);
	if (version != DRAWS_VERSION || reader->record_bytes < DRAWS_RECORD_BYTES ||
	    reader->record_bytes > DRAWS_RECORD_MAX_BYTES)
		return error_set_corrupt(error, 8,
					 "%s has version %u with records of %u bytes; this assay "
					 "reads version %u with %u or more",
					 reader->name, version, reader->record_bytes, DRAWS_VERSION,
					 DRAWS_RECORD_BYTES);
	reader->at = DRAWS_HEADER_BYTES;
	return STATUS_OK;
}

enum status draws_reader_open(struct draws_reader **out, const struct sys *sys, int dir_fd,
			      const char *name, struct error *error)
{
	struct draws_reader *reader = malloc(sizeof(*reader));
	enum status status;

	*out = NULL;
	if (!reader)
		return error_set(error, STATUS_NO_MEMORY, "no memory to read %s", name);
	reader->sys = sys;
	reader->offset = 0;
	reader->at = reader->end = 0;
	snprintf(reader->name, sizeof(reader->name), "%s", name);
	reader->fd = sys->openat(sys->state, dir_fd, name, O_RDONLY | O_CLOEXEC, 0);
	if (reader->fd < 0) {
		status = error_set_errno(error, status_from_errno(-reader->fd), -reader->fd,
					 "cannot open %s", name);
		free(reader);
		return status;
	}
	status = reader_header(reader, error);
	if (status != STATUS_OK) {
		draws_reader_close(reader);
		return status;
	}
	*out = reader;
	return STATUS_OK;
}

/* A record cut by the end of the file was being written when the recorder died: it is not given. */
enum status draws_reader_next(struct draws_reader *reader, struct draw *draw, struct error *error)
{
	struct bytes b;

	if (reader->end - reader->at < reader->record_bytes) {
		const enum status status = reader_fill(reader, error);

		if (status != STATUS_OK)
			return status;
		if (reader->end - reader->at < reader->record_bytes)
			return STATUS_END;
	}
	b = bytes_of(reader->buffer + reader->at, reader->record_bytes, DRAWS_SWAP);
	draw->before_ns = bytes_u64(&b);
	draw->after_ns = bytes_u64(&b);
	draw->period = bytes_u64(&b);
	draw->epoch = bytes_u64(&b);
	draw->clock = bytes_u32(&b);
	draw->slot = bytes_u32(&b);
	reader->at += reader->record_bytes;
	return STATUS_OK;
}

void draws_reader_close(struct draws_reader *reader)
{
	if (!reader)
		return;
	reader->sys->close(reader->sys->state, reader->fd);
	free(reader);
}
