/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bundle/perfdata_stream.h"

#include <stdlib.h>

#include "base/array.h"
#include "bundle/perfdata_unpack.h"

void perfdata_stream_init(struct perfdata_stream *stream, struct perfdata_notes *notes, bool swap)
{
	*stream = (struct perfdata_stream){ .notes = notes, .swap = swap };
}

void perfdata_stream_release(struct perfdata_stream *stream)
{
	for (size_t i = 0; i < stream->n_parts; i++)
		perfdata_source_close(&stream->parts[i].source);
	free(stream->parts);
	free(stream->window);
	free(stream->aligned);
	perfdata_unpack_free(stream->unpack);
	*stream = (struct perfdata_stream){ 0 };
}

enum status perfdata_stream_add(struct perfdata_stream *stream,
				const struct perfdata_source *source, uint64_t start, uint64_t end,
				struct error *error)
{
	struct perfdata_source copy = *source;

	if (!stream->aligned)
		stream->aligned = malloc(PERFDATA_RECORD_MAX_BYTES);
	if (!stream->window && !source->memory)
		stream->window = malloc(PERFDATA_WINDOW_BYTES);
	if (!stream->aligned || (!stream->window && !source->memory) ||
	    stream->n_parts == PERFDATA_PARTS_MAX ||
	    !array_reserve(&stream->parts, &stream->parts_capacity, stream->n_parts + 1)) {
		perfdata_source_close(&copy);
		return error_set(error, STATUS_NO_MEMORY, "no memory to read %s", source->label);
	}
	stream->parts[stream->n_parts++] = (struct perfdata_part){ copy, start, end };
	if (stream->n_parts == 1)
		perfdata_stream_rewind(stream);
	return STATUS_OK;
}

static void part_enter(struct perfdata_stream *stream, size_t part)
{
	stream->part = part;
	stream->offset = part < stream->n_parts ? stream->parts[part].start : 0;
	stream->at = stream->end = NULL;
	stream->unpacking = false;
	if (stream->unpack)
		perfdata_unpack_reset(stream->unpack);
}

void perfdata_stream_rewind(struct perfdata_stream *stream)
{
	part_enter(stream, 0);
	stream->ended = false;
}

/* Loads the window at `offset`: at least the record there, as much as the window holds otherwise. */
static enum status window_load(struct perfdata_stream *stream, struct error *error)
{
	const struct perfdata_part *part = &stream->parts[stream->part];
	const uint64_t left = part->end - stream->offset;
	enum status status;
	size_t got;

	if (part->source.memory) {
		stream->at = part->source.memory + stream->offset;
		stream->end = stream->at + left;
		return STATUS_OK;
	}
	stream->at = stream->end = stream->window;
	status = perfdata_source_read(&part->source, stream->window,
				      left < PERFDATA_WINDOW_BYTES ? (size_t)left
								   : PERFDATA_WINDOW_BYTES,
				      stream->offset, &got, error);
	if (status == STATUS_OK)
		stream->end = stream->window + got;
	return status;
}

static void note_cut(struct perfdata_stream *stream, uint32_t type, const char *what)
{
	const char *name = perfdata_type_name(type);

	if (stream->clamped)
		return;
	if (type && !*name) {
		perfdata_notes_add(stream->notes, PERFDATA_NOTE_DAMAGED, stream->offset, type,
				   "%s: what stands at offset %#llx is no record (type %u, running "
				   "past the end of the data); reading stopped there",
				   stream->parts[stream->part].source.label,
				   (unsigned long long)stream->offset, type);
		return;
	}
	perfdata_notes_add(stream->notes, PERFDATA_NOTE_TRUNCATED, stream->offset, type,
			   "%s: the %s%s%s at offset %#llx is cut by the end of the data",
			   stream->parts[stream->part].source.label, name, *name ? " " : "", what,
			   (unsigned long long)stream->offset);
}

static void note_bad_size(struct perfdata_stream *stream, const struct perfdata_raw *raw,
			  const char *where)
{
	perfdata_notes_add(stream->notes, PERFDATA_NOTE_DAMAGED, stream->offset, raw->type,
			   "%s: a record %sof type %u and size %u at offset %#llx cannot be: a "
			   "record has at least 8 bytes; reading stopped there",
			   stream->parts[stream->part].source.label, where, raw->type, raw->size,
			   (unsigned long long)stream->offset);
}

/* The next record of the window, whatever its type, without consuming it. STATUS_END: this part is
 * read or damaged. */
static enum status outer_peek(struct perfdata_stream *stream, struct perfdata_raw *raw,
			      struct error *error)
{
	const uint64_t left = stream->parts[stream->part].end - stream->offset;
	const size_t loaded = (size_t)(stream->end - stream->at);

	if (!left)
		return STATUS_END;
	if (loaded >= 8)
		perfdata_raw_header(stream->at, stream->swap, raw);
	if (loaded < 8 || (raw->size >= 8 && raw->size > loaded)) {
		enum status status = window_load(stream, error);

		if (status != STATUS_OK)
			return status;
		if (stream->end - stream->at < 8) {
			note_cut(stream, 0, "record header");
			return STATUS_END;
		}
		perfdata_raw_header(stream->at, stream->swap, raw);
	}
	if (raw->size < 8) {
		note_bad_size(stream, raw, "");
		return STATUS_END;
	}
	if (raw->size > stream->end - stream->at) {
		note_cut(stream, raw->type, "record");
		return STATUS_END;
	}
	raw->data = stream->at;
	raw->offset = stream->offset;
	return STATUS_OK;
}

static void raw_align(struct perfdata_stream *stream, struct perfdata_raw *raw)
{
	if ((uintptr_t)raw->data & 7)
		raw->data = memcpy(stream->aligned, raw->data, raw->size);
}

static enum status unpack_begin(struct perfdata_stream *stream, const struct perfdata_raw *raw,
				struct error *error)
{
	const uint8_t *payload = raw->data + 8;
	uint64_t size = raw->size - 8u;

	if (raw->type == PERFDATA_USER_COMPRESSED2) {
		struct bytes b = bytes_of(payload, size, stream->swap);
		const uint64_t stored = bytes_u64(&b);

		if (b.failed || stored > bytes_left(&b)) {
			perfdata_notes_add(stream->notes, PERFDATA_NOTE_DAMAGED, raw->offset,
					   raw->type,
					   "%s: the COMPRESSED2 record at offset %#llx names more "
					   "bytes than it has; reading stopped there",
					   stream->parts[stream->part].source.label,
					   (unsigned long long)raw->offset);
			return STATUS_END;
		}
		payload = b.at;
		size = stored;
	}
	if (!stream->unpack)
		stream->unpack = perfdata_unpack_new();
	if (!stream->unpack)
		return error_set(error, STATUS_NO_MEMORY, "no memory to unpack %s",
				 stream->parts[stream->part].source.label);
	perfdata_unpack_feed(stream->unpack, payload, (size_t)size);
	stream->unpacking = true;
	return STATUS_OK;
}

/* The carrier stays in the window, not consumed, while its inner records are delivered. */
static void unpack_finish(struct perfdata_stream *stream)
{
	struct perfdata_raw carrier;

	perfdata_raw_header(stream->at, stream->swap, &carrier);
	stream->at += carrier.size;
	stream->offset += carrier.size;
	stream->unpacking = false;
}

static enum status inner_damaged(struct perfdata_stream *stream, const char *why)
{
	perfdata_notes_add(
		stream->notes, PERFDATA_NOTE_DAMAGED, stream->offset, PERFDATA_USER_COMPRESSED,
		"%s: the compressed record at offset %#llx cannot be unpacked (%s); "
		"reading stopped there",
		stream->parts[stream->part].source.label, (unsigned long long)stream->offset, why);
	return STATUS_END;
}

/* True when a whole inner record was found; false when the carrier is used up or *end is set. */
static bool inner_next(struct perfdata_stream *stream, struct perfdata_raw *raw, bool *damaged)
{
	for (;;) {
		size_t left;
		const uint8_t *at = perfdata_unpack_bytes(stream->unpack, &left);
		const char *why = NULL;

		if (left >= 8) {
			perfdata_raw_header(at, stream->swap, raw);
			if (raw->size < 8) {
				note_bad_size(stream, raw, "inside a compressed one, ");
				*damaged = true;
				return false;
			}
			if (raw->size <= left) {
				raw->data = at;
				raw->offset = stream->offset;
				perfdata_unpack_consume(stream->unpack, raw->size);
				raw_align(stream, raw);
				return true;
			}
		}
		switch (perfdata_unpack_more(stream->unpack, &why)) {
		case UNPACK_MORE: break;
		case UNPACK_EMPTY: unpack_finish(stream); return false;
		case UNPACK_DAMAGED:
			inner_damaged(stream, why);
			*damaged = true;
			return false;
		}
	}
}

static void note_unpacked_rest(struct perfdata_stream *stream)
{
	size_t left = 0;

	if (stream->unpack)
		perfdata_unpack_bytes(stream->unpack, &left);
	if (left)
		note_cut(stream, 0, "compressed record");
}

/* One record of this part, or STATUS_END when the part has no further one. */
static enum status part_next(struct perfdata_stream *stream, struct perfdata_raw *raw,
			     struct error *error)
{
	for (;;) {
		enum status status;
		bool damaged = false;

		if (stream->unpacking) {
			if (inner_next(stream, raw, &damaged)) {
				if (raw->type != PERFDATA_USER_COMPRESSED &&
				    raw->type != PERFDATA_USER_COMPRESSED2)
					return STATUS_OK;
				return inner_damaged(stream, "a compressed record in another");
			}
			if (damaged)
				return STATUS_END;
			continue;
		}
		status = outer_peek(stream, raw, error);
		if (status == STATUS_END)
			note_unpacked_rest(stream);
		if (status != STATUS_OK)
			return status;
		if (raw->type == PERFDATA_USER_COMPRESSED ||
		    raw->type == PERFDATA_USER_COMPRESSED2) {
			status = unpack_begin(stream, raw, error);
			if (status != STATUS_OK)
				return status;
			continue;
		}
		stream->at += raw->size;
		stream->offset += raw->size;
		raw_align(stream, raw);
		return STATUS_OK;
	}
}

enum status perfdata_stream_next_slow(struct perfdata_stream *stream, struct perfdata_raw *raw,
				      struct error *error)
{
	while (!stream->ended) {
		const enum status status = part_next(stream, raw, error);

		if (status != STATUS_END)
			return status;
		if (stream->part + 1 >= stream->n_parts)
			break;
		part_enter(stream, stream->part + 1);
	}
	stream->ended = true;
	stream->at = stream->end;
	return STATUS_END;
}

void perfdata_stream_skip(struct perfdata_stream *stream, uint64_t size, uint32_t record_type)
{
	const struct perfdata_part *part = &stream->parts[stream->part];
	const uint64_t left = part->end - stream->offset;

	if (!size)
		return;
	if (stream->unpacking || size > left) {
		perfdata_notes_add(stream->notes,
				   stream->unpacking ? PERFDATA_NOTE_DAMAGED
						     : PERFDATA_NOTE_TRUNCATED,
				   stream->offset, record_type,
				   "%s: the %s record before offset %#llx says that %llu bytes "
				   "follow, but only %llu do; reading stopped there",
				   part->source.label, perfdata_type_name(record_type),
				   (unsigned long long)stream->offset, (unsigned long long)size,
				   (unsigned long long)(stream->unpacking ? 0 : left));
		stream->offset = part->end;
		stream->at = stream->end = NULL;
		stream->unpacking = false;
		return;
	}
	if (size <= (uint64_t)(stream->end - stream->at)) {
		stream->at += size;
	} else {
		stream->at = stream->end = NULL;
	}
	stream->offset += size;
}
