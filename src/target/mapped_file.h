/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The file that is really mapped, which need not be the file that now has its name: it may have been
 * deleted or replaced, or its path may mean something else in the target's mount namespace.
 *
 * Candidates, in order; the first whose inode is the mapping's is it:
 *	/proc/PID/root/PATH            the path as the target sees it
 *	PATH                           when the process is gone already
 *	/proc/PID/map_files/START-END  the mapping itself (needs CAP_CHECKPOINT_RESTORE)
 *	/proc/PID/exe                  when it is the main program
 * Device numbers are compared too, except that filesystems with several (overlayfs, btrfs) report
 * another one in mappings than in stat: there the same inode under the same path must do.
 */
#ifndef ASSAY_TARGET_MAPPED_FILE_H
#define ASSAY_TARGET_MAPPED_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/status.h"
#include "base/sys.h"

struct mapping { /* what an MMAP2 record or a line of maps says */
	pid_t pid;
	uint64_t start, end;
	uint32_t major, minor;
	uint64_t inode;
	const char *path;
};

struct mapped_file {
	int fd; /* open for reading; the caller closes it */
	struct stat stat;
	bool path_is_it; /* assay finds the same file under `path` itself: no copy is needed */
};

/* Failure says why none of the candidates is the file. */
MUST_CHECK enum status mapped_file_open(struct mapped_file *file, const struct sys *sys,
					const struct mapping *mapping, struct error *error);

/* True when `path` (as assay sees it) is still the file with this device and inode. */
bool mapped_file_is_at(const struct sys *sys, const char *path, const struct stat *stat);

#endif
