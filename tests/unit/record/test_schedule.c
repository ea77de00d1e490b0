/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/test.h"

#include <math.h>

#include "record/schedule.h"

#define DRAWS 100000
#define MEAN  1e6

struct sums {
	double mean, sd, least, most;
};

/* Of many draws, or residuals, relative to the mean. */
static struct sums sums_of(const struct schedule *schedule, bool residual)
{
	struct sums sums = { 0, 0, INFINITY, 0 };
	double squares = 0;

	for (uint64_t n = 0; n < DRAWS; n++) {
		const struct draw_name name = { 99, 0, 0, n };
		const double x = (double)(residual ? schedule_residual(schedule, MEAN, &name)
						   : schedule_draw(schedule, MEAN, &name)) /
				 MEAN;

		sums.mean += x / DRAWS;
		squares += x * x / DRAWS;
		sums.least = fmin(sums.least, x);
		sums.most = fmax(sums.most, x);
	}
	sums.sd = sqrt(squares - sums.mean * sums.mean);
	return sums;
}

/* Five standard errors of a mean of DRAWS values. */
static double tolerance(double sd)
{
	return 5 * sd / sqrt(DRAWS);
}

static void near(double value, double wanted, double within)
{
	if (fabs(value - wanted) > within)
		fail_msg("%.6f is not within %.6f of %.6f", value, within, wanted);
}

static void a_fixed_schedule_draws_its_mean(void **state)
{
	const struct schedule schedule = schedule_make(SCHEDULE_FIXED, 0);
	const struct sums sums = sums_of(&schedule, false);

	(void)state;
	assert_false(schedule_is_random(&schedule));
	assert_true(sums.least == 1 && sums.most == 1);
}

/* Uniform in [0.5, 1.5]: sd 1/sqrt(12). */
static void jitter_is_uniform_within_half_of_the_mean(void **state)
{
	const struct schedule schedule = schedule_make(SCHEDULE_JITTER, 0.01);
	const struct sums sums = sums_of(&schedule, false);
	const double sd = 1 / sqrt(12);

	(void)state;
	near(sums.mean, 1, tolerance(sd));
	near(sums.sd, sd, 0.005);
	assert_true(sums.least >= 0.5 && sums.least < 0.501);
	assert_true(sums.most <= 1.5 && sums.most > 1.499);
}

static void a_cut_exponential_keeps_its_mean_and_its_bounds(void **state)
{
	const struct schedule schedule = schedule_make(SCHEDULE_EXP, 0.01);
	const struct sums sums = sums_of(&schedule, false);

	(void)state;
	near(sums.mean, 1, tolerance(1));
	assert_true(sums.least >= 0.1 && sums.most <= 5);
	/* An exponential of mean 0.9 beyond 0.1 has sd 0.9; the cut at 5 takes a little off. */
	near(sums.sd, 0.87, 0.03);
}

/* The residual of a renewal process has mean E[X^2] / (2 E[X]). */
static void a_residual_has_half_the_length_biased_mean(void **state)
{
	const enum schedule_kind kinds[] = { SCHEDULE_FIXED, SCHEDULE_JITTER, SCHEDULE_EXP };

	(void)state;
	for (int i = 0; i < 3; i++) {
		const struct schedule schedule = schedule_make(kinds[i], 0.01);
		const struct sums whole = sums_of(&schedule, false);
		const struct sums rest = sums_of(&schedule, true);
		const double second = whole.sd * whole.sd + whole.mean * whole.mean;

		near(rest.mean, second / 2, 3 * tolerance(1));
		assert_true(rest.least < 0.001);
	}
}

/* A clock of mean 1 that starts with a residual ticks in each short span as often as in any other:
 * a tenth of all starts tick within the first tenth of a mean interval. */
static void a_clock_that_starts_with_a_residual_has_no_dead_time(void **state)
{
	const struct schedule schedule = schedule_make(SCHEDULE_JITTER, 0.01);
	uint32_t early = 0;

	(void)state;
	for (uint64_t n = 0; n < DRAWS; n++) {
		const struct draw_name name = { 5, 1, 2, n };

		early += (double)schedule_residual(&schedule, MEAN, &name) < MEAN / 10;
	}
	near((double)early / DRAWS, 0.1, tolerance(0.3));
}

static void a_safety_bound_narrows_jitter_around_the_same_mean(void **state)
{
	const struct schedule schedule = schedule_make(SCHEDULE_JITTER, 0.8);
	const struct sums sums = sums_of(&schedule, false);

	(void)state;
	assert_true(sums.least >= 0.8 && sums.most <= 1.2);
	near(sums.mean, 1, tolerance(0.4 / sqrt(12)));
}

static void a_safety_bound_cuts_an_exponential_and_keeps_its_mean(void **state)
{
	const struct schedule schedule = schedule_make(SCHEDULE_EXP, 0.5);
	const struct sums sums = sums_of(&schedule, false);

	(void)state;
	assert_true(sums.least >= 0.5 && sums.most <= 5);
	near(sums.mean, 1, tolerance(0.5));
}

static void at_the_safety_bound_no_room_is_left_for_chance(void **state)
{
	const struct schedule schedule = schedule_make(SCHEDULE_JITTER, 1);
	const struct sums sums = sums_of(&schedule, false);

	(void)state;
	assert_true(sums.least == 1 && sums.most == 1);
}

static void a_draw_depends_on_its_name_alone(void **state)
{
	const struct schedule schedule = schedule_make(SCHEDULE_JITTER, 0.01);
	const struct draw_name name = { 1, 2, 3, 4 };
	const uint64_t drawn = schedule_draw(&schedule, MEAN, &name);

	(void)state;
	for (uint64_t n = 0; n < 10; n++) {
		const struct draw_name other = { 1, 2, 3, n + 5 };

		assert_true(schedule_draw(&schedule, MEAN, &other) != drawn);
		assert_true(schedule_draw(&schedule, MEAN, &name) == drawn);
	}
}

/* A recorded seed must mean the same draws in every future version. */
static void the_draws_of_a_seed_are_fixed_for_ever(void **state)
{
	const struct schedule jitter = schedule_make(SCHEDULE_JITTER, 0.01);
	const struct schedule exponential = schedule_make(SCHEDULE_EXP, 0.01);
	const struct draw_name name = { schedule_epoch_seed(42, 3), 1, 0, 7 };

	(void)state;
	assert_int_equal(schedule_epoch_seed(42, 3), 796000668775250080u);
	assert_int_equal(schedule_draw(&jitter, MEAN, &name), 781272);
	assert_int_equal(schedule_draw(&exponential, MEAN, &name), 403561);
}

/* Of a uniform factor in [0.5, 1.5]: ln 3; of a constant: 1. */
static void repeated_intervals_fit_more_often_than_their_mean(void **state)
{
	const struct schedule jitter = schedule_make(SCHEDULE_JITTER, 0.01);
	const struct schedule fixed = schedule_make(SCHEDULE_FIXED, 0.01);

	(void)state;
	near(schedule_inverse_mean(&jitter), log(3), 1e-4);
	near(schedule_inverse_mean(&fixed), 1, 1e-12);
}

static void a_prime_is_the_nearest_one(void **state)
{
	(void)state;
	assert_int_equal(schedule_prime(2), 2);
	assert_int_equal(schedule_prime(1000000), 1000003);
	assert_int_equal(schedule_prime(90), 89);
	assert_int_equal(schedule_prime(4000000), 3999971);
}

static void epochs_have_lengths_and_seeds_of_their_own(void **state)
{
	double sum = 0;

	(void)state;
	for (uint64_t epoch = 0; epoch < 10000; epoch++) {
		const uint64_t seed = schedule_epoch_seed(7, epoch);

		assert_true(seed != schedule_epoch_seed(7, epoch + 1));
		assert_true(seed != schedule_epoch_seed(8, epoch));
		sum += schedule_epoch_length(seed);
	}
	near(sum / 10000, 0.5, 5 / sqrt(12 * 10000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fixed_schedule_draws_its_mean),
		cmocka_unit_test(jitter_is_uniform_within_half_of_the_mean),
		cmocka_unit_test(a_cut_exponential_keeps_its_mean_and_its_bounds),
		cmocka_unit_test(a_residual_has_half_the_length_biased_mean),
		cmocka_unit_test(a_clock_that_starts_with_a_residual_has_no_dead_time),
		cmocka_unit_test(a_safety_bound_narrows_jitter_around_the_same_mean),
		cmocka_unit_test(a_safety_bound_cuts_an_exponential_and_keeps_its_mean),
		cmocka_unit_test(at_the_safety_bound_no_room_is_left_for_chance),
		cmocka_unit_test(a_draw_depends_on_its_name_alone),
		cmocka_unit_test(the_draws_of_a_seed_are_fixed_for_ever),
		cmocka_unit_test(repeated_intervals_fit_more_often_than_their_mean),
		cmocka_unit_test(a_prime_is_the_nearest_one),
		cmocka_unit_test(epochs_have_lengths_and_seeds_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
