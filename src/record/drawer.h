/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Makes the draws of a recording, in the order in which each (clock, slot) needs them, and logs them.
 *
 * A draw is named by (seed of the epoch, clock, slot, number); numbers count from 0 in each epoch and
 * slot. Which draw is made when depends on the target; what its value is does not.
 */
#ifndef ASSAY_RECORD_DRAWER_H
#define ASSAY_RECORD_DRAWER_H

#include <stdint.h>

#include "base/status.h"
#include "base/sys.h"
#include "bundle/draws.h"
#include "record/plan.h"

struct drawer {
	struct draws_writer *log; /* not owned; NULL: draws are held until there is one */
	struct draw *held;
	size_t n_held, held_capacity;
	uint64_t seed;
	uint64_t epoch, epoch_seed;
	uint32_t n_slots;
	uint32_t *numbers; /* of draws made in this epoch, per clock and slot */
	uint32_t n_numbers;
};

/* Streams of random numbers named by (seed, epoch, clock, slot), not by the order of asking. */
MUST_CHECK enum status drawer_init(struct drawer *drawer, uint64_t seed, uint32_t n_clocks,
				   uint32_t n_slots, struct error *error);
void drawer_release(struct drawer *drawer);

/* The streams of the epoch from now on. */
void drawer_set_epoch(struct drawer *drawer, uint64_t epoch);

/* The next interval, and the next residual, of this clock and slot. */
uint64_t drawer_next(struct drawer *drawer, const struct clock *clock, uint32_t clock_index,
		     uint32_t slot);
uint64_t drawer_residual(struct drawer *drawer, const struct clock *clock, uint32_t clock_index,
			 uint32_t slot);

/* Names the log and writes to it what was held. */
MUST_CHECK enum status drawer_set_log(struct drawer *drawer, struct draws_writer *log,
				      struct error *error);

/* Notes that `period` was put in force by a call between the two times. */
MUST_CHECK enum status drawer_log(struct drawer *drawer, uint64_t before_ns, uint64_t after_ns,
				  uint64_t period, uint32_t clock_index, uint32_t slot,
				  struct error *error);

#endif
