/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the probes cost that a run will use, before they are written: functions, and the ends of regions.
 */
#include "probe/machine.h"
#include "probe/probe_state.h"

enum status probe_costs_measure(struct probe *probe, struct error *error)
{
	const struct probe_options *options = probe->options;
	struct stub stub = { .mode = options->mode,
			     .capped = options->cap != 0,
			     .sampled = options->every > 1,
			     .atomics = machine_has_atomics(),
			     .full = (metric_is_full(&probe->result->metric) ||
				      options->mode == PROBE_TRACE),
			     .function_bytes = probe->plan.function_bytes };
	enum status status = probe_calibrate(&probe->calibration, probe->sys, &stub,
					     &probe->result->metric, options->every, error);

	if (status != STATUS_OK || !options->selection->n_regions ||
	    !probe_mode_measures(options->mode))
		return status;
	stub.passage = true;
	return probe_calibrate(&probe->passage_calibration, probe->sys, &stub,
			       &probe->result->metric, 1, error);
}
