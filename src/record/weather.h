/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The machine's weather while it is recorded: how busy it was besides the target, what the hypervisor took
 * away, how fast its CPUs ran, how hot they were. Read once per epoch from /proc/stat and sysfs.
 *
 * What this machine does not tell is asked once and not again, so that an epoch costs one small read
 * where there is nothing more to learn.
 */
#ifndef ASSAY_RECORD_WEATHER_H
#define ASSAY_RECORD_WEATHER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sys.h"
#include "bundle/manifest.h"

#define WEATHER_CPUS_MAX 16 /* whose frequency is read; of more CPUs the first ones */

struct weather {
	bool no_stat, no_temperature;
	uint32_t n_cpus;            /* that tell their frequency, counted from 0 */
	uint64_t busy_ns, steal_ns; /* since boot, at the last reading */
};

/* The first reading: from here on epochs are told apart. */
void weather_start(struct weather *weather, const struct sys *sys);

/* Fills the epoch's part since the reading before. Never fails: what cannot be read stays zero. */
void weather_epoch(struct weather *weather, const struct sys *sys, struct manifest_epoch *epoch);

#endif
