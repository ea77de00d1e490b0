/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * /proc/PID/maps, line by line.
 *
 * The kernel writes a newline in a path as \012 and nothing else escaped, so that "\012" typed by a
 * user in a file name cannot be told apart; a deleted file's path ends in " (deleted)", as could a
 * file's name. Paths are given as the kernel's own MMAP2 records would give them.
 */
#ifndef ASSAY_TARGET_MAPS_H
#define ASSAY_TARGET_MAPS_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"
#include "base/sys.h"

#define MAPS_MAX_BYTES (256u * 1024 * 1024)

struct map {
	uint64_t start, end, offset; /* runtime addresses; offset in the file */
	uint32_t protection, flags;  /* PROT_*, MAP_SHARED or MAP_PRIVATE */
	uint32_t major, minor;
	uint64_t inode;
	char path[PATH_MAX]; /* "" for anonymous memory */
};

/* Parses the line at *at and moves past it; false at the end of the text. Lines that are not of the
 * format are passed over. */
bool maps_next(const char **at, struct map *map);

#endif
