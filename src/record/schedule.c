/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "record/schedule.h"

#include <math.h>

#include "base/random.h"

/* Coordinates of streams that belong to no clock; clocks count from 0. */
#define STREAM_SEED   UINT64_C(0x5eed)
#define STREAM_LENGTH UINT64_C(0x1e46)
#define STREAM_WAKE   UINT64_C(0x3a4e)
#define NO_CLOCK      UINT64_MAX

#define JITTER_HALF_WIDTH 0.5
#define EXP_LOW           0.1
#define EXP_HIGH          5.0

/* The lowest factor of an exponential for a safety bound: in few steps, so that calibrations that differ
 * a little draw the same. 0.5 is the most that a random clock is planned with. */
static double exp_low(double least)
{
	static const double steps[SCHEDULE_STEPS] = { EXP_LOW, 0.25, 0.5 };

	for (int i = 0; i < SCHEDULE_STEPS; i++)
		if (least <= steps[i])
			return steps[i];
	return least;
}

/* Mean of an exponential of scale s that is cut to [low, high]. */
static double cut_mean(double low, double high, double s)
{
	const double width = high - low;

	return low + s - width / expm1(width / s);
}

/* The scale at which the cut exponential has mean 1, by bisection; the mean grows with the scale
 * from low to the middle of the range, which exceeds 1. */
static double cut_scale(double low, double high)
{
	double below = 1e-6, above = 1e3;

	for (int i = 0; i < 100; i++) {
		const double s = sqrt(below * above);

		if (cut_mean(low, high, s) < 1)
			below = s;
		else
			above = s;
	}
	return below;
}

struct schedule schedule_make(enum schedule_kind kind, double least)
{
	struct schedule schedule = { kind, 1, 1, 0 };

	if (!(least < 1))
		return schedule;
	if (kind == SCHEDULE_JITTER) {
		const double half = fmin(JITTER_HALF_WIDTH, 1 - least);

		schedule.low = 1 - half;
		schedule.high = 1 + half;
	} else if (kind == SCHEDULE_EXP) {
		schedule.low = exp_low(least);
		schedule.high = EXP_HIGH;
		schedule.scale = cut_scale(schedule.low, schedule.high);
	}
	return schedule;
}

bool schedule_is_random(const struct schedule *schedule)
{
	return schedule->kind == SCHEDULE_JITTER || schedule->kind == SCHEDULE_EXP;
}

static void name_stream(struct random *random, const struct draw_name *name)
{
	random_init(random, name->epoch_seed, name->clock, name->slot, name->number);
}

/* The quantile function of the factor. */
static double factor_at(const struct schedule *schedule, double u)
{
	const double width = schedule->high - schedule->low;

	if (!(width > 0))
		return 1;
	if (schedule->kind == SCHEDULE_EXP)
		return schedule->low - schedule->scale * log1p(u * expm1(-width / schedule->scale));
	return schedule->low + u * width;
}

/* By inversion. A constant schedule draws nothing. */
static double factor_draw(const struct schedule *schedule, struct random *random)
{
	return schedule->high > schedule->low ? factor_at(schedule, random_double(random)) : 1;
}

/* The mean of 1/f over the quantiles of the distribution: exact to 1e-4 for what is drawn here. */
double schedule_inverse_mean(const struct schedule *schedule)
{
	const int n = 20000;
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += 1 / factor_at(schedule, (i + 0.5) / n);
	return sum / n;
}

static uint64_t interval_of(double mean, double factor)
{
	const double interval = mean * factor;

	return interval < 1 ? 1 : (uint64_t)(interval + 0.5);
}

uint64_t schedule_draw(const struct schedule *schedule, double mean, const struct draw_name *name)
{
	struct random random;

	name_stream(&random, name);
	return interval_of(mean, factor_draw(schedule, &random));
}

/* Length-biased by rejection: a factor f is kept with probability f / high. At least one of `high`
 * trials is kept on average (mean 1), so 200 trials fail with probability below 1e-19. */
uint64_t schedule_residual(const struct schedule *schedule, double mean,
			   const struct draw_name *name)
{
	struct random random;
	double factor = 1;

	name_stream(&random, name);
	for (int trial = 0; trial < 200; trial++) {
		factor = factor_draw(schedule, &random);
		if (random_double(&random) * schedule->high <= factor)
			break;
	}
	return interval_of(mean, factor * random_double(&random));
}

/* Trial division: once per recording, at most 2^26.5 / 2 steps for the largest value allowed. */
static bool is_prime(uint64_t value)
{
	if (value < 4)
		return value >= 2;
	if (value % 2 == 0)
		return false;
	for (uint64_t divisor = 3; divisor * divisor <= value; divisor += 2)
		if (value % divisor == 0)
			return false;
	return true;
}

uint64_t schedule_prime(uint64_t value)
{
	for (uint64_t distance = 0;; distance++) {
		if (is_prime(value + distance))
			return value + distance;
		if (distance < value && is_prime(value - distance))
			return value - distance;
	}
}

uint64_t schedule_epoch_seed(uint64_t seed, uint64_t epoch)
{
	struct random random;

	random_init(&random, seed, NO_CLOCK, STREAM_SEED, epoch);
	return random_u64(&random);
}

double schedule_epoch_length(uint64_t epoch_seed)
{
	struct random random;

	random_init(&random, epoch_seed, NO_CLOCK, STREAM_LENGTH, 0);
	return random_double(&random);
}

double schedule_wake(uint64_t epoch_seed, uint64_t number)
{
	struct random random;

	random_init(&random, epoch_seed, NO_CLOCK, STREAM_WAKE, number);
	return random_double(&random);
}
