/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Records that assay makes itself, in the kernel's layout (include/uapi/linux/perf_event.h), and the
 * places in kernel records that it rewrites.
 *
 * sample, with the sample_type of attributes.c:
 *	 0 header | 8 id | 16 ip | 24 pid, tid | 32 time | 40 cpu, 0 | 48 period |
 *	56 READ: value | enabled | running | id         (no group)
 *	56 READ: nr | enabled | running | nr * (value, id)  (group; the leader's first)
 * trailer of every other record (sample_id_all):
 *	-32 pid, tid | -24 time | -16 cpu, 0 | -8 id
 */
#ifndef ASSAY_RECORD_RECORD_BYTES_H
#define ASSAY_RECORD_RECORD_BYTES_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#define SAMPLE_ID_AT          8
#define SAMPLE_IP_AT          16
#define SAMPLE_TASK_AT        24
#define SAMPLE_TIME_AT        32
#define SAMPLE_CPU_AT         40
#define SAMPLE_PERIOD_AT      48
#define SAMPLE_READ_AT        56
#define SAMPLE_READ_ID_AT     80
#define SAMPLE_GROUP_VALUE_AT 80
#define TRAILER_BYTES         32

#define RECORD_FINISHED_ROUND 68 /* PERF_RECORD_FINISHED_ROUND of tools/perf */

static inline uint64_t record_u64(const struct perf_event_header *record, size_t at)
{
	uint64_t value;

	memcpy(&value, (const char *)record + at, sizeof(value));
	return value;
}

static inline uint32_t record_u32(const struct perf_event_header *record, size_t at)
{
	uint32_t value;

	memcpy(&value, (const char *)record + at, sizeof(value));
	return value;
}

static inline void record_set_u64(struct perf_event_header *record, size_t at, uint64_t value)
{
	memcpy((char *)record + at, &value, sizeof(value));
}

/* Room for the largest record made here: a mapping with the longest path. */
#define RECORD_BYTES_MAX 4352

struct record_buffer {
	_Alignas(8) uint8_t bytes[RECORD_BYTES_MAX];
};

/* Each fills the buffer and gives the record in it, its trailer all zero: a record that stands before
 * time, as perf writes for what existed when it came. */
struct mapping_bytes {
	pid_t pid, tid;
	uint64_t address, length, offset, inode, generation;
	uint32_t major, minor, protection, flags;
	const char *path; /* cut at PATH_MAX - 1 */
};
/* The record lies in the buffer, until the next is made. */
struct perf_event_header *record_make_mmap2(struct record_buffer *buffer,
					    const struct mapping_bytes *mapping);
/* pid -1: the kernel's own text. */
struct perf_event_header *record_make_kernel_mmap(struct record_buffer *buffer, uint64_t address,
						  uint64_t length, uint64_t offset,
						  const char *name);
struct perf_event_header *record_make_comm(struct record_buffer *buffer, pid_t pid, pid_t tid,
					   const char *comm);
struct perf_event_header *record_make_fork(struct record_buffer *buffer, pid_t pid, pid_t tid,
					   pid_t parent_pid, pid_t parent_tid);
struct perf_event_header *record_make_finished_round(struct record_buffer *buffer);

#endif
