/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * perf.data files made in memory, whole or hostile, in either byte order: an encoder of its own, from
 * the format's documents, so that the reader is not tested against assay's own writer.
 */
#ifndef ASSAY_TESTS_SUPPORT_PERFDATA_IMAGE_H
#define ASSAY_TESTS_SUPPORT_PERFDATA_IMAGE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that grow; numbers are put in the byte order of the image. */
struct image {
	uint8_t *bytes;
	size_t size, capacity;
	bool swap;
};

void image_release(struct image *image);
void image_put(struct image *image, const void *bytes, size_t size);
void image_zeros(struct image *image, size_t size);
void image_u16(struct image *image, uint16_t value);
void image_u32(struct image *image, uint32_t value);
void image_u64(struct image *image, uint64_t value);
/* NUL-terminated, padded with zeros to a multiple of 8 */
void image_text(struct image *image, const char *text);
void image_set_u64(struct image *image, size_t offset, uint64_t value);

/* A record: begin gives its offset, end stores its size. */
size_t image_record(struct image *image, uint32_t type, uint16_t misc);
void image_record_end(struct image *image, size_t record);

/* The attribute of `size` bytes (64 to 4096), bit fields in the image's order. */
void image_attr(struct image *image, const struct perf_event_attr *attr, uint32_t size);

struct image_event {
	struct perf_event_attr attr;
	uint32_t attr_size; /* in the file */
	const uint64_t *ids;
	size_t n_ids;
};

/* header | ids | attributes | data, no features; the header's word for data.size is data_size. */
void image_file(struct image *file, const struct image_event *events, size_t n_events,
		const struct image *data, uint64_t data_size);

/* 16-byte header | HEADER_ATTR records | data */
void image_pipe(struct image *file, const struct image_event *events, size_t n_events,
		const struct image *data);

/* Offsets of fields in the header of a file-mode image. */
#define IMAGE_ATTR_SIZE_AT 16
#define IMAGE_DATA_SIZE_AT 48
#define IMAGE_FEATURES_AT  72

/* cpu-clock, IP|TID|TIME|PERIOD, sample_id_all, 1 ms. */
struct perf_event_attr image_clock_attr(void);
/* A sample, and a COMM and an MMAP2 record, of that attribute. */
void image_clock_sample(struct image *data, uint32_t tid, uint64_t time, uint64_t ip);
void image_clock_comm(struct image *data, uint32_t tid, uint64_t time, const char *comm);
void image_clock_mmap2(struct image *data, uint32_t pid, uint64_t time, uint64_t address,
		       uint64_t length, const char *path);

#endif
