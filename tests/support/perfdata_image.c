/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/perfdata_image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER_BYTES 104u

void image_release(struct image *image)
{
	free(image->bytes);
	*image = (struct image){ .swap = image->swap };
}

static void *room(struct image *image, size_t size)
{
	if (size > image->capacity - image->size) {
		image->capacity = 2 * (image->size + size);
		image->bytes = realloc(image->bytes, image->capacity);
		if (!image->bytes) {
			fprintf(stderr, "no memory for a test image\n");
			abort();
		}
	}
	image->size += size;
	return image->bytes + image->size - size;
}

void image_put(struct image *image, const void *bytes, size_t size)
{
	if (size)
		memcpy(room(image, size), bytes, size);
}

void image_zeros(struct image *image, size_t size)
{
	memset(room(image, size), 0, size);
}

void image_u16(struct image *image, uint16_t value)
{
	value = image->swap ? __builtin_bswap16(value) : value;
	image_put(image, &value, sizeof(value));
}

void image_u32(struct image *image, uint32_t value)
{
	value = image->swap ? __builtin_bswap32(value) : value;
	image_put(image, &value, sizeof(value));
}

void image_u64(struct image *image, uint64_t value)
{
	value = image->swap ? __builtin_bswap64(value) : value;
	image_put(image, &value, sizeof(value));
}

void image_text(struct image *image, const char *text)
{
	const size_t size = strlen(text) + 1;

	image_put(image, text, size);
	image_zeros(image, (8 - size % 8) % 8);
}

void image_set_u64(struct image *image, size_t offset, uint64_t value)
{
	value = image->swap ? __builtin_bswap64(value) : value;
	memcpy(image->bytes + offset, &value, sizeof(value));
}

size_t image_record(struct image *image, uint32_t type, uint16_t misc)
{
	const size_t at = image->size;

	image_u32(image, type);
	image_u16(image, misc);
	image_u16(image, 0);
	return at;
}

void image_record_end(struct image *image, size_t record)
{
	uint16_t size = (uint16_t)(image->size - record);

	size = image->swap ? __builtin_bswap16(size) : size;
	memcpy(image->bytes + record + 6, &size, sizeof(size));
}

/* Bit n of the flags word is the n-th declared field. A big-endian compiler puts it n bits below the
 * top, and stores the word big-endian; a field of two bits keeps its high bit first. */
static uint64_t flags_big_endian(uint64_t flags)
{
	uint64_t out = 0;

	for (int bit = 0; bit < 64; bit++) {
		int from = bit;

		if (bit == 15 || bit == 16) /* precise_ip */
			from = 31 - bit;
		if (flags >> from & 1)
			out |= UINT64_C(1) << (63 - bit);
	}
	return out;
}

void image_attr(struct image *image, const struct perf_event_attr *attr, uint32_t size)
{
	const size_t start = image->size;
	uint64_t flags;

	memcpy(&flags, (const char *)attr + 40, sizeof(flags));
	image_u32(image, attr->type);
	image_u32(image, size);
	image_u64(image, attr->config);
	image_u64(image, attr->sample_period);
	image_u64(image, attr->sample_type);
	image_u64(image, attr->read_format);
	image_u64(image, image->swap ? flags_big_endian(flags) : flags);
	image_u32(image, attr->wakeup_events);
	image_u32(image, attr->bp_type);
	image_u64(image, attr->config1);
	image_u64(image, attr->config2);
	image_u64(image, attr->branch_sample_type);
	image_u64(image, attr->sample_regs_user);
	image_u32(image, attr->sample_stack_user);
	image_u32(image, (uint32_t)attr->clockid);
	image_u64(image, attr->sample_regs_intr);
	image_u32(image, attr->aux_watermark);
	image_u16(image, attr->sample_max_stack);
	image_u16(image, 0);
	image_u32(image, attr->aux_sample_size);
	image_u32(image, 0);
	image_u64(image, attr->sig_data);
	if (image->size - start > size)
		image->size = start + size;
	else
		image_zeros(image, size - (image->size - start));
}

void image_file(struct image *file, const struct image_event *events, size_t n_events,
		const struct image *data, uint64_t data_size)
{
	const uint64_t entry = (n_events ? events[0].attr_size : 128) + 16;
	uint64_t ids = HEADER_BYTES, attrs = HEADER_BYTES;

	for (size_t i = 0; i < n_events; i++)
		attrs += 8 * events[i].n_ids;
	image_put(file, file->swap ? "2ELIFREP" : "PERFILE2", 8);
	image_u64(file, HEADER_BYTES);
	image_u64(file, entry);
	image_u64(file, attrs);
	image_u64(file, n_events * entry);
	image_u64(file, attrs + n_events * entry);
	image_u64(file, data_size);
	image_zeros(file, HEADER_BYTES - 56);
	for (size_t i = 0; i < n_events; i++)
		for (size_t k = 0; k < events[i].n_ids; k++)
			image_u64(file, events[i].ids[k]);
	for (size_t i = 0; i < n_events; i++) {
		image_attr(file, &events[i].attr, events[i].attr_size);
		image_u64(file, ids);
		image_u64(file, 8 * events[i].n_ids);
		ids += 8 * events[i].n_ids;
	}
	image_put(file, data->bytes, data->size);
}

void image_pipe(struct image *file, const struct image_event *events, size_t n_events,
		const struct image *data)
{
	image_put(file, file->swap ? "2ELIFREP" : "PERFILE2", 8);
	image_u64(file, 16);
	for (size_t i = 0; i < n_events; i++) {
		const size_t record = image_record(file, 64, 0);

		image_attr(file, &events[i].attr, events[i].attr_size);
		for (size_t k = 0; k < events[i].n_ids; k++)
			image_u64(file, events[i].ids[k]);
		image_record_end(file, record);
	}
	image_put(file, data->bytes, data->size);
}

struct perf_event_attr image_clock_attr(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000,
		.sample_type =
			PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD,
		.sample_id_all = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.task = 1,
	};

	return attr;
}

static void clock_trailer(struct image *data, uint32_t tid, uint64_t time)
{
	image_u32(data, tid);
	image_u32(data, tid);
	image_u64(data, time);
}

void image_clock_sample(struct image *data, uint32_t tid, uint64_t time, uint64_t ip)
{
	const size_t record = image_record(data, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);

	image_u64(data, ip);
	clock_trailer(data, tid, time);
	image_u64(data, 1000000);
	image_record_end(data, record);
}

void image_clock_comm(struct image *data, uint32_t tid, uint64_t time, const char *comm)
{
	const size_t record = image_record(data, PERF_RECORD_COMM, 0);

	image_u32(data, tid);
	image_u32(data, tid);
	image_text(data, comm);
	clock_trailer(data, tid, time);
	image_record_end(data, record);
}

void image_clock_mmap2(struct image *data, uint32_t pid, uint64_t time, uint64_t address,
		       uint64_t length, const char *path)
{
	const size_t record = image_record(data, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER);

	image_u32(data, pid);
	image_u32(data, pid);
	image_u64(data, address);
	image_u64(data, length);
	image_u64(data, 0x2000);
	image_u32(data, 8);
	image_u32(data, 1);
	image_u64(data, 4711);
	image_u64(data, 12);
	image_u32(data, 5);
	image_u32(data, 2);
	image_text(data, path);
	clock_trailer(data, pid, time);
	image_record_end(data, record);
}
