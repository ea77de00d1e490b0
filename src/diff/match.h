/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which row of A is which row of B.
 */
#ifndef ASSAY_DIFF_MATCH_H
#define ASSAY_DIFF_MATCH_H

#include "diff/diff.h"

/* Fills diff->rows and n: one for each function of either side, by name and module; namesakes within one
 * module are paired in the order of their reports. */
MUST_CHECK enum status diff_match(struct diff *diff, struct error *error);

#endif
