/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What an earlier assay left in a process: regions of trampolines, which are never unmapped, since a thread might
 * come back into one, and the buffers that they filled.
 *
 * They are found through the buffers' name in the mappings, and known by the marks in the control page of
 * each region (src/agent/layout.h). A later assay takes them over instead of mapping more: so that a process does not
 * grow with the number of times that it was probed.
 */
#ifndef ASSAY_PROBE_LEFTOVERS_H
#define ASSAY_PROBE_LEFTOVERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sys.h"
#include "probe/guardian.h"

#define LEFTOVERS_MEMFD_NAME "assay-probe"

struct leftovers {
	struct guardian_region regions[GUARDIAN_MAX_REGIONS];
	bool patched
		[GUARDIAN_MAX_REGIONS]; /* code may still lead into it: the guardian was killed */
	uint64_t of[GUARDIAN_MAX_REGIONS]; /* inode of the buffers that it belongs to */
	uint32_t n_regions;
	struct guardian_region buffers[GUARDIAN_MAX_REGIONS];
	uint64_t buffers_inode[GUARDIAN_MAX_REGIONS];
	uint32_t n_buffers;
	pid_t guardian; /* of those that are patched still, as its own namespace has it; 0: unknown */
	uint32_t owner; /* thread of an assay that is at work with them now, 0: none */
};

/* Reads them. `maps`: the text of /proc/PID/maps; `memory_fd`: /proc/PID/mem. What is not of this version of
 * the layout is not seen, and stays where it is. */
void leftovers_find(struct leftovers *leftovers, const struct sys *sys, int memory_fd,
		    const char *maps);

/* Takes away the region at `address`, its buffers, and the other regions of these buffers: a thread stands in it. */
void leftovers_leave(struct leftovers *leftovers, uint64_t address);

#endif
