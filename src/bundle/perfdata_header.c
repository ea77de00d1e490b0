/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The beginning of a perf.data file: recognises it, reads attributes and features, finds the data.
 *
 * Fails only when nothing could be read afterwards. What is merely incomplete (data section that was
 * never closed or that the file does not hold) is opened with a note.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "bundle/perfdata_reader_state.h"

struct section {
	uint64_t offset, size;
};

struct file_header {
	uint64_t magic, size, attr_size;
	struct section attrs, data, event_types;
	uint64_t features[4];
};

static struct section section_take(struct bytes *b)
{
	struct section section;

	section.offset = bytes_u64(b);
	section.size = bytes_u64(b);
	return section;
}

/* Other things that people hand to a profiler, each with what to do about it. */
static enum status not_perfdata(const struct perfdata_source *source, const uint8_t *magic,
				size_t size, struct error *error)
{
	static const struct {
		const char *bytes;
		size_t n;
		const char *hint;
	} known[] = {
		{ "\x1f\x8b", 2, "is gzip-compressed: unpack it with gunzip first" },
		{ "\x28\xb5\x2f\xfd", 4, "is zstd-compressed: unpack it with unzstd first" },
		{ "\xfd"
		  "7zXZ",
		  5, "is xz-compressed: unpack it with unxz first" },
		{ "BZh", 3, "is bzip2-compressed: unpack it with bunzip2 first" },
		{ "\x7f"
		  "ELF",
		  4, "is a program, not a recording: try assay record -- on it" },
	};

	bool text = true;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (size >= known[i].n && !memcmp(magic, known[i].bytes, known[i].n)) {
			error_set_corrupt(error, 0, "%s %s", source->label, known[i].hint);
			return STATUS_CORRUPT;
		}
	if (!size)
		return error_set_corrupt(error, 0,
					 "%s is empty: nothing was recorded, or it was not written",
					 source->label);
	if (size < 8)
		return error_set_corrupt(error, 0,
					 "%s has only %zu bytes: a perf.data file begins with a "
					 "header of 104",
					 source->label, size);
	for (size_t i = 0; i < 8; i++)
		text &= (magic[i] >= ' ' && magic[i] < 0x7f) || magic[i] == '\n' ||
			magic[i] == '\t';
	return error_set_corrupt(error, 0,
				 "%s is no perf.data file: it does not begin with PERFILE2%s",
				 source->label,
				 text ? " but with text; what perf script wrote is not read, give "
					"the perf.data that it was made from"
				      : "");
}

/* The magic names the byte order. The first format's header is the same as far as it is used here. */
static bool magic_read(uint64_t magic, bool *swap, bool *first_format)
{
	*first_format = magic == PERFDATA_MAGIC_1 || magic == __builtin_bswap64(PERFDATA_MAGIC_1);
	*swap = magic == __builtin_bswap64(PERFDATA_MAGIC_2) ||
		magic == __builtin_bswap64(PERFDATA_MAGIC_1);
	return *swap || *first_format || magic == PERFDATA_MAGIC_2;
}

/* Old recorders on 32-bit machines wrote the feature bits as 32-bit words, which matters only in the
 * other byte order. The host name is always there (perf_file_header__read has the same guess). */
static void features_swap(uint64_t features[4])
{
	const uint64_t hostname = UINT64_C(1) << PERFDATA_FEATURE_HOSTNAME;

	if (features[0] & hostname)
		return;
	for (size_t i = 0; i < 4; i++)
		features[i] = features[i] << 32 | features[i] >> 32;
	if (!(features[0] & hostname))
		for (size_t i = 0; i < 4; i++)
			features[i] = features[i] << 32 | features[i] >> 32;
}

static enum status file_header_parse(struct perfdata_reader *reader,
				     const struct perfdata_source *source, const uint8_t *bytes,
				     size_t size, struct file_header *header, struct error *error)
{
	struct bytes b = bytes_of(bytes, size, reader->swap);

	header->magic = bytes_u64(&b);
	header->size = bytes_u64(&b);
	header->attr_size = bytes_u64(&b);
	header->attrs = section_take(&b);
	header->data = section_take(&b);
	header->event_types = section_take(&b);
	for (size_t i = 0; i < 4; i++)
		header->features[i] = bytes_u64(&b);
	if (b.failed)
		return error_set_corrupt(error, size,
					 "%s ends inside its header of %u bytes: nothing in it can "
					 "be read",
					 source->label, PERFDATA_HEADER_BYTES);
	if (reader->swap)
		features_swap(header->features);
	if (header->attr_size < PERFDATA_ATTR_MIN_BYTES + PERFDATA_SECTION_BYTES ||
	    header->attr_size > PERFDATA_ATTR_MAX_BYTES + PERFDATA_SECTION_BYTES)
		return error_set_corrupt(
			error, 16,
			"%s says that its attributes have %llu bytes each; %u to %u "
			"can be. Was the recorder closed properly?",
			source->label, (unsigned long long)header->attr_size,
			PERFDATA_ATTR_MIN_BYTES + PERFDATA_SECTION_BYTES,
			PERFDATA_ATTR_MAX_BYTES + PERFDATA_SECTION_BYTES);
	return STATUS_OK;
}

/* The ids of one attribute; ids that the file does not hold are left out with a note. */
static enum status ids_load(struct perfdata_reader *reader, const struct perfdata_source *source,
			    struct section ids, uint8_t **bytes, size_t *n, struct error *error)
{
	enum status status;
	size_t got;

	*bytes = NULL;
	*n = 0;
	if (!ids.size)
		return STATUS_OK;
	if (!checked_range(ids.offset, ids.size, source->size) ||
	    ids.size / 8 > PERFDATA_IDS_MAX - reader->events.n_ids) {
		perfdata_notes_add(&reader->notes, PERFDATA_NOTE_SKIPPED, ids.offset, 0,
				   "%s: the event ids at offset %#llx lie past the end of the file "
				   "or are too many",
				   source->label, (unsigned long long)ids.offset);
		return STATUS_OK;
	}
	*bytes = malloc((size_t)ids.size);
	if (!*bytes)
		return error_set(error, STATUS_NO_MEMORY, "no memory to read %s", source->label);
	status = perfdata_source_read(source, *bytes, (size_t)ids.size, ids.offset, &got, error);
	*n = got / 8;
	return status;
}

/* The entry's size in the header is what counts; the attribute's own size field may be wrong. */
static enum status attr_load(struct perfdata_reader *reader, const struct perfdata_source *source,
			     const uint8_t *entry, size_t entry_size, uint64_t offset,
			     struct error *error)
{
	const uint32_t size = (uint32_t)(entry_size - PERFDATA_SECTION_BYTES);
	struct bytes own = bytes_of(entry + 4, 4, reader->swap);
	struct bytes ids_at = bytes_of(entry + size, PERFDATA_SECTION_BYTES, reader->swap);
	const uint32_t own_size = bytes_u32(&own);
	uint8_t *ids;
	size_t n_ids;
	enum status status;

	if (own_size > size)
		perfdata_notes_add(&reader->notes, PERFDATA_NOTE_MENDED, offset, 0,
				   "%s: the attribute at offset %#llx says it has %u bytes where "
				   "there are %u; the rest is taken as zero",
				   source->label, (unsigned long long)offset, own_size, size);
	status = ids_load(reader, source, section_take(&ids_at), &ids, &n_ids, error);
	if (status == STATUS_OK)
		status = perfdata_events_add(&reader->events, entry, size, reader->swap, ids, n_ids,
					     error);
	free(ids);
	return status;
}

static enum status attrs_load(struct perfdata_reader *reader, const struct perfdata_source *source,
			      const struct file_header *header, struct error *error)
{
	uint8_t entry[PERFDATA_ATTR_MAX_BYTES + PERFDATA_SECTION_BYTES];
	const uint64_t n = header->attrs.size / header->attr_size;

	if (n > PERFDATA_EVENTS_MAX)
		return error_set(error, STATUS_LIMIT, "%s names %llu events, assay reads up to %u",
				 source->label, (unsigned long long)n, PERFDATA_EVENTS_MAX);
	if (!checked_range(header->attrs.offset, header->attrs.size, source->size))
		return error_set_corrupt(error, header->attrs.offset,
					 "%s ends inside its attributes: its records cannot be "
					 "decoded",
					 source->label);
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t offset = header->attrs.offset + i * header->attr_size;
		size_t got;
		enum status status = perfdata_source_read(source, entry, (size_t)header->attr_size,
							  offset, &got, error);

		if (status != STATUS_OK)
			return status;
		if (got < header->attr_size)
			return error_set_corrupt(error, offset, "%s ends inside its attributes",
						 source->label);
		status = attr_load(reader, source, entry, (size_t)header->attr_size, offset, error);
		if (status != STATUS_OK)
			return status;
	}
	return STATUS_OK;
}

/* Where the data ends; *complete when the header's own word for it can be trusted. */
static uint64_t data_end_find(struct perfdata_reader *reader, const struct perfdata_source *source,
			      const struct file_header *header, bool *complete)
{
	uint64_t end;

	*complete = false;
	if (!header->data.size) {
		perfdata_notes_add(
			&reader->notes, PERFDATA_NOTE_UNFINISHED, header->data.offset, 0,
			"%s was never finished by its recorder (data size 0); records are "
			"read as far as they make sense",
			source->label);
		return source->size;
	}
	if (!checked_add_u64(header->data.offset, header->data.size, &end) || end > source->size) {
		perfdata_notes_add(
			&reader->notes, PERFDATA_NOTE_TRUNCATED, source->size, 0,
			"%s is incomplete: its header names %llu bytes of data, the file "
			"holds %llu",
			source->label, (unsigned long long)header->data.size,
			(unsigned long long)(source->size - header->data.offset));
		reader->stream.clamped = true;
		return source->size;
	}
	*complete = true;
	return end;
}

static int clock_of_events(const struct perfdata_events *events)
{
	for (size_t i = 0; i < events->n; i++)
		if (events->items[i].attr.use_clockid)
			return events->items[i].attr.clockid;
	return -1;
}

static enum status file_open(struct perfdata_reader *reader, struct perfdata_source *source,
			     const struct file_header *header, struct error *error)
{
	struct perfdata_header *out = &reader->features.header;
	bool complete;
	enum status status;

	status = attrs_load(reader, source, header, error);
	if (status != STATUS_OK)
		return status;
	if (header->data.offset > source->size)
		return error_set_corrupt(error, header->data.offset,
					 "%s ends before its data section", source->label);
	reader->data_end = data_end_find(reader, source, header, &complete);
	out->data_offset = header->data.offset;
	out->data_size = reader->data_end - header->data.offset;
	if (complete)
		status = perfdata_features_load(&reader->features, source, header->features,
						reader->data_end, error);
	if (out->clock_id < 0)
		out->clock_id = clock_of_events(&reader->events);
	return status;
}

enum status perfdata_header_read(struct perfdata_reader *reader, struct perfdata_source *source,
				 struct error *error)
{
	uint8_t bytes[PERFDATA_HEADER_BYTES];
	struct file_header header;
	bool first_format;
	uint64_t magic = 0;
	size_t got;
	enum status status = perfdata_source_read(source, bytes, sizeof(bytes), 0, &got, error);

	if (status != STATUS_OK)
		return status;
	memcpy(&magic, bytes, got < 8 ? got : 8);
	if (got < 8 || !magic_read(magic, &reader->swap, &first_format))
		return not_perfdata(source, bytes, got, error);
	reader->features.swap = reader->stream.swap = reader->features.header.swapped =
		reader->swap;
	if (got >= PERFDATA_PIPE_HEADER_BYTES && !first_format) {
		struct bytes b = bytes_of(bytes + 8, 8, reader->swap);

		if (bytes_u64(&b) == PERFDATA_PIPE_HEADER_BYTES) {
			reader->pipe = reader->features.header.pipe = true;
			reader->features.header.finished = true;
			reader->features.header.data_offset = PERFDATA_PIPE_HEADER_BYTES;
			reader->data_end = source->size;
			return STATUS_OK;
		}
	}
	status = file_header_parse(reader, source, bytes, got, &header, error);
	return status == STATUS_OK ? file_open(reader, source, &header, error) : status;
}
