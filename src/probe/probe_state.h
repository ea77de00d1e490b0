/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One target of a run of the engine, for the files that it is made of. Nothing of it outlives probe_run.
 */
#ifndef ASSAY_PROBE_PROBE_STATE_H
#define ASSAY_PROBE_PROBE_STATE_H

#include "probe/calibrate.h"
#include "probe/ownership.h"
#include "probe/probe.h"
#include "probe/replay.h"
#include "probe/states.h"

struct probe {
	const struct probe_options *options;
	const struct sys *sys;
	const struct probe_hooks *hooks;
	struct probe_result *result;
	struct guardian guardian;
	struct ownership *ownership; /* of all targets */
	struct launch launch;
	struct image image;
	struct install install;
	struct buffers_plan plan;
	struct calibration calibration;
	struct states states;
	struct replay replay;
	pid_t pid;
	int memfd, pidfd;
	uint8_t *buffers;
	struct agent_shared *shared;
	uint64_t start_ns;
	bool reaped, ending, ended;
};

/* Tells the user something on the way. */
void probe_notice(const struct probe *probe, const char *format, ...) PRINTF_LIKE(2, 3);

/* The error for a selection that means nothing: names that are near, modules that could not be read. */
enum status near_misses(const struct probe *probe, struct error *error);

/* Rows with names, reasons and sums: those of this target, added to those of others. */
MUST_CHECK enum status result_fill(struct probe *probe, struct error *error);

/* What was traced in this target, added to the result. */
MUST_CHECK enum status replay_result_fill(struct probe *probe, struct error *error);

#endif
