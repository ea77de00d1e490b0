/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Mode state, seen from outside: at random times, which probed function each thread is in. The threads publish it
 * (agent/state.h); reading it costs them nothing, and no interrupt delays it or shifts it.
 *
 * The times are a Poisson process: gaps are exponential, so that no period of the target can be in step with them.
 */
#ifndef ASSAY_PROBE_STATES_H
#define ASSAY_PROBE_STATES_H

#include <sys/types.h>

#include "base/sys.h"
#include "probe/buffers.h"

struct states {
	uint64_t *samples; /* of each function: a thread was seen in it */
	uint32_t n_functions;
	uint64_t looks;   /* times */
	uint64_t threads; /* seen, over all looks */
	uint64_t outside; /* of these, in no probed function */
};

/* All zero. Release in any case. */
MUST_CHECK enum status states_init(struct states *states, uint32_t n_functions,
				   struct error *error);
/* Frees what it holds; harmless on one of zeros. */
void states_release(struct states *states);

/* One look at all threads of process `pid`; those that have ended in the middle of a call are left out. */
void states_look(struct states *states, const uint8_t *buffers, const struct buffers_plan *plan,
		 pid_t pid);

/* A gap to the next look: exponential, of this mean. */
uint64_t states_gap_ns(const struct sys *sys, uint64_t mean_ns);

#endif
