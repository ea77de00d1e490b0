/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The feature sections of perf.data: in file mode behind the data, in pipe mode as HEADER_FEATURE
 * records; the same bytes in both. A feature that contradicts itself is dropped with a note.
 */
#ifndef ASSAY_BUNDLE_PERFDATA_FEATURES_H
#define ASSAY_BUNDLE_PERFDATA_FEATURES_H

#include "base/strings.h"
#include "bundle/perfdata_events.h"
#include "bundle/perfdata_notes.h"
#include "bundle/perfdata_reader.h"
#include "bundle/perfdata_source.h"

struct perfdata_features {
	struct perfdata_header header;
	struct perfdata_build_id *build_ids;
	size_t n_build_ids, build_ids_capacity;
	const char **words; /* of the command line */
	size_t words_capacity;
	struct strings *strings;
	struct perfdata_events *events;
	struct perfdata_notes *notes;
	bool swap;
};

/* All that is pointed to must live longer; `swap`: the file has the other byte order. */
void perfdata_features_init(struct perfdata_features *features, struct strings *strings,
			    struct perfdata_events *events, struct perfdata_notes *notes,
			    bool swap);
void perfdata_features_release(struct perfdata_features *features);

/* One feature's content. `offset` is where it stands in the file, for notes. */
MUST_CHECK enum status perfdata_features_take(struct perfdata_features *features, uint32_t feature,
					      const void *data, size_t size, uint64_t offset,
					      struct error *error);

/* A build-id entry: a HEADER_BUILD_ID record of pipe mode, or one of the BUILD_ID section. */
MUST_CHECK enum status perfdata_features_build_id(struct perfdata_features *features,
						  const void *record, size_t size,
						  struct error *error);

/* Reads the table at `table_offset` and the sections that are understood; header.finished tells
 * whether the table is there. `bits` are the header's. */
MUST_CHECK enum status perfdata_features_load(struct perfdata_features *features,
					      const struct perfdata_source *source,
					      const uint64_t bits[4], uint64_t table_offset,
					      struct error *error);

#endif
