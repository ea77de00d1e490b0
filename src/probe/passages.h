/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Regions of the program: what their ends cost, and the sums of their passages (agent/passages.h counts them).
 */
#ifndef ASSAY_PROBE_PASSAGES_H
#define ASSAY_PROBE_PASSAGES_H

#include "probe/buffers.h"
#include "probe/calibrate.h"

struct passage_sums {
	uint64_t begun;
	uint64_t restarted;     /* begun anew before the end came: the innermost counts */
	uint64_t alone;         /* ends that nothing had begun in that thread */
	uint64_t unended;       /* begun, and never ended in that thread */
	uint64_t without_block; /* ends passed by threads that got no block: not paired */
};

/* As which mode the buffers are laid out: passages are kept whole, also where functions are counted only. */
static inline enum probe_mode passages_mode(enum probe_mode mode, uint32_t n_regions)
{
	return n_regions && mode == PROBE_COUNT ? PROBE_TIME : mode;
}

/* What the agent is told of them; the calibration is that of a region (struct stub, passage). */
void passages_header_fill(struct agent_shared *shared, uint32_t n_regions,
			  const struct calibration *calibration);

/* Adds those of one region over all threads; sums->calls are passages that ended. */
void passages_sums(const uint8_t *buffers, const struct buffers_plan *plan, uint32_t region,
		   struct function_sums *sums, struct passage_sums *passages);

#endif
