/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/quantile.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdbool.h>

#define DF_MIN 1e-3
#define DF_MAX 1e9
#define P_MIN  1e-300

static double clamp(double x, double low, double high)
{
	return x > low ? (x < high ? x : high) : low;
}

double quantile_t(double p, double df)
{
	return gsl_cdf_tdist_Pinv(clamp(p, P_MIN, 1 - 1e-16), clamp(df, DF_MIN, DF_MAX));
}

double quantile_t_upper(double q, double df)
{
	return gsl_cdf_tdist_Qinv(clamp(q, P_MIN, 1 - 1e-16), clamp(df, DF_MIN, DF_MAX));
}

/* log cdf(e^l) - log p: nearly straight in l far below the middle, where cdf is a power of x. */
static double invert_error(double (*cdf)(double x, double a, double b), double p, double a,
			   double b, double l)
{
	return log(fmax(cdf(exp(l), a, b), P_MIN)) - log(p);
}

/* Solves cdf(x) = p for x > 0: a bracket of log x, narrowed by the Illinois form of regula falsi (Dowell,
 * Jarratt 1971), and by halving in every fourth step, so that it ends whatever the function is like. */
static double invert(double (*cdf)(double x, double a, double b), double p, double a, double b,
		     double start)
{
	double low = log(start), high = low, step = 1, below, above;
	int side = 0;

	while (low > -690 && cdf(exp(low), a, b) > p) {
		high = low;
		low -= step;
		step *= 2;
	}
	step = 1;
	while (high < 690 && cdf(exp(high), a, b) < p) {
		low = high > low ? high : low;
		high += step;
		step *= 2;
	}
	low = fmax(low, -690);
	high = fmin(high, 690);
	below = invert_error(cdf, p, a, b, low);
	above = invert_error(cdf, p, a, b, high);
	for (int i = 1; i < 300 && high - low > 1e-12; i++) {
		const bool halve = i % 4 == 0 || !(above > below);
		const double at =
			halve ? (low + high) / 2 : low - below * (high - low) / (above - below);
		const double error = invert_error(cdf, p, a, b, at);

		if (!(error < 0) && !(error > 0))
			return exp(at);
		/* an end that stays twice counts for half, so that it moves next time */
		if (error < 0) {
			low = at;
			below = error;
			above = side < 0 ? above / 2 : above;
			side = -1;
		} else {
			high = at;
			above = error;
			below = side > 0 ? below / 2 : below;
			side = 1;
		}
	}
	return exp((low + high) / 2);
}

static double chi2_cdf(double x, double df, double unused)
{
	(void)unused;
	return gsl_cdf_chisq_P(x, df);
}

double quantile_chi2(double p, double df)
{
	df = clamp(df, DF_MIN, DF_MAX);
	return invert(chi2_cdf, clamp(p, P_MIN, 1 - 1e-16), df, 0, df);
}

double quantile_f(double p, double df1, double df2)
{
	return invert(gsl_cdf_fdist_P, clamp(p, P_MIN, 1 - 1e-16), clamp(df1, DF_MIN, DF_MAX),
		      clamp(df2, DF_MIN, DF_MAX), 1);
}

double tail_t(double t, double df)
{
	return gsl_cdf_tdist_Q(t, clamp(df, DF_MIN, DF_MAX));
}

double tail_chi2(double x, double df)
{
	return x > 0 ? gsl_cdf_chisq_Q(x, clamp(df, DF_MIN, DF_MAX)) : 1;
}

double tail_normal(double z)
{
	return erfc(z / 1.4142135623730951) / 2;
}
