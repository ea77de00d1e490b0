/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/variance.h"

#include <math.h>

#include "estimate/quantile.h"

struct variance_quantiles variance_quantiles(double n_epochs, double contrast_df, double confidence)
{
	const double tail = (1 - confidence) / 2;

	return (struct variance_quantiles){
		.low = quantile_f(tail, n_epochs - 1, contrast_df),
		.high = quantile_f(1 - tail, n_epochs - 1, contrast_df),
	};
}

struct variance_split variance_split(double v_recording, double v_epochs,
				     const struct variance_quantiles *quantiles)
{
	struct variance_split split = {
		.measurement = v_recording,
		.workload = v_epochs - v_recording,
		.lo = 0,
		.hi = 1,
	};
	const double f = v_epochs / v_recording;

	if (v_recording > 0) {
		split.lo = f > 0 ? fmax(0, 1 - quantiles->high / f) : 0;
		split.hi = f > 0 ? fmax(0, 1 - quantiles->low / f) : 0;
	}
	return split;
}
