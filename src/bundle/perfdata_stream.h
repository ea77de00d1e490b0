/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Raw records in file order: cuts windows of the source into records, unpacks compressed carriers,
 * walks over the files of a directory recording. Knows sizes and types, nothing of their content.
 *
 *	part 0 (data section)          part 1 ...
 *	| record | record | COMPRESSED | record |        offset, at..end: the loaded window
 *	                  '-- zstd --> inner records, the last one may continue in the next carrier
 *
 * A record is delivered at an address that is a multiple of 8 and stays valid until the next call.
 * All COMPRESSED and COMPRESSED2 records of one file are one zstd stream, whichever CPU wrote them
 * (tools/perf/util/session.c, perf_session__process_compressed_event).
 */
#ifndef ASSAY_BUNDLE_PERFDATA_STREAM_H
#define ASSAY_BUNDLE_PERFDATA_STREAM_H

#include <string.h>

#include "base/bytes.h"

#include "bundle/perfdata_format.h"
#include "bundle/perfdata_notes.h"
#include "bundle/perfdata_source.h"

#define PERFDATA_WINDOW_BYTES (512u * 1024)

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	       "a record's header is taken apart as a word");

struct perfdata_raw {
	const uint8_t *data; /* the record, header included */
	uint32_t type;
	uint16_t misc, size;
	uint64_t offset; /* in its file; of the carrier for an inner record */
};

struct perfdata_part {
	struct perfdata_source source;
	uint64_t start, end; /* of its records */
};

struct perfdata_unpack; /* the zstd stream */

struct perfdata_stream {
	struct perfdata_notes *notes;
	struct perfdata_part *parts;
	size_t n_parts, parts_capacity;
	bool swap;
	bool clamped; /* the file ends before its data section: already told */
	/* where we are */
	size_t part;
	uint64_t offset; /* in the part's file, of `at` */
	const uint8_t *at, *end;
	bool ended;
	struct perfdata_unpack *unpack; /* NULL until the first carrier */
	bool unpacking;
	/* storage */
	uint8_t *window;
	uint64_t *aligned; /* one record, for those that lie askew in the window */
};

/* A stream without files; `notes` must live longer. */
void perfdata_stream_init(struct perfdata_stream *stream, struct perfdata_notes *notes, bool swap);
void perfdata_stream_release(struct perfdata_stream *stream);

/* Adds a file; the stream owns the source from now on, also on failure. */
MUST_CHECK enum status perfdata_stream_add(struct perfdata_stream *stream,
					   const struct perfdata_source *source, uint64_t start,
					   uint64_t end, struct error *error);

/* Back to the first record. */
void perfdata_stream_rewind(struct perfdata_stream *stream);

/* Passes over bytes that follow the record last delivered and are no records. */
void perfdata_stream_skip(struct perfdata_stream *stream, uint64_t size, uint32_t record_type);

MUST_CHECK enum status perfdata_stream_next_slow(struct perfdata_stream *stream,
						 struct perfdata_raw *raw, struct error *error);

static inline void perfdata_raw_header(const uint8_t *at, bool swap, struct perfdata_raw *raw)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	if (!swap) {
		raw->type = (uint32_t)word;
		raw->misc = (uint16_t)(word >> 32);
		raw->size = (uint16_t)(word >> 48);
	} else {
		raw->type = __builtin_bswap32((uint32_t)word);
		raw->misc = __builtin_bswap16((uint16_t)(word >> 32));
		raw->size = __builtin_bswap16((uint16_t)(word >> 48));
	}
}

/* The next record, or STATUS_END at the end of the data or at damage (which leaves a note). The
 * common case is inline: a whole, aligned, uncompressed record in the window. */
static inline enum status perfdata_stream_next(struct perfdata_stream *stream,
					       struct perfdata_raw *raw, struct error *error)
{
	const uint8_t *at = stream->at;
	const size_t left = (size_t)(stream->end - at);

	if (left >= 8 && !stream->unpacking && !((uintptr_t)at & 7)) {
		perfdata_raw_header(at, stream->swap, raw);
		if (raw->size >= 8 && raw->size <= left && raw->type != PERFDATA_USER_COMPRESSED &&
		    raw->type != PERFDATA_USER_COMPRESSED2) {
			raw->data = at;
			raw->offset = stream->offset;
			stream->at += raw->size;
			stream->offset += raw->size;
			return STATUS_OK;
		}
	}
	return perfdata_stream_next_slow(stream, raw, error);
}

#endif
