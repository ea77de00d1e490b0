/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/effective.h"

#include <math.h>

/* sum over i of (h[i] - p)(h[i + lag] - p) / n, from the number of hits that meet at this lag */
static double covariance_at(const bool *hits, size_t n, size_t lag, double p)
{
	size_t both = 0, early = 0, late = 0;

	for (size_t i = 0; i + lag < n; i++) {
		both += hits[i] && hits[i + lag];
		early += hits[i];
		late += hits[i + lag];
	}
	return ((double)both - p * (double)(early + late) + p * p * (double)(n - lag)) / (double)n;
}

double estimate_correlation_time(const bool *hits, size_t n)
{
	size_t total = 0;
	double p, variance, tau = 1;

	for (size_t i = 0; i < n; i++)
		total += hits[i];
	if (!total || total == n)
		return 1;
	p = (double)total / (double)n;
	variance = p * (1 - p);
	for (size_t lag = 1; lag + 1 <= n / 3; lag += 2) {
		const double pair =
			(covariance_at(hits, n, lag, p) + covariance_at(hits, n, lag + 1, p)) /
			variance;

		if (!(pair > 0))
			break;
		tau += 2 * pair;
	}
	return tau;
}

double estimate_effective(double by_epochs, double n, double tau)
{
	return fmin(fmin(by_epochs, n), n / fmax(tau, 1));
}

/* Under independence given the counts, neighbours match with probability m = sum c(c-1)/(n(n-1)); the
 * variance of the number of matches is close to (n-1) m (1 - m). */
double estimate_runs(const uint32_t *symbols, size_t n, const uint64_t *counts, size_t n_symbols)
{
	double matches = 0, chance = 0;

	if (n < 2)
		return 0;
	for (size_t s = 0; s < n_symbols; s++)
		if (counts[s] > 1)
			chance += (double)counts[s] * (double)(counts[s] - 1);
	chance /= (double)n * (double)(n - 1);
	for (size_t i = 1; i < n; i++)
		matches += symbols[i] == symbols[i - 1];
	if (chance >= 1 || chance <= 0)
		return 0;
	return (matches - (double)(n - 1) * chance) / sqrt((double)(n - 1) * chance * (1 - chance));
}
