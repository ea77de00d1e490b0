/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inside of a reader, shared by its two halves: opening (header, attributes) and reading. */
#ifndef ASSAY_BUNDLE_PERFDATA_READER_STATE_H
#define ASSAY_BUNDLE_PERFDATA_READER_STATE_H

#include "bundle/perfdata_events.h"
#include "bundle/perfdata_features.h"
#include "bundle/perfdata_notes.h"
#include "bundle/perfdata_reader.h"
#include "bundle/perfdata_sample.h"
#include "bundle/perfdata_stream.h"

struct perfdata_reader {
	struct strings strings;
	struct perfdata_events events;
	struct perfdata_features features;
	struct perfdata_notes notes;
	struct perfdata_stream stream;
	bool swap, pipe;
	uint64_t data_end; /* of the first part, without a limit */
	unsigned int want;
	/*
	 * Records are numbered from 1. What they teach (attributes, names, build-ids) and what is
	 * wrong with them is taken once, by the first pass that gets there; passes differ in what they
	 * decode, so each kind of work remembers the last record that it was done for.
	 */
	uint64_t position, seen, learnt, samples_decoded, others_decoded;
	uint64_t end_told; /* position at which a pass ended and told why; UINT64_MAX: none did */
	bool have_times;
	uint64_t first_ns, last_ns;
	struct perfdata_scratch scratch;
	char *text; /* room for the longest text of a record; NULL until one has no end */
};

/* Reads the header of the first file of reader->stream's source and prepares the rest. */
MUST_CHECK enum status perfdata_header_read(struct perfdata_reader *reader,
					    struct perfdata_source *source, struct error *error);

#endif
