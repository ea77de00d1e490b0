/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The feature sections of a finished perf.data: what perf and others show about the recording.
 *
 *	table: (u64 offset, u64 size) per feature bit | section | section ...
 *	string: u32 padded length | text, NUL, zeros to a multiple of 64
 *
 * Source: the write_* functions of tools/perf/util/header.c.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/checked.h"
#include "bundle/perfdata_format.h"
#include "bundle/perfdata_reader.h"
#include "bundle/perfdata_writer_state.h"

struct sections {
	const struct perfdata_writer *writer;
	const struct perfdata_writer_features *features;
	struct writer_bytes *bytes;
};

static void put(struct writer_bytes *bytes, const void *data, size_t size)
{
	if (bytes->failed || !array_reserve(&bytes->data, &bytes->capacity, bytes->size + size)) {
		bytes->failed = true;
		return;
	}
	if (data)
		memcpy(bytes->data + bytes->size, data, size);
	else
		memset(bytes->data + bytes->size, 0, size);
	bytes->size += size;
}

static void put_u32(struct writer_bytes *bytes, uint32_t value)
{
	put(bytes, &value, sizeof(value));
}

static void put_u64(struct writer_bytes *bytes, uint64_t value)
{
	put(bytes, &value, sizeof(value));
}

static void put_padded(struct writer_bytes *bytes, const char *text)
{
	const size_t length = strlen(text);
	const size_t padded = checked_align_up(length + 1, PERFDATA_NAME_ALIGN);

	put(bytes, text, length);
	put(bytes, NULL, padded - length);
}

static void put_string(struct writer_bytes *bytes, const char *text)
{
	put_u32(bytes, (uint32_t)checked_align_up(strlen(text) + 1, PERFDATA_NAME_ALIGN));
	put_padded(bytes, text);
}

static void command_line_put(struct writer_bytes *bytes, char *const *words)
{
	uint32_t n = 0;

	while (words[n])
		n++;
	put_u32(bytes, n);
	for (uint32_t i = 0; i < n; i++)
		put_string(bytes, words[i]);
}

/* u32 events | u32 attr size | per event: attr | u32 ids | string | ids */
static void event_descriptions_put(const struct sections *s)
{
	struct writer_bytes *bytes = s->bytes;
	const size_t n = s->writer->n_events;

	put_u32(bytes, (uint32_t)n);
	put_u32(bytes, n ? s->writer->events[0].attr.size : 0);
	for (size_t i = 0; i < n; i++) {
		const struct kept_event *event = &s->writer->events[i];

		put(bytes, &event->attr, event->attr.size);
		put_u32(bytes, (uint32_t)event->n_ids);
		put_string(bytes, event->name);
		put(bytes, event->ids, event->n_ids * sizeof(uint64_t));
	}
}

/* record header | s32 pid | 20 bytes id | u8 size, 3 reserved | path */
static void build_id_put(struct writer_bytes *bytes, const struct perfdata_writer_build_id *entry)
{
	const size_t padded = checked_align_up(strlen(entry->path) + 1, PERFDATA_NAME_ALIGN);
	const size_t id_size =
		entry->size < PERFDATA_BUILD_ID_MAX ? entry->size : PERFDATA_BUILD_ID_MAX;
	struct {
		struct perf_event_header header;
		int32_t pid;
		uint8_t id[PERFDATA_BUILD_ID_MAX], size, reserved[3];
	} record = {
		.header = { .misc = (uint16_t)((entry->kernel ? PERF_RECORD_MISC_KERNEL
							      : PERF_RECORD_MISC_USER) |
					       PERFDATA_MISC_BUILD_ID_SIZE) },
		.pid = -1,
		.size = (uint8_t)id_size,
	};

	if (padded > UINT16_MAX - sizeof(record))
		return;
	record.header.size = (uint16_t)(sizeof(record) + padded);
	memcpy(record.id, entry->id, id_size);
	put(bytes, &record, sizeof(record));
	put_padded(bytes, entry->path);
}

/* u32 version | u32 clock | u64 wall clock ns | u64 clock ns, taken at the same moment */
static void clock_data_put(const struct sections *s)
{
	const struct sys *sys = s->writer->sys;
	struct timespec wall = { 0 }, clock = { 0 };

	sys->clock_gettime(sys->state, CLOCK_REALTIME, &wall);
	sys->clock_gettime(sys->state, s->features->clock_id, &clock);
	put_u32(s->bytes, 1);
	put_u32(s->bytes, (uint32_t)s->features->clock_id);
	put_u64(s->bytes, (uint64_t)wall.tv_sec * 1000000000u + (uint64_t)wall.tv_nsec);
	put_u64(s->bytes, (uint64_t)clock.tv_sec * 1000000000u + (uint64_t)clock.tv_nsec);
}

/* The clocks that perf_event_open accepts have the resolution of high-resolution timers. */
#define CLOCK_RESOLUTION_NS 1u

static uint64_t features_present(const struct sections *s)
{
	const struct perfdata_writer_features *f = s->features;
	uint64_t bits = 0;

#define PRESENT(condition, feature) bits |= (condition) ? UINT64_C(1) << (feature) : 0
	PRESENT(f->tracing_data_bytes, PERFDATA_FEATURE_TRACING_DATA);
	PRESENT(f->n_build_ids, PERFDATA_FEATURE_BUILD_ID);
	PRESENT(f->hostname, PERFDATA_FEATURE_HOSTNAME);
	PRESENT(f->os_release, PERFDATA_FEATURE_OSRELEASE);
	PRESENT(f->version, PERFDATA_FEATURE_VERSION);
	PRESENT(f->arch, PERFDATA_FEATURE_ARCH);
	PRESENT(f->cpus_online, PERFDATA_FEATURE_NRCPUS);
	PRESENT(f->cpu_description, PERFDATA_FEATURE_CPUDESC);
	PRESENT(f->total_memory_kib, PERFDATA_FEATURE_TOTAL_MEM);
	PRESENT(f->command_line, PERFDATA_FEATURE_CMDLINE);
	PRESENT(s->writer->n_events, PERFDATA_FEATURE_EVENT_DESC);
	PRESENT(f->last_sample_ns, PERFDATA_FEATURE_SAMPLE_TIME);
	PRESENT(f->clock_id >= 0, PERFDATA_FEATURE_CLOCKID);
	PRESENT(f->clock_id >= 0, PERFDATA_FEATURE_CLOCK_DATA);
#undef PRESENT
	return bits;
}

static void feature_put(const struct sections *s, uint32_t feature)
{
	const struct perfdata_writer_features *f = s->features;

	switch (feature) {
	case PERFDATA_FEATURE_TRACING_DATA:
		put(s->bytes, f->tracing_data, f->tracing_data_bytes);
		break;
	case PERFDATA_FEATURE_BUILD_ID:
		for (size_t i = 0; i < f->n_build_ids; i++)
			build_id_put(s->bytes, &f->build_ids[i]);
		break;
	case PERFDATA_FEATURE_HOSTNAME: put_string(s->bytes, f->hostname); break;
	case PERFDATA_FEATURE_OSRELEASE: put_string(s->bytes, f->os_release); break;
	case PERFDATA_FEATURE_VERSION: put_string(s->bytes, f->version); break;
	case PERFDATA_FEATURE_ARCH: put_string(s->bytes, f->arch); break;
	case PERFDATA_FEATURE_NRCPUS:
		put_u32(s->bytes, f->cpus_available);
		put_u32(s->bytes, f->cpus_online);
		break;
	case PERFDATA_FEATURE_CPUDESC: put_string(s->bytes, f->cpu_description); break;
	case PERFDATA_FEATURE_TOTAL_MEM: put_u64(s->bytes, f->total_memory_kib); break;
	case PERFDATA_FEATURE_CMDLINE: command_line_put(s->bytes, f->command_line); break;
	case PERFDATA_FEATURE_EVENT_DESC: event_descriptions_put(s); break;
	case PERFDATA_FEATURE_SAMPLE_TIME:
		put_u64(s->bytes, f->first_sample_ns);
		put_u64(s->bytes, f->last_sample_ns);
		break;
	case PERFDATA_FEATURE_CLOCKID: put_u64(s->bytes, CLOCK_RESOLUTION_NS); break;
	case PERFDATA_FEATURE_CLOCK_DATA: clock_data_put(s); break;
	default: break;
	}
}

bool perfdata_writer_features_make(const struct perfdata_writer *writer,
				   const struct perfdata_writer_features *features,
				   struct writer_bytes *bytes, uint64_t *bits)
{
	const struct sections s = { writer, features, bytes };
	const uint64_t base = writer->data_offset + writer->committed;
	size_t entry = 0;

	*bits = features_present(&s);
	put(bytes, NULL, (size_t)__builtin_popcountll(*bits) * PERFDATA_SECTION_BYTES);
	for (uint32_t feature = 0; feature < 64; feature++) {
		uint64_t section[2];

		if (!(*bits >> feature & 1))
			continue;
		section[0] = base + bytes->size;
		feature_put(&s, feature);
		section[1] = base + bytes->size - section[0];
		if (bytes->failed)
			return false;
		memcpy(bytes->data + entry, section, sizeof(section));
		entry += sizeof(section);
	}
	return !bytes->failed;
}
