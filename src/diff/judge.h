/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Row by row and for the whole: changed, the same, the measurement, or not to be told.
 */
#ifndef ASSAY_DIFF_JUDGE_H
#define ASSAY_DIFF_JUDGE_H

#include "diff/diff.h"

/* Fills shares, changes, biases and verdicts of the rows, orders them, and sets the state. Rows must be
 * matched and mismatches known. */
MUST_CHECK enum status diff_judge(struct diff *diff, const struct diff_options *options,
				  struct error *error);

/* The least difference that its interval allows; 0: none is certain. */
double diff_least(const struct estimate_change *change);

/* The finding of either side that allows the largest error of this row, and whose it is; NULL: none. */
const struct finding *diff_cause(const struct diff *diff, const struct diff_row *row, int *side);

#endif
