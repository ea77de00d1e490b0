/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/interval.h"

#include <math.h>
#include <stddef.h>

#include "estimate/quantile.h"

#define SMALL_COUNT     5
#define SMALL_COUNT_MAX 10.0
#define GRID_STEP       (SMALL_COUNT_MAX / (SMALL_COUNT_GRID - 1))

void small_count_init(struct small_count *bounds, double p)
{
	bounds->p = p;
	bounds->m_log_bound[0] = log(p);
	for (size_t i = 1; i < SMALL_COUNT_GRID; i++)
		bounds->m_log_bound[i] = NAN;
}

/* What is interpolated is m log(bound): it tends to log p as m tends to 0 and is nearly straight, while
 * the bound itself falls as p^(1/m). */
static double grid_at(struct small_count *bounds, size_t i)
{
	const double m = (double)i * GRID_STEP;

	if (isnan(bounds->m_log_bound[i])) {
		const double log_leading = (log(bounds->p) + lgamma(m + 1)) / m;

		/* Below e^-300 the leading term p = x^m / Gamma(m+1) of the incomplete gamma function
		 * is the whole of it. */
		if (log_leading < -300)
			bounds->m_log_bound[i] = m * log_leading;
		else
			bounds->m_log_bound[i] = m * log(quantile_chi2(bounds->p, 2 * m) / 2);
	}
	return bounds->m_log_bound[i];
}

double small_count_bound(struct small_count *bounds, double m)
{
	const double at = m / GRID_STEP;
	size_t below;
	double part;

	if (!(m > 0))
		return 0;
	if (m >= SMALL_COUNT_MAX)
		return quantile_chi2(bounds->p, 2 * m) / 2;
	below = (size_t)at;
	part = at - (double)below;
	return exp((grid_at(bounds, below) * (1 - part) + grid_at(bounds, below + 1) * part) / m);
}

struct bounds bounds_wilson(double share, double n_effective, double t)
{
	const double a = t * t / n_effective;
	const double middle = share + a / 2;
	const double half = t * sqrt(share * (1 - share) / n_effective + a / (4 * n_effective));
	struct bounds bounds = { (middle - half) / (1 + a), (middle + half) / (1 + a) };

	bounds.lo = fmin(fmax(bounds.lo, 0), share);
	bounds.hi = fmax(fmin(bounds.hi, 1), share);
	return bounds;
}

struct bounds bounds_share(double share, double n_effective, double t, uint64_t count,
			   uint64_t rest, struct small_count *small)
{
	struct bounds bounds = bounds_wilson(share, n_effective, t);

	if (count <= SMALL_COUNT)
		bounds.lo = fmin(bounds.lo,
				 small_count_bound(small, share * n_effective) / n_effective);
	if (rest <= SMALL_COUNT && rest > 0)
		bounds.hi =
			fmax(bounds.hi,
			     1 - small_count_bound(small, (1 - share) * n_effective) / n_effective);
	return bounds;
}
