/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Keeps the symbol files of programs that generate code: /tmp/perf-PID.map, written by the program
 * itself in its own mount and pid namespace, is copied into the bundle's maps/ as perf-PID.map with
 * the pid that samples carry. Taken when the process ends or the recording does, whichever is first.
 */
#ifndef ASSAY_RECORD_PERF_MAP_H
#define ASSAY_RECORD_PERF_MAP_H

#include <stdint.h>
#include <sys/types.h>

#include "base/sys.h"

#define PERF_MAP_MAX_BYTES (256ull * 1024 * 1024) /* of one file */
#define PERF_MAPS_MAX      4096

struct perf_maps {
	const struct sys *sys;
	int bundle_fd, directory_fd;
	uint32_t n;
};

/* Nothing is copied yet. `bundle_fd` stays the caller's. */
void perf_maps_init(struct perf_maps *maps, const struct sys *sys, int bundle_fd);
void perf_maps_release(struct perf_maps *maps);

/* Copies the map of `pid` if it has one; a newer copy replaces an older. */
void perf_maps_take(struct perf_maps *maps, pid_t pid, pid_t inner_pid);

#endif
