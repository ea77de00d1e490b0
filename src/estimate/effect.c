/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/effect.h"

#include <math.h>

#include "estimate/quantile.h"

/* A share nearer to 1 is 1 plus rounding: it has no variance to compare with. */
#define SHARE_WHOLE 1e-9

void effect_pool_add(struct effect_pool *pool, double share, double variance, double samples)
{
	if (!(share > 0) || share > 1 - SHARE_WHOLE)
		return;
	pool->observed += variance / share;
	pool->binomial += (1 - share) / samples;
}

double effect_pool_value(const struct effect_pool *pool)
{
	return pool->binomial > 0 ? pool->observed / pool->binomial : 1;
}

double effect_own(double share, double variance, double samples)
{
	const double binomial = share * (1 - share) / samples;

	return share > 0 && share < 1 - SHARE_WHOLE ? variance / binomial : 1;
}

double effect_moderate(double own, double pooled, double f)
{
	return (EFFECT_PRIOR_DF * pooled + f * own) / (EFFECT_PRIOR_DF + f);
}

void effect_limits_init(struct effect_limits *limits)
{
	for (int df = 0; df <= EFFECT_LIMITS; df++)
		limits->by_df[df] = df < EFFECT_LIMIT_DF ? INFINITY : df / quantile_chi2(0.3, df);
}

double effect_limited(double moderated, double own, double df, const struct effect_limits *limits)
{
	const double limit = limits->by_df[(int)fmin(fmax(df, 0), EFFECT_LIMITS)];

	return moderated > own ? fmin(moderated, own * limit) : moderated;
}
