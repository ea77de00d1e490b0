/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inside of a perf.data writer, shared by the file's two halves: data and feature sections. */
#ifndef ASSAY_BUNDLE_PERFDATA_WRITER_STATE_H
#define ASSAY_BUNDLE_PERFDATA_WRITER_STATE_H

#include "bundle/perfdata_writer.h"

struct kept_event {
	struct perf_event_attr attr;
	char *name;
	uint64_t *ids;
	size_t n_ids;
};

struct perfdata_writer {
	const struct sys *sys;
	int fd;
	char *name;
	struct kept_event *events;
	size_t n_events;
	uint64_t attrs_offset, data_offset;
	/* bytes of data: in the file; of them named by the header; still in the buffer */
	uint64_t written, committed;
	size_t buffered;
	uint8_t *buffer;
	uint64_t features;   /* bits of the header, 0 until finished */
	struct error failed; /* the first failed write; status STATUS_OK while there is none */
};

/* Bytes under construction; `failed` is sticky. */
struct writer_bytes {
	uint8_t *data;
	size_t size, capacity;
	bool failed;
};

/* The table of sections and the sections, as they stand behind the committed data. False: no memory. */
bool perfdata_writer_features_make(const struct perfdata_writer *writer,
				   const struct perfdata_writer_features *features,
				   struct writer_bytes *bytes, uint64_t *bits);

#endif
