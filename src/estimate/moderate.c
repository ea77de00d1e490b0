/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/moderate.h"

#include <math.h>

#define D0_MAX 100.0

/* Recurrence up to 10, then the asymptotic series (Abramowitz, Stegun 6.3.18, 6.4.12). */
double digamma(double x)
{
	double sum = 0, x2;

	for (; x < 10; x++)
		sum -= 1 / x;
	x2 = 1 / (x * x);
	return sum + log(x) - 0.5 / x - x2 * (1.0 / 12 - x2 * (1.0 / 120 - x2 / 252));
}

double trigamma(double x)
{
	double sum = 0, x2;

	for (; x < 10; x++)
		sum += 1 / (x * x);
	x2 = 1 / (x * x);
	return sum + 1 / x + x2 / 2 + x2 / x * (1.0 / 6 - x2 * (1.0 / 30 - x2 / 42));
}

struct moderation moderation_fit(const double *variances, size_t n, double nu)
{
	struct moderation moderation = { .d0 = D0_MAX };
	double mean = 0, spread = 0, e, w;
	double low = 0, high = D0_MAX / 2;

	for (size_t i = 0; i < n; i++)
		mean += log(variances[i]) / (double)n;
	for (size_t i = 0; i < n; i++)
		spread += (log(variances[i]) - mean) * (log(variances[i]) - mean) / (double)(n - 1);
	e = mean - digamma(nu / 2) + log(nu / 2);
	w = spread - trigamma(nu / 2);
	if (w <= 0.01) {
		moderation.s0_squared = exp(e);
		return moderation;
	}
	/* trigamma falls from infinity to 0: solve trigamma(d0/2) = w */
	for (int i = 0; i < 60 && trigamma(high) < w; i++) {
		const double middle = (low + high) / 2;

		if (middle > 0 && trigamma(middle) > w)
			low = middle;
		else
			high = middle;
		if (high - low < 1e-9)
			break;
	}
	moderation.d0 = fmin(2 * high, D0_MAX);
	moderation.s0_squared = exp(e + digamma(moderation.d0 / 2) - log(moderation.d0 / 2));
	return moderation;
}

double moderation_variance(const struct moderation *moderation, double variance, double nu)
{
	return (moderation->d0 * moderation->s0_squared + nu * variance) / (moderation->d0 + nu);
}
