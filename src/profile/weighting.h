/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whether the samples of a recording count as one each or by their periods (section 1 of
 * docs/estimates.md).
 */
#ifndef ASSAY_PROFILE_WEIGHTING_H
#define ASSAY_PROFILE_WEIGHTING_H

#include "estimate/estimate.h"
#include "profile/profile.h"

/* By their periods where samples stand for different amounts: when the kernel steered them, in a plain
 * perf.data, or when the rate changed on the way (where it was higher, equal time left more samples).
 * Else as the manifest says, and ESTIMATE_WEIGHT_AUTO when it does not: both are unbiased then. */
enum estimate_weighting profile_weighting(const struct profile *profile);

#endif
