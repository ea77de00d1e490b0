/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two kinds of doubt that are never merged: variance (more samples help) and bias (they do not).
 *
 * Variance is judged here from ranks; which functions are biased comes from findings, joined outside
 * this folder.
 */
#ifndef ASSAY_ESTIMATE_STATE_H
#define ASSAY_ESTIMATE_STATE_H

#include "estimate/rank.h"

enum estimate_state { ESTIMATE_RESOLVED, ESTIMATE_UNRESOLVED, ESTIMATE_BIASED };

/* Of function `s`: biased, else resolved when its rank range has width one. */
enum estimate_state estimate_state_row(const struct estimate_ranks *ranks, size_t s, bool biased);

/* Of the whole: biased when any of the first `top_k` printed rows is, else resolved when all of them
 * are. `biased` by function, NULL: none. */
enum estimate_state estimate_state_whole(const struct estimate_ranks *ranks, const bool *biased);

#endif
