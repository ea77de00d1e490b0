/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The guardian's part in taking over what an earlier assay left in the target (leftovers.h): a stop of all threads at
 * a moment when none of them is inside, and none can come back into it.
 */
#ifndef ASSAY_PROBE_WORK_REUSE_H
#define ASSAY_PROBE_WORK_REUSE_H

#include "probe/guardian_work.h"
#include "probe/leftovers.h"

/* Stops all threads when none stands in a leftover region, and takes from each the block that it had. EBUSY in the
 * error: some thread was inside whenever it was looked at (the arena's busy_region); then nothing is stopped. */
MUST_CHECK enum status work_stop_outside(struct work *work, const struct leftovers *leftovers,
					 struct tracees *tracees, struct error *error);

/* Reads what there is to be taken over; without what the request says to be busy. */
MUST_CHECK enum status work_leftovers(struct work *work, struct leftovers *leftovers,
				      struct error *error);

/* The pages of zeros that took the place of events in the blocks of old buffers (work_pages.c), in as few ranges as can
 * be; *ranges is freed by the caller. What is anything else by now is not among them. */
MUST_CHECK enum status work_leftover_pages(const struct work *work,
					   const struct guardian_region *buffers,
					   struct guardian_region **ranges, size_t *n,
					   struct error *error);

#endif
