/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bundle/perfdata_reader.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "bundle/perfdata_reader_state.h"
#include "bundle/perfdata_sideband.h"

static struct perfdata_reader *reader_new(void)
{
	struct perfdata_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	strings_init(&reader->strings);
	perfdata_events_init(&reader->events, &reader->strings);
	perfdata_features_init(&reader->features, &reader->strings, &reader->events, &reader->notes,
			       false);
	perfdata_stream_init(&reader->stream, &reader->notes, false);
	reader->want = PERFDATA_WANT_SAMPLES | PERFDATA_WANT_SIDEBAND | PERFDATA_WANT_USER;
	reader->end_told = UINT64_MAX;
	return reader;
}

void perfdata_reader_close(struct perfdata_reader *reader)
{
	if (!reader)
		return;
	perfdata_stream_release(&reader->stream);
	perfdata_features_release(&reader->features);
	perfdata_events_release(&reader->events);
	strings_release(&reader->strings);
	perfdata_scratch_release(&reader->scratch);
	free(reader->text);
	free(reader);
}

/* Takes the source over, also on failure. */
static enum status reader_begin(struct perfdata_reader **out, struct perfdata_source *source,
				struct error *error)
{
	struct perfdata_reader *reader = reader_new();
	enum status status;

	if (!reader) {
		perfdata_source_close(source);
		return error_set(error, STATUS_NO_MEMORY, "no memory to read %s", source->label);
	}
	status = perfdata_header_read(reader, source, error);
	if (status == STATUS_OK)
		status = perfdata_stream_add(&reader->stream, source,
					     reader->features.header.data_offset, reader->data_end,
					     error);
	else
		perfdata_source_close(source);
	if (status != STATUS_OK) {
		perfdata_reader_close(reader);
		return status;
	}
	*out = reader;
	return STATUS_OK;
}

/* data.0, data.1, ... of a directory recording: records only, no header, read to their end. */
static enum status parts_add(struct perfdata_reader *reader, const struct sys *sys, int dir_fd,
			     const char *label, struct error *error)
{
	for (unsigned int i = 0; i + 1 < PERFDATA_PARTS_MAX; i++) {
		struct perfdata_source source;
		char name[32], part_label[sizeof(source.label)];
		bool is_directory;
		enum status status;

		snprintf(name, sizeof(name), "data.%u", i);
		snprintf(part_label, sizeof(part_label), "%s/%s", label, name);
		status = perfdata_source_open(&source, sys, dir_fd, name, part_label, &is_directory,
					      error);
		if (status == STATUS_NOT_FOUND)
			break;
		if (is_directory)
			return error_set(error, STATUS_CORRUPT, "%s is a directory", part_label);
		if (status == STATUS_OK)
			status = perfdata_stream_add(&reader->stream, &source, 0, source.size,
						     error);
		if (status != STATUS_OK)
			return status;
	}
	return STATUS_OK;
}

/* A directory that `perf record --threads` (or -o DIR of old) wrote. */
static enum status directory_open(struct perfdata_reader **reader, const struct sys *sys,
				  int dir_fd, const char *name, const char *label,
				  struct error *error)
{
	struct perfdata_source source;
	char data_label[sizeof(source.label)];
	bool is_directory;
	enum status status;
	const int fd = sys->openat(sys->state, dir_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);

	if (fd < 0)
		return error_set_errno(error, status_from_errno(-fd), -fd, "cannot open %s", label);
	snprintf(data_label, sizeof(data_label), "%s/data", label);
	status = perfdata_source_open(&source, sys, fd, "data", data_label, &is_directory, error);
	if (status == STATUS_NOT_FOUND || is_directory)
		status = error_set(error, STATUS_CORRUPT,
				   "%s is a directory but no recording: it holds neither a "
				   "manifest.json (assay) nor a file called data (perf record "
				   "--threads)",
				   label);
	else if (status == STATUS_OK)
		status = reader_begin(reader, &source, error);
	if (status == STATUS_OK) {
		status = parts_add(*reader, sys, fd, label, error);
		if (status != STATUS_OK) {
			perfdata_reader_close(*reader);
			*reader = NULL;
		}
	}
	sys->close(sys->state, fd);
	return status;
}

enum status perfdata_reader_open_at(struct perfdata_reader **reader, const struct sys *sys,
				    int dir_fd, const char *name, const char *label,
				    struct error *error)
{
	struct perfdata_source source;
	bool is_directory;
	enum status status;

	*reader = NULL;
	status = perfdata_source_open(&source, sys, dir_fd, name, label, &is_directory, error);
	if (is_directory)
		return directory_open(reader, sys, dir_fd, name, label, error);
	if (status == STATUS_OK)
		status = reader_begin(reader, &source, error);
	if (status == STATUS_OK && *reader && (*reader)->features.header.directory)
		perfdata_notes_add(
			&(*reader)->notes, PERFDATA_NOTE_ELSEWHERE, 0, 0,
			"%s is one file of a recording that is a directory: its samples "
			"are in the files data.0, data.1, ... beside it; give the directory",
			label);
	return status;
}

enum status perfdata_reader_open(struct perfdata_reader **reader, const struct sys *sys,
				 const char *path, struct error *error)
{
	return perfdata_reader_open_at(reader, sys, AT_FDCWD, path, path, error);
}

enum status perfdata_reader_open_memory(struct perfdata_reader **reader, const void *data,
					size_t size, struct error *error)
{
	struct perfdata_source source;

	*reader = NULL;
	perfdata_source_memory(&source, data, size);
	return reader_begin(reader, &source, error);
}

const struct perfdata_header *perfdata_reader_header(const struct perfdata_reader *reader)
{
	return &reader->features.header;
}

const struct perfdata_event *perfdata_reader_events(const struct perfdata_reader *reader, size_t *n)
{
	*n = reader->events.n;
	return reader->events.items;
}

const struct perfdata_note *perfdata_reader_notes(const struct perfdata_reader *reader, size_t *n)
{
	*n = reader->notes.n;
	return reader->notes.items;
}

void perfdata_reader_want(struct perfdata_reader *reader, unsigned int want)
{
	reader->want = want;
}

void perfdata_reader_limit(struct perfdata_reader *reader, uint64_t data_bytes)
{
	struct perfdata_part *part = &reader->stream.parts[0];
	const uint64_t room = reader->data_end - part->start;

	part->end = data_bytes < room ? part->start + data_bytes : reader->data_end;
	reader->end_told = UINT64_MAX;
	/* what is loaded may reach beyond the new end */
	if (!reader->stream.part) {
		reader->stream.at = reader->stream.end = NULL;
		if (reader->stream.offset > part->end)
			reader->stream.offset = part->end;
	}
}

bool perfdata_reader_sample_times(const struct perfdata_reader *reader, uint64_t *first_ns,
				  uint64_t *last_ns)
{
	*first_ns = reader->first_ns;
	*last_ns = reader->last_ns;
	return reader->have_times;
}

enum status perfdata_reader_rewind(struct perfdata_reader *reader, struct error *error)
{
	(void)error;
	perfdata_stream_rewind(&reader->stream);
	reader->position = 0;
	return STATUS_OK;
}

static void times_gather(struct perfdata_reader *reader, uint64_t time)
{
	if (!reader->have_times) {
		reader->have_times = true;
		reader->first_ns = reader->last_ns = time;
	} else if (time < reader->first_ns) {
		reader->first_ns = time;
	} else if (time > reader->last_ns) {
		reader->last_ns = time;
	}
}

/* A sample that nobody wants: only its time. */
static void sample_pass(struct perfdata_reader *reader, const struct perfdata_raw *raw)
{
	const uint32_t event = perfdata_events_of_sample(&reader->events, raw, reader->swap);
	uint16_t place;
	uint64_t time;

	if (event >= reader->events.n)
		return;
	place = reader->events.layouts[event].time;
	if (!place || raw->size < place + sizeof(time))
		return;
	memcpy(&time, raw->data + place, sizeof(time));
	times_gather(reader, reader->swap ? __builtin_bswap64(time) : time);
}

static void note_sample(struct perfdata_reader *reader, enum perfdata_note_kind kind,
			const struct perfdata_raw *raw, const char *why)
{
	perfdata_notes_add(&reader->notes, kind, raw->offset, raw->type,
			   "the SAMPLE record at offset %#llx %s", (unsigned long long)raw->offset,
			   why);
}

static enum status no_memory(struct error *error)
{
	return error_set(error, STATUS_NO_MEMORY, "no memory to decode a record");
}

/* STATUS_END: this one is not to be delivered. */
static enum status sample_take(struct perfdata_reader *reader, const struct perfdata_raw *raw,
			       struct perfdata_record *record, struct error *error)
{
	const uint32_t event = perfdata_events_of_sample(&reader->events, raw, reader->swap);
	struct perfdata_sample *sample = &record->sample;
	const char *why;

	record->type = raw->type;
	record->misc = raw->misc;
	record->offset = raw->offset;
	if (event == PERFDATA_NO_EVENT) {
		note_sample(reader, PERFDATA_NOTE_UNKNOWN_ID, raw,
			    reader->events.n ? "belongs to no event of the file and was left out"
					     : "came before any attribute: it cannot be decoded");
		return STATUS_END;
	}
	if (!perfdata_sample_decode(sample, &reader->events.layouts[event], raw, reader->swap,
				    reader->want & PERFDATA_WANT_BRIEF, &reader->scratch, &why)) {
		char text[128];

		if (reader->scratch.no_memory)
			return no_memory(error);
		snprintf(text, sizeof(text), "was left out: %s", why);
		note_sample(reader, PERFDATA_NOTE_SKIPPED, raw, text);
		return STATUS_END;
	}
	sample->event = event;
	record->has_time = sample->has_time;
	record->time = sample->time;
	record->cpu = sample->cpu;
	record->pid = sample->pid;
	record->tid = sample->tid;
	record->id = sample->id;
	if (sample->has_time)
		times_gather(reader, sample->time);
	return STATUS_OK;
}

/* header | attr (self-describing size) | ids to the end of the record */
static enum status attr_learn(struct perfdata_reader *reader, const struct perfdata_raw *raw,
			      struct error *error)
{
	struct bytes b = bytes_of(raw->data + 8, raw->size - 8u, reader->swap);
	uint32_t size;

	bytes_u32(&b);
	size = bytes_u32(&b);
	if (!size)
		size = PERFDATA_ATTR_MIN_BYTES;
	if (b.failed || size < PERFDATA_ATTR_MIN_BYTES || size > raw->size - 8u) {
		perfdata_notes_add(&reader->notes, PERFDATA_NOTE_SKIPPED, raw->offset, raw->type,
				   "the attribute record at offset %#llx contradicts its size and "
				   "was left out",
				   (unsigned long long)raw->offset);
		return STATUS_OK;
	}
	return perfdata_events_add(&reader->events, raw->data + 8, size, reader->swap,
				   raw->data + 8 + size, (raw->size - 8u - size) / 8, error);
}

/* header | u64 kind | u64 id | name */
static enum status update_learn(struct perfdata_reader *reader, const struct perfdata_raw *raw,
				struct error *error)
{
	struct bytes b = bytes_of(raw->data + 8, raw->size - 8u, reader->swap);
	const uint64_t kind = bytes_u64(&b), id = bytes_u64(&b);

	if (b.failed || kind != PERFDATA_UPDATE_NAME)
		return STATUS_OK;
	return perfdata_events_rename(&reader->events, perfdata_events_find(&reader->events, id),
				      (const char *)b.at, bytes_left(&b), error);
}

/* header | u64 feature | content */
static enum status feature_learn(struct perfdata_reader *reader, const struct perfdata_raw *raw,
				 struct error *error)
{
	struct bytes b = bytes_of(raw->data + 8, raw->size - 8u, reader->swap);
	const uint64_t feature = bytes_u64(&b);

	if (b.failed || feature >= PERFDATA_FEATURE_BITS)
		return STATUS_OK;
	return perfdata_features_take(&reader->features, (uint32_t)feature, b.at, bytes_left(&b),
				      raw->offset, error);
}

static enum status user_learn(struct perfdata_reader *reader, const struct perfdata_raw *raw,
			      struct error *error)
{
	switch (raw->type) {
	case PERFDATA_USER_ATTR: return reader->pipe ? attr_learn(reader, raw, error) : STATUS_OK;
	case PERFDATA_USER_EVENT_UPDATE: return update_learn(reader, raw, error);
	case PERFDATA_USER_FEATURE: return feature_learn(reader, raw, error);
	case PERFDATA_USER_BUILD_ID:
		return perfdata_features_build_id(&reader->features, raw->data, raw->size, error);
	default: break;
	}
	if (raw->type > PERFDATA_USER_LAST_KNOWN || raw->type < PERFDATA_USER_ATTR)
		perfdata_notes_add(
			&reader->notes, PERFDATA_NOTE_UNKNOWN_TYPE, raw->offset, raw->type,
			"records of type %u are unknown and were passed over, the first at "
			"offset %#llx",
			raw->type, (unsigned long long)raw->offset);
	return STATUS_OK;
}

/* Bytes that belong to the record but are not counted in its size. */
static void payload_skip(struct perfdata_reader *reader, const struct perfdata_raw *raw)
{
	struct bytes b = bytes_of(raw->data + 8, raw->size - 8u, reader->swap);

	if (raw->type == PERFDATA_USER_AUXTRACE)
		perfdata_stream_skip(&reader->stream, bytes_u64(&b), raw->type);
	else if (raw->type == PERFDATA_USER_TRACING_DATA)
		perfdata_stream_skip(&reader->stream, bytes_u32(&b), raw->type);
}

static enum status other_take(struct perfdata_reader *reader, const struct perfdata_raw *raw,
			      struct perfdata_record *record, struct error *error)
{
	const struct perfdata_layout *layout = NULL;
	const char *why = NULL;

	if (reader->events.n)
		layout = &reader->events.layouts[perfdata_events_of_other(&reader->events, raw,
									  reader->swap)];
	if (perfdata_sideband_decode(record, layout, raw, reader->swap, &reader->text,
				     &reader->notes, &why))
		return STATUS_OK;
	if (!why)
		return no_memory(error);
	perfdata_notes_add(&reader->notes, PERFDATA_NOTE_SKIPPED, raw->offset, raw->type,
			   "the %s record at offset %#llx was left out: %s",
			   perfdata_type_name(raw->type), (unsigned long long)raw->offset, why);
	return STATUS_END;
}

/* Mutes the notes of work that was done for this record before; counts it as done. */
static void work_begin(struct perfdata_reader *reader, uint64_t *done)
{
	reader->notes.muted = reader->position <= *done;
	if (!reader->notes.muted)
		*done = reader->position;
}

static bool type_is_plain(uint32_t type)
{
	return type && type <= PERFDATA_KERNEL_LAST_KNOWN;
}

static enum status raw_next(struct perfdata_reader *reader, struct perfdata_raw *raw,
			    struct error *error)
{
	enum status status;

	reader->notes.muted =
		reader->position < reader->seen || reader->position == reader->end_told;
	status = perfdata_stream_next(&reader->stream, raw, error);
	if (status == STATUS_OK && ++reader->position > reader->seen)
		reader->seen = reader->position;
	if (status == STATUS_END)
		reader->end_told = reader->position;
	return status;
}

enum status perfdata_reader_next(struct perfdata_reader *reader, struct perfdata_record *record,
				 struct error *error)
{
	for (;;) {
		struct perfdata_raw raw;
		enum status status = raw_next(reader, &raw, error);

		if (status != STATUS_OK)
			return status;
		if (raw.type == PERF_RECORD_SAMPLE) {
			if (!(reader->want & PERFDATA_WANT_SAMPLES)) {
				sample_pass(reader, &raw);
				continue;
			}
			work_begin(reader, &reader->samples_decoded);
			status = sample_take(reader, &raw, record, error);
			if (status != STATUS_END)
				return status;
			continue;
		}
		work_begin(reader, &reader->learnt);
		if (!type_is_plain(raw.type)) {
			if (!reader->notes.muted) {
				status = user_learn(reader, &raw, error);
				if (status != STATUS_OK)
					return status;
			}
			payload_skip(reader, &raw);
		}
		if (!(reader->want & (raw.type < PERFDATA_USER_ATTR ? PERFDATA_WANT_SIDEBAND
								    : PERFDATA_WANT_USER)))
			continue;
		work_begin(reader, &reader->others_decoded);
		status = other_take(reader, &raw, record, error);
		if (status != STATUS_END)
			return status;
	}
}
