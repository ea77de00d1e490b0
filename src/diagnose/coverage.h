/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Coverage: how much of the execution lies in functions that never got a sample (Good-Turing on epochs,
 * docs/estimates.md, section 7). Needs randomised clocks: a locked one hides functions from every count.
 */
#ifndef ASSAY_DIAGNOSE_COVERAGE_H
#define ASSAY_DIAGNOSE_COVERAGE_H

#include "diagnose/finding.h"
#include "profile/table.h"

/* Adds `coverage` when it is worth a word; `table` tells functions apart. */
MUST_CHECK enum status coverage_find(struct findings *findings, const struct table *table,
				     bool randomised, bool correlated, struct error *error);

#endif
