/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bundle/perfdata_features.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/checked.h"

void perfdata_features_init(struct perfdata_features *features, struct strings *strings,
			    struct perfdata_events *events, struct perfdata_notes *notes, bool swap)
{
	*features = (struct perfdata_features){
		.header = { .clock_id = -1, .swapped = swap },
		.strings = strings,
		.events = events,
		.notes = notes,
		.swap = swap,
	};
}

void perfdata_features_release(struct perfdata_features *features)
{
	free(features->build_ids);
	features->build_ids = NULL;
	features->n_build_ids = features->build_ids_capacity = 0;
	free(features->words);
	features->words = NULL;
	features->words_capacity = 0;
	features->header.command = NULL;
	features->header.n_command = 0;
}

/* u32 length (padded) | text, NUL | padding. NULL when the bytes do not hold it. */
static const char *string_take(struct perfdata_features *features, struct bytes *b)
{
	const uint32_t size = bytes_u32(b);
	const char *text = bytes_take(b, size);
	uint32_t index;

	if (!text)
		return NULL;
	index = strings_add_n(features->strings, text, strnlen(text, size));
	return index == STRINGS_NONE ? NULL : strings_get(features->strings, index);
}

static void command_line_take(struct perfdata_features *features, struct bytes *b)
{
	const uint32_t n = bytes_u32(b);
	size_t used = 0, words = 0;

	for (uint32_t i = 0; i < n && !b->failed; i++) {
		const char *word = string_take(features, b);

		if (!word || (used += strlen(word) + 1) > PERFDATA_COMMAND_MAX_BYTES ||
		    !array_reserve(&features->words, &features->words_capacity, words + 1))
			break;
		features->words[words++] = word;
	}
	features->header.command = words ? features->words : NULL;
	features->header.n_command = words;
}

/* Descriptions come in the order of the attributes; one that does not fit goes by its first id. */
static size_t description_event(struct perfdata_features *features, size_t position,
				const struct perf_event_attr *attr, const uint8_t *ids,
				uint32_t n_ids)
{
	struct perfdata_events *events = features->events;

	if (position < events->n && events->items[position].attr.type == attr->type &&
	    events->items[position].attr.config == attr->config)
		return position;
	if (n_ids) {
		struct bytes b = bytes_of(ids, sizeof(uint64_t), features->swap);

		return perfdata_events_find(events, bytes_u64(&b));
	}
	return SIZE_MAX;
}

/* u32 events | u32 attr size | per event: attr, u32 ids, string, ids */
static enum status event_descriptions_take(struct perfdata_features *features, struct bytes *b,
					   struct error *error)
{
	const uint32_t n = bytes_u32(b), attr_size = bytes_u32(b);

	for (uint32_t i = 0; i < n && !b->failed; i++) {
		const uint8_t *attr_bytes = bytes_take(b, attr_size);
		const uint32_t n_ids = bytes_u32(b), name_size = bytes_u32(b);
		const char *name = bytes_take(b, name_size);
		const uint8_t *ids = bytes_take(b, (size_t)n_ids * sizeof(uint64_t));
		struct perf_event_attr attr;
		enum status status;
		size_t event;

		if (b->failed)
			break;
		perfdata_attr_decode(&attr, attr_bytes, attr_size, features->swap);
		event = description_event(features, i, &attr, ids, n_ids);
		status = perfdata_events_rename(features->events, event, name, name_size, error);
		if (status != STATUS_OK)
			return status;
	}
	return STATUS_OK;
}

static enum status build_ids_take(struct perfdata_features *features, struct bytes *b,
				  struct error *error)
{
	while (bytes_left(b) >= 8) {
		struct bytes header = *b;
		uint16_t size;
		enum status status;

		bytes_u32(&header);
		bytes_u16(&header);
		size = bytes_u16(&header);
		if (size < 8 || size > bytes_left(b)) {
			b->failed = true;
			break;
		}
		status = perfdata_features_build_id(features, bytes_take(b, size), size, error);
		if (status != STATUS_OK)
			return status;
	}
	return STATUS_OK;
}

/* u32 version | u32 clock id | u64 wall clock ns | u64 clock ns */
static void clock_data_take(struct perfdata_features *features, struct bytes *b)
{
	const uint32_t version = bytes_u32(b), clock = bytes_u32(b);

	if (!b->failed && version == 1 && clock <= INT32_MAX)
		features->header.clock_id = (int)clock;
}

static enum status feature_parse(struct perfdata_features *features, uint32_t feature,
				 struct bytes *b, struct error *error)
{
	struct perfdata_header *header = &features->header;

	switch (feature) {
	case PERFDATA_FEATURE_BUILD_ID: return build_ids_take(features, b, error);
	case PERFDATA_FEATURE_HOSTNAME: header->hostname = string_take(features, b); break;
	case PERFDATA_FEATURE_OSRELEASE: header->os_release = string_take(features, b); break;
	case PERFDATA_FEATURE_VERSION: header->version = string_take(features, b); break;
	case PERFDATA_FEATURE_ARCH: header->arch = string_take(features, b); break;
	case PERFDATA_FEATURE_CPUDESC: header->cpu_description = string_take(features, b); break;
	case PERFDATA_FEATURE_CPUID: header->cpu_id = string_take(features, b); break;
	case PERFDATA_FEATURE_NRCPUS:
		bytes_u32(b); /* available */
		header->n_cpus = bytes_u32(b);
		break;
	case PERFDATA_FEATURE_TOTAL_MEM: header->total_memory_kib = bytes_u64(b); break;
	case PERFDATA_FEATURE_CMDLINE: command_line_take(features, b); break;
	case PERFDATA_FEATURE_EVENT_DESC: return event_descriptions_take(features, b, error);
	case PERFDATA_FEATURE_SAMPLE_TIME:
		header->first_sample_ns = bytes_u64(b);
		header->last_sample_ns = bytes_u64(b);
		break;
	case PERFDATA_FEATURE_CLOCK_DATA: clock_data_take(features, b); break;
	case PERFDATA_FEATURE_DIR_FORMAT: header->directory = true; break;
	case PERFDATA_FEATURE_STAT: header->counters = true; break;
	default: break;
	}
	return STATUS_OK;
}

enum status perfdata_features_take(struct perfdata_features *features, uint32_t feature,
				   const void *data, size_t size, uint64_t offset,
				   struct error *error)
{
	struct bytes b = bytes_of(data, size, features->swap);
	const enum status status = feature_parse(features, feature, &b, error);

	if (status != STATUS_OK)
		return status;
	if (b.failed)
		perfdata_notes_add(features->notes, PERFDATA_NOTE_SKIPPED, offset, 0,
				   "header feature %u at offset %#llx is damaged: it ends before "
				   "what it announces",
				   feature, (unsigned long long)offset);
	features->header.build_ids = features->build_ids;
	features->header.n_build_ids = features->n_build_ids;
	return STATUS_OK;
}

/* header | u32 pid | 20 bytes id | u8 size, 3 reserved | path */
enum status perfdata_features_build_id(struct perfdata_features *features, const void *record,
				       size_t size, struct error *error)
{
	struct bytes b = bytes_of(record, size, features->swap);
	struct perfdata_build_id entry = { 0 };
	const uint8_t *id;
	const char *path;
	size_t room;
	uint32_t index;

	bytes_u32(&b);
	entry.misc = bytes_u16(&b);
	bytes_u16(&b);
	entry.pid = bytes_u32(&b);
	id = bytes_take(&b, 24);
	room = bytes_left(&b);
	path = bytes_take(&b, room);
	if (!id || !path || features->n_build_ids == PERFDATA_BUILD_IDS_MAX)
		return STATUS_OK;
	entry.size = PERFDATA_BUILD_ID_MAX;
	if ((entry.misc & PERFDATA_MISC_BUILD_ID_SIZE) && id[20] <= PERFDATA_BUILD_ID_MAX)
		entry.size = id[20];
	memcpy(entry.id, id, entry.size);
	index = strings_add_n(features->strings, path, strnlen(path, room));
	if (index == STRINGS_NONE ||
	    !array_reserve(&features->build_ids, &features->build_ids_capacity,
			   features->n_build_ids + 1))
		return error_set(error, STATUS_NO_MEMORY, "no memory for build-ids");
	entry.path = strings_get(features->strings, index);
	features->build_ids[features->n_build_ids++] = entry;
	features->header.build_ids = features->build_ids;
	features->header.n_build_ids = features->n_build_ids;
	return STATUS_OK;
}

/* The others are either large (event formats) or of no use here: their bytes are never read. */
static bool feature_is_understood(uint32_t feature)
{
	switch (feature) {
	case PERFDATA_FEATURE_BUILD_ID:
	case PERFDATA_FEATURE_HOSTNAME:
	case PERFDATA_FEATURE_OSRELEASE:
	case PERFDATA_FEATURE_VERSION:
	case PERFDATA_FEATURE_ARCH:
	case PERFDATA_FEATURE_NRCPUS:
	case PERFDATA_FEATURE_CPUDESC:
	case PERFDATA_FEATURE_CPUID:
	case PERFDATA_FEATURE_TOTAL_MEM:
	case PERFDATA_FEATURE_CMDLINE:
	case PERFDATA_FEATURE_EVENT_DESC:
	case PERFDATA_FEATURE_STAT:
	case PERFDATA_FEATURE_SAMPLE_TIME:
	case PERFDATA_FEATURE_DIR_FORMAT:
	case PERFDATA_FEATURE_CLOCK_DATA: return true;
	default: return false;
	}
}

static enum status section_load(struct perfdata_features *features,
				const struct perfdata_source *source, uint32_t feature,
				uint64_t offset, uint64_t size, struct error *error)
{
	enum status status;
	void *data;
	size_t got;

	if (!checked_range(offset, size, source->size)) {
		perfdata_notes_add(features->notes, PERFDATA_NOTE_SKIPPED, offset, 0,
				   "%s: header feature %u (%llu bytes at offset %#llx) lies past "
				   "the end of the file",
				   source->label, feature, (unsigned long long)size,
				   (unsigned long long)offset);
		return STATUS_OK;
	}
	if (!feature_is_understood(feature))
		return STATUS_OK;
	if (size > PERFDATA_FEATURE_MAX_BYTES) {
		perfdata_notes_add(features->notes, PERFDATA_NOTE_SKIPPED, offset, 0,
				   "%s: header feature %u has %llu bytes, more than assay reads",
				   source->label, feature, (unsigned long long)size);
		return STATUS_OK;
	}
	data = malloc((size_t)size + 1);
	if (!data)
		return error_set(error, STATUS_NO_MEMORY, "no memory to read %s", source->label);
	status = perfdata_source_read(source, data, (size_t)size, offset, &got, error);
	if (status == STATUS_OK)
		status = perfdata_features_take(features, feature, data, got, offset, error);
	free(data);
	return status;
}

enum status perfdata_features_load(struct perfdata_features *features,
				   const struct perfdata_source *source, const uint64_t bits[4],
				   uint64_t table_offset, struct error *error)
{
	uint8_t table[PERFDATA_FEATURE_BITS * PERFDATA_SECTION_BYTES];
	struct bytes b;
	size_t got, n = 0;
	enum status status;

	for (size_t i = 0; i < 4; i++)
		n += (size_t)__builtin_popcountll(bits[i]);
	status = perfdata_source_read(source, table, n * PERFDATA_SECTION_BYTES, table_offset, &got,
				      error);
	if (status != STATUS_OK)
		return status;
	b = bytes_of(table, got, features->swap);
	features->header.finished = n && got == n * PERFDATA_SECTION_BYTES;
	if (got < n * PERFDATA_SECTION_BYTES)
		perfdata_notes_add(features->notes, PERFDATA_NOTE_TRUNCATED, table_offset, 0,
				   "%s: the table of header features at offset %#llx is cut by the "
				   "end of the file",
				   source->label, (unsigned long long)table_offset);
	for (uint32_t feature = 0; feature < PERFDATA_FEATURE_BITS; feature++) {
		uint64_t offset, size;

		if (!(bits[feature / 64] >> (feature % 64) & 1))
			continue;
		offset = bytes_u64(&b);
		size = bytes_u64(&b);
		if (b.failed)
			break;
		status = section_load(features, source, feature, offset, size, error);
		if (status != STATUS_OK)
			return status;
	}
	return STATUS_OK;
}
