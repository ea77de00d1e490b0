/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How much longer a recording like this one would have to be, and for which comparison.
 *
 * The forecast is that of the sequential test (estimate/sequential.h): the time after which --until would
 * stop. The table's order is another test of the same counts, with all pairs in its family; where it leaves
 * open what the sequential test has settled, the forecast is the number of samples that its weakest pair
 * would need.
 */
#ifndef ASSAY_REPORT_SETTLE_H
#define ASSAY_REPORT_SETTLE_H

#include "estimate/rank.h"
#include "report/measure.h"
#include "report/model.h"

/* Fills report->settle and report->next. Rows must be in order, their states known. */
MUST_CHECK enum status settle_make(struct report *report, const struct profile *profile,
				   const struct table *table, const struct measure *ranked,
				   const struct estimate_ranks *ranks, struct error *error);

#endif
