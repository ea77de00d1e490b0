/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/timed.h"

#include <math.h>

#include "estimate/quantile.h"

#define TIMED_PER_WINDOW 1000.0

static const char why_few[] = "fewer than 500 calls were timed: a rough figure";

/* G(q) = (cbrt(1 + 3a(q/sqrt m - b)) - 1)/a, a = g/3, b = g/(6m) */
static double hall_g(double q, double skewness, double m)
{
	const double a = skewness / 3, b = skewness / (6 * m);

	if (fabs(skewness) < 1e-6)
		return q / sqrt(m);
	return (cbrt(1 + 3 * a * (q / sqrt(m) - b)) - 1) / a;
}

void estimate_hall(double mean, double sd, double skewness, double m, double t, double *lo,
		   double *hi)
{
	*lo = mean - sd * hall_g(t, skewness, m);
	*hi = mean - sd * hall_g(-t, skewness, m);
}

static void moments_set(struct estimate_timed *timed, const double *y, size_t n)
{
	const double m = (double)n;
	double sum = 0, squares = 0, cubes = 0;

	for (size_t i = 0; i < n; i++)
		sum += y[i];
	timed->mean = n ? sum / m : 0;
	for (size_t i = 0; i < n; i++) {
		const double d = y[i] - timed->mean;

		squares += d * d;
		cubes += d * d * d;
	}
	timed->sd = n > 1 ? sqrt(squares / (m - 1)) : 0;
	if (timed->sd > 0)
		timed->skewness = cubes / m / (timed->sd * timed->sd * timed->sd);
}

struct estimate_timed estimate_timed(const double *durations, size_t n_timed, uint64_t block,
				     uint64_t calls, double confidence)
{
	struct estimate_timed timed = { .timed = n_timed, .calls = calls, .lo = NAN, .hi = NAN };
	const double m = (double)n_timed, c = (double)calls;
	double lo, hi;

	moments_set(&timed, durations, n_timed);
	timed.total = (double)block * timed.mean * m;
	timed.slow_class = n_timed ? fmin(1, 3 / m) : 1;
	if (n_timed >= 2) {
		const double t = quantile_t((1 + confidence) / 2, m - 1);
		const double spread = c * timed.sd * sqrt(fmax(0, 1 - m / c));

		estimate_hall(timed.total, spread, timed.skewness, m, t, &lo, &hi);
		timed.lo = fmax(0, lo);
		timed.hi = hi;
	}
	timed.supported = n_timed >= ESTIMATE_TIMED_MIN || (block == 1 && n_timed > 0);
	if (block == 1 && n_timed) /* every call was timed: nothing is estimated */
		timed.lo = timed.hi = timed.total;
	if (!timed.supported)
		timed.why = why_few;
	return timed;
}

struct estimate_timed estimate_timed_sum(const struct estimate_timed *parts, size_t n_parts)
{
	struct estimate_timed sum = { 0 };
	double down = 0, up = 0;

	for (size_t i = 0; i < n_parts; i++) {
		const double low = parts[i].total - parts[i].lo,
			     high = parts[i].hi - parts[i].total;

		sum.total += parts[i].total;
		sum.timed += parts[i].timed;
		sum.calls += parts[i].calls;
		down += low * low;
		up += high * high;
	}
	sum.lo = fmax(0, sum.total - sqrt(down));
	sum.hi = sum.total + sqrt(up);
	sum.mean = sum.calls ? sum.total / (double)sum.calls : 0;
	sum.sd = sum.skewness = NAN;
	sum.slow_class = sum.timed ? fmin(1, 3 / (double)sum.timed) : 1;
	sum.supported = (sum.timed >= ESTIMATE_TIMED_MIN || sum.timed == sum.calls) && sum.timed &&
			!isnan(down) && !isnan(up);
	if (!sum.supported)
		sum.why = why_few;
	return sum;
}

uint64_t estimate_timed_block(double calls_expected)
{
	const double block = calls_expected / TIMED_PER_WINDOW;

	return block > 1 ? (uint64_t)fmin(block, 0x1p52) : 1;
}
