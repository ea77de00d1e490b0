/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What was wrong or missing in a perf.data file, gathered while it is read.
 *
 * Notes of one kind about one record type are counted together (the offset and the text are those of
 * the first), and their number is bounded, so that a file of a million bad records gives one line.
 */
#ifndef ASSAY_BUNDLE_PERFDATA_NOTES_H
#define ASSAY_BUNDLE_PERFDATA_NOTES_H

#include "bundle/perfdata_format.h"
#include "bundle/perfdata_reader.h"

struct perfdata_notes {
	struct perfdata_note items[PERFDATA_NOTES_MAX];
	size_t n;
	bool muted; /* a second pass over what was already told */
};

/* One more note, or one more of a kind that is counted. `record_type` 0: no record. */
void perfdata_notes_add(struct perfdata_notes *notes, enum perfdata_note_kind kind, uint64_t offset,
			uint32_t record_type, const char *format, ...) PRINTF_LIKE(5, 6);

#endif
