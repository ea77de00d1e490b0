/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/weighting.h"

#include <math.h>

#define RATE_CHANGED 0.01 /* relative difference of mean periods from which counts mislead */

static bool rate_changed(const struct manifest *manifest)
{
	for (size_t c = 0; c < manifest->n_clocks; c++) {
		if (!manifest->clocks[c].randomised)
			continue;
		for (size_t e = 1; e < manifest->n_epochs; e++) {
			const double first = manifest->epochs[0].clocks[c].mean_period;
			const double here = manifest->epochs[e].clocks[c].mean_period;

			if (fabs(here - first) > RATE_CHANGED * first)
				return true;
		}
	}
	return false;
}

enum estimate_weighting profile_weighting(const struct profile *profile)
{
	const struct manifest *manifest = &profile->bundle->manifest;

	if (!profile->bundle->has_manifest || manifest->schedule == SCHEDULE_FREQ ||
	    rate_changed(manifest))
		return ESTIMATE_WEIGHT_PERIOD;
	switch (manifest->end.present ? manifest->end.period_weights : -1) {
	case 0: return ESTIMATE_WEIGHT_ONE;
	case 1: return ESTIMATE_WEIGHT_PERIOD;
	default: return ESTIMATE_WEIGHT_AUTO;
	}
}
