/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/test.h"

#include <stdlib.h>

#include "base/random.h"
#include "estimate/effective.h"
#include "unit/estimate/near.h"

/* A two-state chain that is redrawn with probability q per step: autocorrelation (1-q)^lag, so
 * tau = (2 - q)/q. */
static void chain(bool *hits, size_t n, double q, uint64_t seed)
{
	struct random random;
	bool hit;

	random_init(&random, seed, 0, 0, 0);
	hit = random_double(&random) < 0.3;
	for (size_t i = 0; i < n; i++) {
		if (random_double(&random) < q)
			hit = random_double(&random) < 0.3;
		hits[i] = hit;
	}
}

/* q = 1/3: tau = 5. The mean of 200 estimates from n = 1000 each: one estimate has a relative standard
 * error of about sqrt(2(2W + 1)/n) with a window W of about 4 tau (Sokal 1997), 0.29; so the mean is
 * within 4 * 0.29/sqrt(200) = 8 %, and the truncation's bias at n = 1000 is below 10 %. */
static void the_correlation_time_of_a_chain_is_found(void **state)
{
	static bool hits[1000];
	double sum = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 200; seed++) {
		chain(hits, 1000, 1.0 / 3, seed);
		sum += estimate_correlation_time(hits, 1000) / 200;
	}
	assert_near(sum, 5, 5 * 0.18);
}

static void independent_samples_have_a_correlation_time_near_one(void **state)
{
	static bool hits[1000];
	double sum = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 100; seed++) {
		double tau;

		chain(hits, 1000, 1, seed);
		tau = estimate_correlation_time(hits, 1000);
		assert_true(tau >= 1);
		sum += tau / 100;
	}
	assert_true(sum < 1.2);
}

static void hits_that_never_vary_are_independent(void **state)
{
	bool hits[40] = { false };

	(void)state;
	assert_true(estimate_correlation_time(hits, 40) == 1);
	for (int i = 0; i < 40; i++)
		hits[i] = true;
	assert_true(estimate_correlation_time(hits, 40) == 1);
	assert_true(estimate_correlation_time(hits, 0) == 1);
	assert_true(estimate_correlation_time(hits, 1) == 1);
}

static void the_effective_number_is_never_above_the_plain_one(void **state)
{
	(void)state;
	assert_true(estimate_effective(5000, 1000, 0.2) == 1000);
	assert_true(estimate_effective(500, 1000, 5) == 200);
	assert_true(estimate_effective(100, 1000, 5) == 100);
}

/* Under independence z is standard normal: |mean| of 400 is below 4/sqrt(400) = 0.2, and z > 2.33 in 1 %
 * (more than 14 of 400 has probability 6e-5). */
static void runs_of_one_function_are_told_from_chance(void **state)
{
	uint32_t symbols[2000];
	uint64_t counts[10] = { 0 };
	struct random random;
	double mean = 0;
	int above = 0;

	(void)state;
	random_init(&random, 11, 0, 0, 0);
	for (int trial = 0; trial < 400; trial++) {
		uint64_t own[10] = { 0 };
		double z;

		for (int i = 0; i < 2000; i++) {
			symbols[i] =
				(uint32_t)(10 * random_double(&random) * random_double(&random));
			own[symbols[i]]++;
		}
		z = estimate_runs(symbols, 2000, own, 10);
		mean += z / 400;
		above += z > 2.33;
	}
	assert_true(fabs(mean) < 0.2);
	assert_true(above <= 14);
	for (int i = 0; i < 2000; i++) {
		symbols[i] = (uint32_t)(i / 2 % 10);
		counts[symbols[i]]++;
	}
	assert_true(estimate_runs(symbols, 2000, counts, 10) > 20);
	assert_true(estimate_runs(symbols, 1, counts, 10) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_correlation_time_of_a_chain_is_found),
		cmocka_unit_test(independent_samples_have_a_correlation_time_near_one),
		cmocka_unit_test(hits_that_never_vary_are_independent),
		cmocka_unit_test(the_effective_number_is_never_above_the_plain_one),
		cmocka_unit_test(runs_of_one_function_are_told_from_chance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
