/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/test.h"

#include <math.h>

#include "record/rate.h"

static const struct cost cost = {
	.sample = 20000,
	.drain = 1000,
	.redraw_target = 10000,
	.redraw_own = 20000,
	.wake = 40000,
	.timed_wake = 40000,
};

static void near(double value, double wanted)
{
	assert_float_equal((float)value, (float)wanted, (float)wanted * 1e-5f);
}

/* 20 + 1 us each, a redraw of 30 us every tenth, a wake-up of 40 us for two clocks every tenth. */
static void block_redraw_shares_its_cost_among_the_block(void **state)
{
	(void)state;
	near(rate_sample_cost(&cost, REDRAW_NONE, 10, 2), 21000);
	near(rate_sample_cost(&cost, REDRAW_BLOCK, 10, 2), 21000 + 3000 + 2000);
	near(rate_sample_cost(&cost, REDRAW_SAMPLE, 10, 2), 21000 + 30000 + 40000);
}

/* 40 us a wake-up and 2 * 30 us of redraws against a tenth of 2 * 21 us per period: 24 periods. */
static void blocks_are_long_enough_to_cost_a_tenth(void **state)
{
	struct cost cheap = cost;

	(void)state;
	assert_int_equal(rate_block(&cost, 2), 24);
	cheap.wake = cheap.redraw_own = cheap.redraw_target = 100;
	assert_int_equal(rate_block(&cheap, 2), RATE_BLOCK_LEAST);
	cheap.wake = 1e9;
	assert_int_equal(rate_block(&cheap, 2), RATE_BLOCK_MOST);
}

/* A period that is repeated gives E[1/X] ticks per mean, less half a tick for each redraw. */
static void redraws_take_half_a_tick_each(void **state)
{
	(void)state;
	near(rate_ticks(REDRAW_SAMPLE, 10, 1.1), 1);
	near(rate_ticks(REDRAW_NONE, 10, 1.1), 1.1);
	near(rate_ticks(REDRAW_BLOCK, 10, 1.1), 1.05);
}

static void preferred_rates_are_the_next_lower_ones(void **state)
{
	(void)state;
	near(rate_preferred(1), 1);
	near(rate_preferred(384), 315);
	near(rate_preferred(400), 400);
	near(rate_preferred(999), 800);
	near(rate_preferred(0.19), 0.16);
}

static void a_budget_buys_as_many_samples_as_it_can_pay(void **state)
{
	(void)state;
	near(rate_for_budget(0.01, 25000, 0), 400);
	near(rate_for_budget(0.01, 25000, 0.002), 315); /* 320 would fit */
	near(rate_for_budget(0.10, 25000, 0), 4000);
}

static void the_rate_stays_within_its_bounds(void **state)
{
	(void)state;
	near(rate_for_budget(1, 1000, 0), RATE_MAX_HZ);
	near(rate_for_budget(1e-9, 25000, 0), RATE_MIN_HZ);
}

/* Fixed costs above the budget would leave nothing: a tenth of it is kept for samples. */
static void fixed_costs_never_take_the_whole_budget(void **state)
{
	(void)state;
	near(rate_for_budget(0.01, 25000, 0.5), 40);
}

static void no_timer_is_armed_below_ten_costs_of_a_sample(void **state)
{
	struct cost cheap = cost;

	(void)state;
	assert_int_equal(rate_least_period_ns(&cost), 200000);
	cheap.sample = 1500;
	assert_int_equal(rate_least_period_ns(&cheap), RATE_LEAST_PERIOD_NS);
}

static void a_rate_within_its_budget_is_left_alone(void **state)
{
	(void)state;
	near(rate_adapt(400, 0.0099, 0.01), 400);
	near(rate_adapt(400, 0.0061, 0.01), 400);
	near(rate_adapt(400, 0, 0.01), 400);
}

static void a_rate_that_costs_too_much_is_lowered_to_the_budget(void **state)
{
	(void)state;
	near(rate_adapt(400, 0.02, 0.01), 200);
	near(rate_adapt(400, 0.011, 0.01), 315);
}

static void a_rate_that_costs_too_little_grows_at_most_twofold(void **state)
{
	(void)state;
	near(rate_adapt(400, 0.001, 0.01), 800);
	assert_true(rate_adapt(400, 0.005, 0.01) > 400);
}

/* Raised and lowered rates meet: the cost is proportional to the rate here. */
static void adaption_settles(void **state)
{
	(void)state;
	for (double first = 1; first <= 4000; first *= 3) {
		double rate = first, before = 0;

		for (int i = 0; i < 20; i++) {
			before = rate;
			rate = rate_adapt(rate, rate * 25e-6, 0.01);
		}
		near(rate, before);
		assert_true(rate * 25e-6 <= 0.01 && rate * 25e-6 > 0.005);
	}
}

static void what_was_spent_too_much_is_paid_back(void **state)
{
	(void)state;
	assert_true(rate_share_left(0.01, 0.005, 0) == 0.01);
	assert_true(rate_share_left(0.01, 0.01, 0) == 0.01);
	/* 1.5 % for a while, then 0.5 % for as long: 1 % in all. */
	assert_true(fabs(rate_share_left(0.01, 0.015, 0) - 0.005) < 1e-12);
	assert_true(rate_share_left(0.01, 0.5, 0) == 0.0025);
	/* Work that is there at any rate comes first; a quarter stays. */
	assert_true(fabs(rate_share_left(0.01, 0.01, 0.004) - 0.006) < 1e-12);
	assert_true(rate_share_left(0.01, 0.01, 0.03) == 0.0025);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_spent_too_much_is_paid_back),
		cmocka_unit_test(block_redraw_shares_its_cost_among_the_block),
		cmocka_unit_test(blocks_are_long_enough_to_cost_a_tenth),
		cmocka_unit_test(redraws_take_half_a_tick_each),
		cmocka_unit_test(preferred_rates_are_the_next_lower_ones),
		cmocka_unit_test(a_budget_buys_as_many_samples_as_it_can_pay),
		cmocka_unit_test(the_rate_stays_within_its_bounds),
		cmocka_unit_test(fixed_costs_never_take_the_whole_budget),
		cmocka_unit_test(no_timer_is_armed_below_ten_costs_of_a_sample),
		cmocka_unit_test(a_rate_within_its_budget_is_left_alone),
		cmocka_unit_test(a_rate_that_costs_too_much_is_lowered_to_the_budget),
		cmocka_unit_test(a_rate_that_costs_too_little_grows_at_most_twofold),
		cmocka_unit_test(adaption_settles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
