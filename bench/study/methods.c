/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/methods.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

#include "estimate/effect.h"
#include "estimate/quantile.h"

const char *const method_names[METHODS] = { "Wald",       "Wilson",    "linear t",
					    "Wilson own", "exact own", "assay" };

/* Clopper-Pearson for x of n, both fractional. */
static struct bounds exact_bounds(double x, double n)
{
	struct bounds bounds = { 0, 1 };

	if (x > 1e-6)
		bounds.lo = 1 / (1 + (n - x + 1) / (x * quantile_f(0.025, 2 * x, 2 * (n - x + 1))));
	if (n - x > 1e-6)
		bounds.hi =
			1 / (1 + (n - x) / ((x + 1) * quantile_f(0.975, 2 * (x + 1), 2 * (n - x))));
	return bounds;
}

struct bounds method_bounds(enum method method, const struct moments *moments, double n,
			    double variance, double df)
{
	const double p = moments->share, t = quantile_t(0.975, df);
	const double effective = n / fmax(effect_own(p, variance, n), 0.02);
	const double z = 1.959964;
	double half;

	switch (method) {
	case METHOD_WALD:
		half = z * sqrt(p * (1 - p) / n);
		return (struct bounds){ p - half, p + half };
	case METHOD_BINOMIAL: return bounds_wilson(p, n, z);
	case METHOD_LINEAR: half = t * sqrt(variance); return (struct bounds){ p - half, p + half };
	case METHOD_OWN: return bounds_wilson(p, effective, t);
	case METHOD_EXACT: {
		/* Korn and Graubard scale n* by the squared ratio of quantiles */
		const double scaled = effective * (z / t) * (z / t);

		return exact_bounds(p * scaled, scaled);
	}
	default: return (struct bounds){ 0, 1 };
	}
}
