/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes a standard perf.data that is readable at every moment.
 *
 *	header | attributes | id tables (room for all) | data ... | feature sections
 *	       '-- data.size is rewritten by every commit --'
 *
 * The caller appends whole records; perfdata_writer_commit makes what was appended part of the file
 * (flushes, then stores data.size), so that a recorder killed at any time leaves a file that ends at
 * its last commit. perfdata_writer_finish adds the feature sections.
 */
#ifndef ASSAY_BUNDLE_PERFDATA_WRITER_H
#define ASSAY_BUNDLE_PERFDATA_WRITER_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/sys.h"

struct perfdata_writer;

struct perfdata_writer_event {
	const struct perf_event_attr *attr;
	const char *name; /* as users type it; goes to the EVENT_DESC feature */
	const uint64_t *ids;
	size_t n_ids;
};

struct perfdata_writer_build_id {
	const uint8_t *id;
	size_t size;
	bool kernel;
	const char *path;
};

/* For the feature sections; NULL or 0 leaves one out. */
struct perfdata_writer_features {
	const char *hostname, *os_release, *version, *arch, *cpu_description;
	char *const *command_line; /* NULL-terminated */
	uint32_t cpus_online, cpus_available;
	uint64_t total_memory_kib;
	uint64_t first_sample_ns, last_sample_ns; /* SAMPLE_TIME */
	int clock_id; /* CLOCK_DATA when the events use a clockid, else -1 */
	const struct perfdata_writer_build_id *build_ids;
	size_t n_build_ids;
	const void *tracing_data; /* formats of tracepoints, as perf's TRACING_DATA section */
	size_t tracing_data_bytes;
};

/* Creates the file (mode 0600, fails if it exists) relative to dir_fd, with its header and the
 * attributes in it. STATUS_USAGE for attributes that perf would refuse: PERF_SAMPLE_READ needs
 * PERF_FORMAT_ID, and all events must keep their id at one place (PERF_SAMPLE_IDENTIFIER). */
MUST_CHECK enum status perfdata_writer_create(struct perfdata_writer **writer,
					      const struct sys *sys, int dir_fd, const char *name,
					      const struct perfdata_writer_event *events,
					      size_t n_events, struct error *error);

/* Appends one or several whole records, headers included, size a multiple of 8. Buffered. After a failed write (disk
 * full) every further call fails with the same error and the file stays at its last commit. */
MUST_CHECK enum status perfdata_writer_append(struct perfdata_writer *writer, const void *record,
					      size_t size, struct error *error);

/* The bytes of data that would be in the file after a commit. */
uint64_t perfdata_writer_data_bytes(const struct perfdata_writer *writer);

MUST_CHECK enum status perfdata_writer_commit(struct perfdata_writer *writer, struct error *error);
MUST_CHECK enum status perfdata_writer_finish(struct perfdata_writer *writer,
					      const struct perfdata_writer_features *features,
					      struct error *error);

/* Closes without finishing what was not finished. */
void perfdata_writer_close(struct perfdata_writer *writer);

#endif
