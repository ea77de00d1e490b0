/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sampling contract as the report states it: from the manifest, or from what a plain perf.data
 * reveals about itself.
 */
#ifndef ASSAY_REPORT_CONTRACT_H
#define ASSAY_REPORT_CONTRACT_H

#include "profile/profile.h"
#include "profile/table.h"
#include "report/model.h"

/* Fills report->contract, ->totals, ->bundle and ->command. */
void contract_fill(struct report *report, const struct profile *profile, const struct table *table);

/* Half-widths fall with the square root of the samples: the factor of budget (or of time) that halves
 * them. */
#define CONTRACT_HALVING 4.0

#endif
