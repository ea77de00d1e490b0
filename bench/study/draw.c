/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/draw.h"

#include <math.h>

double draw_uniform(struct random *random, double low, double high)
{
	return low + (high - low) * random_double(random);
}

double draw_normal(struct random *random)
{
	return sqrt(-2 * log(1 - random_double(random))) *
	       cos(6.28318530717958647693 * random_double(random));
}

double draw_exponential(struct random *random, double mean)
{
	return -mean * log(1 - random_double(random));
}

double draw_gamma(struct random *random, double shape)
{
	const double d = (shape < 1 ? shape + 1 : shape) - 1.0 / 3, c = 1 / sqrt(9 * d);

	for (;;) {
		const double x = draw_normal(random), u = 1 - random_double(random);
		const double v = (1 + c * x) * (1 + c * x) * (1 + c * x);

		if (v <= 0 || log(u) >= 0.5 * x * x + d - d * v + d * log(v))
			continue;
		if (shape < 1)
			return d * v * pow(1 - random_double(random), 1 / shape);
		return d * v;
	}
}

void draw_dirichlet(struct random *random, const double *mean, size_t n, double concentration,
		    double *shares)
{
	double sum = 0;

	for (size_t s = 0; s < n; s++)
		sum += shares[s] = draw_gamma(random, mean[s] * concentration);
	for (size_t s = 0; s < n; s++)
		shares[s] /= sum;
}

double draw_pareto(struct random *random, double exponent, double low, double high)
{
	const double a = pow(low, -exponent), b = pow(high, -exponent);

	return pow(a - random_double(random) * (a - b), -1 / exponent);
}

double pareto_mean(double exponent, double low, double high)
{
	const double scale = exponent / (pow(low, -exponent) - pow(high, -exponent));

	return scale * (pow(high, 1 - exponent) - pow(low, 1 - exponent)) / (1 - exponent);
}

size_t draw_index(struct random *random, const double *sums, size_t n)
{
	const double u = random_double(random);
	size_t low = 0, high = n - 1;

	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (sums[middle] > u)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

void cumulate(const double *shares, size_t n, double *sums)
{
	double sum = 0;

	for (size_t s = 0; s < n; s++)
		sums[s] = sum += shares[s];
	sums[n - 1] = 1;
}
