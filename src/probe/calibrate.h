/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a pair of probes costs on this machine, and how fast the counter runs.
 *
 * The very stubs and agent that go into the target run in assay's own process around an empty function:
 *	pair	what the caller of the function sees in addition: (probed loop - plain loop) / calls
 *	inner	what the function's own interval contains of it: the time measured for the empty function
 * Lower quartiles over rounds, since disturbances only add. Inside a real function the cost differs by some ticks with what surrounds it.
 */
#ifndef ASSAY_PROBE_CALIBRATE_H
#define ASSAY_PROBE_CALIBRATE_H

#include "base/sys.h"
#include "probe/metric.h"
#include "probe/stub.h"

struct calibration {
	double pair_ticks, inner_ticks;
	double ticks_per_ns;
	uint64_t tsc0, ns0; /* where the counter's rate is reckoned from */
};

/* `stub`: mode, capped, sampled and full as they will be used. */
MUST_CHECK enum status probe_calibrate(struct calibration *calibration, const struct sys *sys,
				       const struct stub *stub, const struct metric *metric,
				       uint64_t every, struct error *error);

/* The rate of the counter since the calibration: the longer ago, the better. */
double calibration_ticks_per_ns(const struct calibration *calibration, const struct sys *sys);

#endif
