/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * /proc/sys/kernel/perf_event_paranoid: what users without CAP_PERFMON may measure.
 */
#ifndef ASSAY_EVENT_PARANOID_H
#define ASSAY_EVENT_PARANOID_H

#include <stdbool.h>

#include "base/sys.h"

/* The level; false when it cannot be read (*level is then 2, the kernel's own default). */
bool event_paranoid(const struct sys *sys, int *level);

/* What the level allows, as half a sentence. */
const char *event_paranoid_means(int level);

#endif
