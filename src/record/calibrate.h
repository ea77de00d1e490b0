/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a sample and a redraw cost on this machine, measured before the target runs.
 *
 * A thread of assay does nothing but read the clock, under the same event with the same stacks; the
 * gaps between its readings are what the interrupts took from it. Some ten milliseconds, at 4 kHz.
 * With N samples taken, the median of the N longest gaps is the cost of one: ordinary readings are a
 * hundred times shorter, and a preemption is one outlier among many.
 */
#ifndef ASSAY_RECORD_CALIBRATE_H
#define ASSAY_RECORD_CALIBRATE_H

#include <linux/perf_event.h>

#include <stdbool.h>

#include "base/sys.h"
#include "record/plan.h"
#include "record/rate.h"

/* Of the event with this attribute (as opened for clocks, without a period): its cost, and how often
 * it happens per second of a busy CPU (for timers 1e9). What cannot be measured keeps a cautious
 * default. */
void calibrate(struct cost *cost, struct event_pace *pace, const struct sys *sys,
	       const struct perf_event_attr *attr, bool timed);

/* Only how often the event happens per second of a busy CPU; 0 unknown. */
double calibrate_pace(const struct sys *sys, const struct perf_event_attr *attr);

/* The defaults: those of a virtual machine with dear interrupts. */
struct cost calibrate_default(void);

#endif
