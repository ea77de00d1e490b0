/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "record/record_bytes.h"

#include <limits.h>

/* Appends to the record in the buffer; record.size is the cursor. */
static void put(struct record_buffer *buffer, const void *data, size_t size)
{
	struct perf_event_header *header = (struct perf_event_header *)(void *)buffer->bytes;

	memcpy(buffer->bytes + header->size, data, size);
	header->size = (uint16_t)(header->size + size);
}

static void put_u32(struct record_buffer *buffer, uint32_t value)
{
	put(buffer, &value, sizeof(value));
}

static void put_u64(struct record_buffer *buffer, uint64_t value)
{
	put(buffer, &value, sizeof(value));
}

/* A string and its NUL, filled up to a multiple of 8. */
static void put_string(struct record_buffer *buffer, const char *text, size_t maximum)
{
	static const uint8_t zero[8];
	const size_t length = strnlen(text, maximum - 1);

	put(buffer, text, length);
	put(buffer, zero, 8 - length % 8);
}

static void start(struct record_buffer *buffer, uint32_t type, uint16_t misc)
{
	const struct perf_event_header header = { type, misc, sizeof(header) };

	memcpy(buffer->bytes, &header, sizeof(header));
}

static struct perf_event_header *end(struct record_buffer *buffer)
{
	static const uint8_t trailer[TRAILER_BYTES];

	put(buffer, trailer, sizeof(trailer));
	return (struct perf_event_header *)(void *)buffer->bytes;
}

struct perf_event_header *record_make_mmap2(struct record_buffer *buffer,
					    const struct mapping_bytes *mapping)
{
	start(buffer, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER);
	put_u32(buffer, (uint32_t)mapping->pid);
	put_u32(buffer, (uint32_t)mapping->tid);
	put_u64(buffer, mapping->address);
	put_u64(buffer, mapping->length);
	put_u64(buffer, mapping->offset);
	put_u32(buffer, mapping->major);
	put_u32(buffer, mapping->minor);
	put_u64(buffer, mapping->inode);
	put_u64(buffer, mapping->generation);
	put_u32(buffer, mapping->protection);
	put_u32(buffer, mapping->flags);
	put_string(buffer, mapping->path, PATH_MAX);
	return end(buffer);
}

struct perf_event_header *record_make_kernel_mmap(struct record_buffer *buffer, uint64_t address,
						  uint64_t length, uint64_t offset,
						  const char *name)
{
	start(buffer, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL);
	put_u32(buffer, UINT32_MAX);
	put_u32(buffer, 0);
	put_u64(buffer, address);
	put_u64(buffer, length);
	put_u64(buffer, offset);
	put_string(buffer, name, PATH_MAX);
	return end(buffer);
}

struct perf_event_header *record_make_comm(struct record_buffer *buffer, pid_t pid, pid_t tid,
					   const char *comm)
{
	start(buffer, PERF_RECORD_COMM, 0);
	put_u32(buffer, (uint32_t)pid);
	put_u32(buffer, (uint32_t)tid);
	put_string(buffer, comm, 16);
	return end(buffer);
}

struct perf_event_header *record_make_fork(struct record_buffer *buffer, pid_t pid, pid_t tid,
					   pid_t parent_pid, pid_t parent_tid)
{
	start(buffer, PERF_RECORD_FORK, 0);
	put_u32(buffer, (uint32_t)pid);
	put_u32(buffer, (uint32_t)parent_pid);
	put_u32(buffer, (uint32_t)tid);
	put_u32(buffer, (uint32_t)parent_tid);
	put_u64(buffer, 0);
	return end(buffer);
}

struct perf_event_header *record_make_finished_round(struct record_buffer *buffer)
{
	start(buffer, RECORD_FINISHED_ROUND, 0);
	return (struct perf_event_header *)(void *)buffer->bytes;
}
