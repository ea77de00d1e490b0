/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How far clocks of different kinds, each for itself, agree with the printed first rows: what a program
 * does to one schedule and not to another shows here.
 */
#ifndef ASSAY_REPORT_SCHEDULES_H
#define ASSAY_REPORT_SCHEDULES_H

#include "estimate/stability.h"
#include "report/measure.h"
#include "report/model.h"

/* Fills stability->schedules: one for each kind of randomised clock, one for the canaries together when
 * they have at least 50 samples. With randomised clocks of one kind and no canary there is nothing to
 * compare, and none is given. */
MUST_CHECK enum status schedules_agree(struct report_stability *stability,
				       const struct profile *profile, const struct table *table,
				       const struct measure *ranked,
				       const struct estimate_claim *claim, struct error *error);

#endif
