/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Does a stopped thread stand inside bytes that are about to change, or will it come back there?
 *
 * Its pc is one place. Others are on its stack: a signal frame, or a saved context, holds the pc that was
 * interrupted. Every word of the stack from 128 bytes below the stack pointer to the end of its mapping is
 * compared, which finds all of them and takes a number that looks like such an address for one: then the
 * window merely counts as busy.
 *
 * For whole regions of trampolines that rule would be too strict: stubs call the agent, and the return addresses of
 * calls long over stand in unused slots of live frames. There a word counts unless a call instruction
 * stands before the place it means, or when it is the pc of a signal frame: a thread that is suspended in
 * the agent has its pc there, in a register or in a signal frame.
 */
#ifndef ASSAY_PROBE_STACKS_H
#define ASSAY_PROBE_STACKS_H

#include "probe/guardian.h"
#include "probe/tracee.h"

#define STACKS_MAX_BYTES (8u << 20)   /* of one thread */
#define STACKS_MAX_TOTAL (512u << 20) /* of all, in one stop */

struct busy_window {
	uint64_t start, end; /* strictly inside is busy */
	uint32_t write;      /* index of the write */
	bool busy;           /* the answer */
	bool region;         /* a region of trampolines: return addresses do not count */
};

/* Sets `busy` of each window that a stopped thread stands in; of all of them when stacks are larger than
 * what is looked at. `windows` is sorted by start here. */
MUST_CHECK enum status stacks_find_busy(const struct tracees *tracees, int memory_fd,
					struct busy_window *windows, size_t n, struct error *error);

#endif
