/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The bytes of one perf.data file, wherever they come from: a regular file, memory, or something that
 * cannot be rewound (a pipe) or is gzip-compressed, which is spooled to an unlinked temporary file in
 * $TMPDIR (default /tmp) first. Afterwards all of them are the same: random access, known size.
 */
#ifndef ASSAY_BUNDLE_PERFDATA_SOURCE_H
#define ASSAY_BUNDLE_PERFDATA_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/sys.h"

struct perfdata_source {
	const struct sys *sys;
	int fd; /* -1: memory */
	bool close_fd;
	const uint8_t *memory;
	uint64_t size;
	char label[256]; /* names the file in messages */
};

/* Opens name relative to dir_fd; "-" is standard input. A directory gives STATUS_UNSUPPORTED with
 * *is_directory set and no text. */
MUST_CHECK enum status perfdata_source_open(struct perfdata_source *source, const struct sys *sys,
					    int dir_fd, const char *name, const char *label,
					    bool *is_directory, struct error *error);
void perfdata_source_memory(struct perfdata_source *source, const void *data, size_t size);
void perfdata_source_close(struct perfdata_source *source);

/* The bytes that are there, at most `size`; fewer only at the end of the file. *got may be short. */
MUST_CHECK enum status perfdata_source_read(const struct perfdata_source *source, void *buffer,
					    size_t size, uint64_t offset, size_t *got,
					    struct error *error);

/* Replaces a source that cannot be rewound, or that is gzip, by a temporary file with its content. */
MUST_CHECK enum status perfdata_source_spool(struct perfdata_source *source, bool gunzip,
					     struct error *error);

#endif
