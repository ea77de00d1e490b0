/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "record/rate.h"

#include <math.h>

uint32_t rate_block(const struct cost *cost, uint32_t clocks)
{
	const double block = cost->wake + clocks * (cost->redraw_target + cost->redraw_own);
	const double allowed = RATE_REDRAW_SHARE * clocks * (cost->sample + cost->drain);
	const double periods = allowed > 0 ? ceil(block / allowed) : RATE_BLOCK_LEAST;

	return (uint32_t)fmax(RATE_BLOCK_LEAST, fmin(RATE_BLOCK_MOST, periods));
}

double rate_ticks(enum redraw_kind redraw, uint32_t block, double inverse_mean)
{
	switch (redraw) {
	case REDRAW_BLOCK: return inverse_mean - 0.5 / block;
	case REDRAW_NONE: return inverse_mean;
	case REDRAW_SAMPLE: break;
	}
	return 1;
}

double rate_sample_cost(const struct cost *cost, enum redraw_kind redraw, uint32_t block,
			uint32_t clocks)
{
	const double each = cost->sample + cost->drain;
	const double redrawn = cost->redraw_target + cost->redraw_own;

	switch (redraw) {
	case REDRAW_SAMPLE: return each + redrawn + cost->timed_wake;
	case REDRAW_BLOCK: return each + redrawn / block + cost->wake / (clocks * block);
	case REDRAW_NONE: break;
	}
	return each;
}

double rate_preferred(double rate)
{
	static const double numbers[] = { 1, 1.25, 1.6, 2, 2.5, 3.15, 4, 5, 6.3, 8 };
	const double decade = pow(10, floor(log10(rate) + 1e-12));
	double best = decade;

	for (unsigned int i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (numbers[i] * decade <= rate * (1 + 1e-9))
			best = numbers[i] * decade;
	return best;
}

double rate_for_budget(double budget, double sample_cost_ns, double fixed_share)
{
	double share = budget - fixed_share;
	double rate;

	/* A budget that the fixed costs use up still leaves a tenth of it for samples. */
	if (share < budget / 10)
		share = budget / 10;
	rate = sample_cost_ns > 0 ? share * 1e9 / sample_cost_ns : RATE_MAX_HZ;
	return fmax(RATE_MIN_HZ, fmin(RATE_MAX_HZ, rate_preferred(rate)));
}

uint64_t rate_least_period_ns(const struct cost *cost)
{
	const double bound = RATE_COST_MULTIPLE * cost->sample;
	/* Rounded up to a preferred period: the next lower preferred rate. */
	const double rounded = 1e9 / rate_preferred(1e9 / bound);

	return rounded > RATE_LEAST_PERIOD_NS ? (uint64_t)rounded : RATE_LEAST_PERIOD_NS;
}

double rate_share_left(double budget, double total, double rest)
{
	return fmax(budget * RATE_SHARE_LEAST, fmin(budget, 2 * budget - total) - rest);
}

double rate_adapt(double rate, double achieved, double budget)
{
	double factor;

	if (!(achieved > 0) || !(budget > 0))
		return rate;
	factor = budget / achieved;
	if (factor >= 1 && factor < 1.67)
		return rate;
	factor = factor > 1 ? fmin(2, factor / 1.25) : fmax(0.25, factor);
	return fmax(RATE_MIN_HZ, fmin(RATE_MAX_HZ, rate_preferred(rate * factor)));
}
