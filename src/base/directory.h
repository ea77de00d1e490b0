/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The names in a directory, through the seam and bounded: sysfs, tracefs and procfs are walked this
 * way, so that a test can put a tree of its own in their place.
 */
#ifndef ASSAY_BASE_DIRECTORY_H
#define ASSAY_BASE_DIRECTORY_H

#include <stddef.h>

#include "base/status.h"
#include "base/sys.h"

struct directory {
	char **names; /* in byte order, without "." and ".." */
	size_t n, capacity;
};

/* Lists `path` (relative to `dir_fd` as for openat) into *directory, which needs no init and is
 * released by directory_release. STATUS_LIMIT when there are more than `maximum` names; on any
 * failure *directory is empty. */
MUST_CHECK enum status directory_list(struct directory *directory, const struct sys *sys,
				      int dir_fd, const char *path, size_t maximum,
				      struct error *error);

void directory_release(struct directory *directory);

#endif
