/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Quantiles of the reference distributions, safe over the whole range that counts can reach.
 *
 * GSL's inverse chi-squared and F functions call GSL's error handler, which aborts, when Newton's
 * method does not converge. Here only GSL's distribution functions are used for those two, inverted by
 * a bracketed search; the inverse t of GSL has no such exit and is used as it is.
 */
#ifndef ASSAY_ESTIMATE_QUANTILE_H
#define ASSAY_ESTIMATE_QUANTILE_H

/* Every `p` is in (0, 1), every number of degrees of freedom > 0 and may be fractional; values out of
 * range are moved to the nearest end of it. */

/* t with P(T <= t) = p. */
double quantile_t(double p, double df);
/* t with P(T > t) = q: keeps its accuracy for tiny q, where 1 - q has none left. */
double quantile_t_upper(double q, double df);
/* x with P(chi2 <= x) = p; relative error below 1e-9. */
double quantile_chi2(double p, double df);
/* x with P(F <= x) = p. */
double quantile_f(double p, double df1, double df2);

/* P(T > t), P(chi2 > x). */
double tail_t(double t, double df);
double tail_chi2(double x, double df);
double tail_normal(double z);

#endif
