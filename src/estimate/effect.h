/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Design effects: how many plain samples one effective sample is.
 *
 *	d = V / V0,  V0 = P(1 - P)/N      (Kish 1965)
 *
 * A single function's d rests on few degrees of freedom, the pooled one on all functions. The pooled
 * value therefore counts like PRIOR_DF degrees of freedom of the function's own (moderation as in
 * Smyth 2004), the own one like `df`, but never like more than the function has samples.
 */
#ifndef ASSAY_ESTIMATE_EFFECT_H
#define ASSAY_ESTIMATE_EFFECT_H

#define EFFECT_PRIOR_DF 8.0
#define EFFECT_MIN      0.02 /* below it a stratified clock would claim more than it was tested for */
#define EFFECT_FEW      20   /* samples below which d < 1 is not believed */

/* Sum over functions of V/P against what independent samples would give. */
struct effect_pool {
	double observed, binomial;
};

/* One function more: its share, its variance by the vectors, the samples of the whole. */
void effect_pool_add(struct effect_pool *pool, double share, double variance, double samples);

/* The pooled design effect; 1 when the functions say nothing about it. */
double effect_pool_value(const struct effect_pool *pool);

/* V / V0; 1 at shares of 0 and 1, where V0 is 0. */
double effect_own(double share, double variance, double samples);

/* (8 d_pool + f d) / (8 + f) */
double effect_moderate(double own, double pooled, double f);

/*
 * Moderation that does not go too far (limited translation: Efron, Morris 1971, 1972). A function with
 * long pieces is measured much better than the pool: clocks stratify time. Pulled towards the pool all
 * the way its interval would be 1.3 times as wide as need be. So the moderated effect is held below
 * own * limit, limit = df / chi2_quantile(0.3, df): as large as the own one would be taken for if it had
 * come out at its 30 % point. With no real difference this binds in 3 % of functions (df = 20). `df` is
 * what the function's own variance is worth, and is taken as at most EFFECT_LIMITS; worth fewer than
 * EFFECT_LIMIT_DF, it is not trusted against the pool.
 */
#define EFFECT_LIMITS   64
#define EFFECT_LIMIT_DF 10

struct effect_limits {
	double by_df[EFFECT_LIMITS + 1];
};

void effect_limits_init(struct effect_limits *limits);

/* `moderated`, or the limit that the function's `own` variance of `df` degrees of freedom sets if that is above. */
double effect_limited(double moderated, double own, double df, const struct effect_limits *limits);

#endif
