/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The files that the target maps executable: their identity when they were mapped, and copies of
 * those that will not be found under their path when the report is made.
 *
 * Identity is read from the file that is really mapped (target/mapped_file.h), soon after the mapping
 * was made. A file that assay does not find under the same path (deleted, replaced, in another mount
 * namespace, in memory only) is copied into the bundle's objects/, named by its build-id or inode. The
 * others are kept open while descriptors last, and copied at the end if their path has changed hands
 * meanwhile.
 */
#ifndef ASSAY_RECORD_OBJECTS_H
#define ASSAY_RECORD_OBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/status.h"
#include "base/sys.h"
#include "bundle/manifest.h"
#include "record/id_map.h"
#include "target/build_id.h"
#include "target/mapped_file.h"

#define OBJECTS_MAX             65536
#define OBJECTS_MAX_COPY_BYTES  (256ull * 1024 * 1024)  /* of one file */
#define OBJECTS_MAX_TOTAL_BYTES (1024ull * 1024 * 1024) /* of all copies */
#define OBJECTS_SMALL_BYTES     (4ull * 1024 * 1024)    /* copied at once, larger ones at the end */

struct object {
	struct manifest_object manifest;
	uint8_t build_id[BUILD_ID_MAX_BYTES];
	size_t build_id_size;
	struct stat stat;
	int fd;         /* kept open; -1 */
	bool must_copy; /* its path does not lead to it */
	bool written;   /* the manifest has it */
};

struct objects {
	const struct sys *sys;
	int bundle_fd, directory_fd; /* objects/ is made with the first copy */
	struct object *items;
	size_t n, capacity;
	struct id_map by_name; /* hash of device, inode and path */
	size_t fds, max_fds;
	uint64_t copied_bytes;
};

/* Opens nothing yet; at most `max_fds` descriptors will be held. */
void objects_init(struct objects *objects, const struct sys *sys, int bundle_fd, size_t max_fds);
void objects_release(struct objects *objects);

/* Looks at a mapping's file if it is one not seen before. What cannot be read is noted in the object
 * itself (manifest.missing). */
MUST_CHECK enum status objects_note(struct objects *objects, const struct mapping *mapping,
				    struct error *error);

/* At the end of the recording: makes the copies that were put off, and those of files that lost their
 * path meanwhile. Objects that got a copy after they were written are to be written again. */
void objects_finish(struct objects *objects);

#endif
