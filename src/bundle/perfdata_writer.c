/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bundle/perfdata_writer.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "bundle/perfdata_format.h"
#include "bundle/perfdata_writer_state.h"

/* Appended records are gathered to this size before they are written. */
#define WRITER_BUFFER_BYTES (256u * 1024)

/*
 *	  0 header, 104 bytes
 *	104 ids of event 0, event 1, ...
 *	    attributes, each sizeof(struct perf_event_attr) | ids.offset | ids.size
 *	    data
 */
struct file_header {
	uint64_t magic, size, attr_size;
	uint64_t attrs_offset, attrs_size, data_offset, data_size, types_offset, types_size;
	uint64_t features[4];
};

_Static_assert(sizeof(struct file_header) == PERFDATA_HEADER_BYTES, "header of the format");

/* perf 6.1 refuses attributes longer than it knows: 128 bytes, which holds all that assay sets. */
#define WRITER_ATTR_BYTES 128u

static enum status writer_failed(struct perfdata_writer *writer, int os_errno, const char *doing,
				 struct error *error)
{
	if (writer->failed.status == STATUS_OK)
		error_set_errno(&writer->failed, status_from_errno(os_errno), os_errno,
				"cannot %s %s", doing, writer->name);
	if (error)
		*error = writer->failed;
	return writer->failed.status;
}

static enum status writer_usable(const struct perfdata_writer *writer, struct error *error)
{
	if (writer->failed.status != STATUS_OK && error)
		*error = writer->failed;
	return writer->failed.status;
}

static int write_at(struct perfdata_writer *writer, const void *data, size_t size, uint64_t offset)
{
	return sys_pwrite_all(writer->sys, writer->fd, data, size, (off_t)offset);
}

static int header_write(struct perfdata_writer *writer)
{
	struct file_header header = {
		.magic = PERFDATA_MAGIC_2,
		.size = PERFDATA_HEADER_BYTES,
		.attr_size = WRITER_ATTR_BYTES + PERFDATA_SECTION_BYTES,
		.attrs_offset = writer->attrs_offset,
		.attrs_size = writer->n_events * (WRITER_ATTR_BYTES + PERFDATA_SECTION_BYTES),
		.data_offset = writer->data_offset,
		.data_size = writer->committed,
		.features = { writer->features },
	};

	return write_at(writer, &header, sizeof(header), 0);
}

/* The front of the file as it will stay: ids and attributes. */
static uint8_t *front_make(struct perfdata_writer *writer,
			   const struct perfdata_writer_event *events, size_t n_ids, size_t *size)
{
	uint64_t ids_at = PERFDATA_HEADER_BYTES;
	uint8_t *front, *at, *attr_at;

	*size = n_ids * sizeof(uint64_t) +
		writer->n_events * (WRITER_ATTR_BYTES + PERFDATA_SECTION_BYTES);
	front = calloc(1, *size + 1);
	if (!front)
		return NULL;
	at = front;
	attr_at = front + n_ids * sizeof(uint64_t);
	for (size_t i = 0; i < writer->n_events; i++) {
		const uint64_t section[2] = { ids_at, events[i].n_ids * sizeof(uint64_t) };
		struct perf_event_attr attr = *events[i].attr;

		attr.size = WRITER_ATTR_BYTES;
		if (section[1])
			memcpy(at, events[i].ids, section[1]);
		memcpy(attr_at, &attr,
		       sizeof(attr) < WRITER_ATTR_BYTES ? sizeof(attr) : WRITER_ATTR_BYTES);
		memcpy(attr_at + WRITER_ATTR_BYTES, section, sizeof(section));
		at += section[1];
		ids_at += section[1];
		attr_at += WRITER_ATTR_BYTES + PERFDATA_SECTION_BYTES;
	}
	writer->attrs_offset = ids_at;
	writer->data_offset = PERFDATA_HEADER_BYTES + *size;
	return front;
}

/* Names, ids and attributes are needed again for the EVENT_DESC feature. */
static bool events_keep(struct perfdata_writer *writer, const struct perfdata_writer_event *events,
			size_t n_events)
{
	writer->events = calloc(n_events + 1, sizeof(*writer->events));
	if (!writer->events)
		return false;
	for (; writer->n_events < n_events; writer->n_events++) {
		const struct perfdata_writer_event *from = &events[writer->n_events];
		struct kept_event *to = &writer->events[writer->n_events];

		to->attr = *from->attr;
		to->attr.size = WRITER_ATTR_BYTES;
		to->n_ids = from->n_ids;
		to->name = strdup(from->name ? from->name : "");
		to->ids = malloc(from->n_ids * sizeof(uint64_t) + 1);
		if (to->ids && from->n_ids)
			memcpy(to->ids, from->ids, from->n_ids * sizeof(uint64_t));
		if (!to->name || !to->ids) {
			writer->n_events++;
			return false;
		}
	}
	return true;
}

/* perf refuses the whole file when a sample's read values do not name their event. */
static enum status events_check(const struct perfdata_writer_event *events, size_t n_events,
				struct error *error)
{
	for (size_t i = 0; i < n_events; i++)
		if ((events[i].attr->sample_type & PERF_SAMPLE_READ) &&
		    !(events[i].attr->read_format & PERF_FORMAT_ID))
			return error_set(error, STATUS_USAGE,
					 "event %s has PERF_SAMPLE_READ without PERF_FORMAT_ID, "
					 "which perf cannot read",
					 events[i].name ? events[i].name : "(unnamed)");
	return STATUS_OK;
}

static enum status front_write(struct perfdata_writer *writer,
			       const struct perfdata_writer_event *events, size_t n_events,
			       struct error *error)
{
	size_t n_ids = 0, size;
	uint8_t *front;
	int result;

	for (size_t i = 0; i < n_events; i++)
		n_ids += events[i].n_ids;
	front = front_make(writer, events, n_ids, &size);
	if (!front)
		return error_set(error, STATUS_NO_MEMORY, "no memory to write %s", writer->name);
	result = write_at(writer, front, size, PERFDATA_HEADER_BYTES);
	free(front);
	if (result == 0)
		result = header_write(writer);
	if (result < 0)
		return writer_failed(writer, -result, "write", error);
	return STATUS_OK;
}

enum status perfdata_writer_create(struct perfdata_writer **out, const struct sys *sys, int dir_fd,
				   const char *name, const struct perfdata_writer_event *events,
				   size_t n_events, struct error *error)
{
	struct perfdata_writer *writer;
	enum status status = events_check(events, n_events, error);

	*out = NULL;
	if (status != STATUS_OK)
		return status;
	writer = calloc(1, sizeof(*writer));
	if (!writer)
		return error_set(error, STATUS_NO_MEMORY, "no memory to write %s", name);
	writer->sys = sys;
	writer->fd = -1;
	writer->name = strdup(name);
	writer->buffer = malloc(WRITER_BUFFER_BYTES);
	if (!writer->name || !writer->buffer || !events_keep(writer, events, n_events)) {
		perfdata_writer_close(writer);
		return error_set(error, STATUS_NO_MEMORY, "no memory to write %s", name);
	}
	writer->fd = sys->openat(sys->state, dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
				 0600);
	if (writer->fd < 0) {
		status = error_set_errno(error, status_from_errno(-writer->fd), -writer->fd,
					 "cannot create %s", name);
		perfdata_writer_close(writer);
		return status;
	}
	status = front_write(writer, events, n_events, error);
	if (status != STATUS_OK) {
		sys->unlinkat(sys->state, dir_fd, name, 0);
		perfdata_writer_close(writer);
		return status;
	}
	*out = writer;
	return STATUS_OK;
}

/* Writes data behind what is written already. */
static enum status data_write(struct perfdata_writer *writer, const void *data, size_t size,
			      struct error *error)
{
	const int result = write_at(writer, data, size, writer->data_offset + writer->written);

	if (result < 0)
		return writer_failed(writer, -result, "write records to", error);
	writer->written += size;
	return STATUS_OK;
}

static enum status buffer_flush(struct perfdata_writer *writer, struct error *error)
{
	enum status status;

	if (!writer->buffered)
		return STATUS_OK;
	status = data_write(writer, writer->buffer, writer->buffered, error);
	if (status == STATUS_OK)
		writer->buffered = 0;
	return status;
}

enum status perfdata_writer_append(struct perfdata_writer *writer, const void *record, size_t size,
				   struct error *error)
{
	enum status status = writer_usable(writer, error);

	if (status != STATUS_OK)
		return status;
	if (size < sizeof(struct perf_event_header) || size % 8)
		return error_set(error, STATUS_USAGE, "a record of %zu bytes cannot be", size);
	if (size > WRITER_BUFFER_BYTES - writer->buffered) {
		status = buffer_flush(writer, error);
		if (status != STATUS_OK)
			return status;
	}
	if (size > WRITER_BUFFER_BYTES)
		return data_write(writer, record, size, error);
	memcpy(writer->buffer + writer->buffered, record, size);
	writer->buffered += size;
	return STATUS_OK;
}

uint64_t perfdata_writer_data_bytes(const struct perfdata_writer *writer)
{
	return writer->written + writer->buffered;
}

enum status perfdata_writer_commit(struct perfdata_writer *writer, struct error *error)
{
	enum status status = writer_usable(writer, error);
	int result;

	if (status == STATUS_OK)
		status = buffer_flush(writer, error);
	if (status != STATUS_OK || writer->written == writer->committed)
		return status;
	result = write_at(writer, &writer->written, sizeof(writer->written),
			  offsetof(struct file_header, data_size));
	if (result < 0)
		return writer_failed(writer, -result, "update the header of", error);
	writer->committed = writer->written;
	return STATUS_OK;
}

/*
 * The sections go behind the data before the header names them: until its last write the file is one
 * without features, and it stays one if that write fails.
 */
enum status perfdata_writer_finish(struct perfdata_writer *writer,
				   const struct perfdata_writer_features *features,
				   struct error *error)
{
	struct writer_bytes bytes = { 0 };
	uint64_t bits;
	enum status status = perfdata_writer_commit(writer, error);
	int result;

	if (status != STATUS_OK)
		return status;
	if (!perfdata_writer_features_make(writer, features, &bytes, &bits)) {
		free(bytes.data);
		return error_set(error, STATUS_NO_MEMORY, "no memory to finish %s", writer->name);
	}
	result = write_at(writer, bytes.data, bytes.size, writer->data_offset + writer->committed);
	free(bytes.data);
	if (result == 0) {
		writer->features = bits;
		result = header_write(writer);
	}
	if (result < 0) {
		/* what stands behind the data now would read as records of an unfinished file */
		writer->sys->ftruncate(writer->sys->state, writer->fd,
				       (off_t)(writer->data_offset + writer->committed));
		return writer_failed(writer, -result, "finish", error);
	}
	return STATUS_OK;
}

void perfdata_writer_close(struct perfdata_writer *writer)
{
	if (!writer)
		return;
	if (writer->fd >= 0)
		writer->sys->close(writer->sys->state, writer->fd);
	for (size_t i = 0; i < writer->n_events; i++) {
		free(writer->events[i].name);
		free(writer->events[i].ids);
	}
	free(writer->events);
	free(writer->buffer);
	free(writer->name);
	free(writer);
}
