/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/test.h"

#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "estimate/lock.h"
#include "unit/estimate/near.h"

#define N 4000

/* N samples at random times within 8 s (unit: ns) of a program with a cycle: function 0 for the first
 * `part` of it, else function 1 or 2 by chance. cycle 0: function 0 by chance too. */
static void sample(double *times, uint32_t *functions, size_t n, double cycle, double part,
		   uint64_t seed)
{
	struct random random;

	random_init(&random, seed, 0, 0, 0);
	for (size_t i = 0; i < n; i++) {
		double phase = random_double(&random);

		times[i] = 8e9 * random_double(&random);
		if (cycle > 0)
			phase = times[i] / cycle - floor(times[i] / cycle);
		functions[i] = phase < part ? 0 : 1 + (random_double(&random) < 0.5);
	}
}

static void a_cycle_at_the_clocks_period_is_a_lock(void **state)
{
	static double times[N];
	static uint32_t functions[N];
	const double periods[] = { 1e6, 1.3e6 };
	struct estimate_lock lock[2];

	(void)state;
	sample(times, functions, N, 1e6, 0.3, 1);
	assert_int_equal(estimate_virtual_canary(lock, times, functions, N, 3, periods, 2, 1, NULL),
			 STATUS_OK);
	assert_int_equal(lock[0].verdict, ESTIMATE_LOCK_LOCKED);
	assert_int_equal(lock[0].functions[lock[0].worst].function, 0);
	assert_int_equal(lock[0].functions[lock[0].worst].harmonic, 1);
	assert_true(lock[0].functions[lock[0].worst].any_value);
	assert_int_equal(lock[1].verdict, ESTIMATE_LOCK_NONE);
	/* |A|/(N p(1-p)) = sin(pi p)/(pi p (1-p)) = 1.226 at full lock with p = 0.3 */
	assert_near(lock[0].concentration, 1.226, 0.1);
}

/* A cycle of T0/2.5 meets a fixed clock at two phases: harmonic 5 of T0 is harmonic 2 of the cycle. */
static void a_simple_ratio_is_found_at_its_harmonic(void **state)
{
	static double times[N];
	static uint32_t functions[N];
	const double period = 1e6;
	struct estimate_lock lock;

	(void)state;
	sample(times, functions, N, 0.4e6, 0.3, 2);
	assert_int_equal(
		estimate_virtual_canary(&lock, times, functions, N, 3, &period, 1, 1, NULL),
		STATUS_OK);
	assert_true(lock.verdict != ESTIMATE_LOCK_NONE);
	assert_int_equal(lock.functions[lock.worst].harmonic, 5);
}

/* 300 programs without any cycle: "possible" is said at 5 % at most; above 27 of 300 has probability 2e-3
 * at 5 %, and the test is conservative. Fixed seeds. */
static void a_program_without_cycle_is_rarely_accused(void **state)
{
	static double times[1000];
	static uint32_t functions[1000];
	const double period = 1e6;
	struct estimate_lock lock;
	int accused = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 300; seed++) {
		sample(times, functions, 1000, 0, 0.3, 100 + seed);
		assert_int_equal(estimate_virtual_canary(&lock, times, functions, 1000, 3, &period,
							 1, 1, NULL),
				 STATUS_OK);
		accused += lock.verdict != ESTIMATE_LOCK_NONE;
	}
	assert_true(accused <= 27);
}

static void harmonics_reach_down_to_cycles_of_50_us(void **state)
{
	static double times[100];
	static uint32_t functions[100];
	const double periods[] = { 1e5, 1e6, 1e7, 1e9 };
	struct estimate_lock lock[4];

	(void)state;
	sample(times, functions, 100, 0, 0.5, 3);
	assert_int_equal(
		estimate_virtual_canary(lock, times, functions, 100, 3, periods, 4, 1, NULL),
		STATUS_OK);
	assert_int_equal(lock[0].n_harmonics, 8);
	assert_int_equal(lock[1].n_harmonics, 20);
	assert_int_equal(lock[2].n_harmonics, 200);
	assert_int_equal(lock[3].n_harmonics, 256);
	assert_true(lock[0].missed > 0.2);
}

static void too_few_samples_or_bad_input_are_told_apart(void **state)
{
	double times[40] = { 0 }, period = 1e6;
	uint32_t functions[40] = { 0 };
	struct estimate_lock lock;

	(void)state;
	assert_int_equal(
		estimate_virtual_canary(&lock, times, functions, 10, 1, &period, 1, 1, NULL),
		STATUS_OK);
	assert_non_null(lock.why);
	for (uint32_t i = 0; i < 40; i++)
		functions[i] = i;
	assert_int_equal(
		estimate_virtual_canary(&lock, times, functions, 40, 40, &period, 1, 1, NULL),
		STATUS_OK);
	assert_non_null(lock.why);
	assert_int_equal(
		estimate_virtual_canary(&lock, times, functions, 40, 39, &period, 1, 1, NULL),
		STATUS_CORRUPT);
	period = 0;
	assert_int_equal(
		estimate_virtual_canary(&lock, times, functions, 40, 40, &period, 1, 1, NULL),
		STATUS_USAGE);
}

static void an_order_is_biased_when_the_errors_reach_across_the_difference(void **state)
{
	(void)state;
	assert_true(estimate_order_biased(0.3, 0.06, 0.2, 0.05));
	assert_false(estimate_order_biased(0.3, 0.04, 0.2, 0.05));
}

/* Six functions by chance, 60 recordings of 8 harmonics each: the largest of 8 draws of a Gamma variable
 * with 5 degrees of freedom is below 0.05 after correction in at most 5 %, here 3 of 60; 4 standard errors
 * more are 9.8. And the mean of T over harmonics is its degrees of freedom. */
static void all_functions_together_are_rarely_accused_without_a_cycle(void **state)
{
	static double times[N];
	static uint32_t functions[N];
	const double period = 1e5;
	struct estimate_lock lock;
	struct random random;
	int accused = 0;

	(void)state;
	random_init(&random, 11, 0, 0, 0);
	for (int recording = 0; recording < 60; recording++) {
		for (size_t i = 0; i < N; i++) {
			times[i] = 8e9 * random_double(&random);
			functions[i] = (uint32_t)random_below(&random, 6);
		}
		assert_int_equal(
			estimate_virtual_canary(&lock, times, functions, N, 6, &period, 1, 1, NULL),
			STATUS_OK);
		assert_near(lock.joint_df, 5, 0);
		assert_true(lock.joint > 0 && lock.joint < 40);
		accused += lock.joint_p_value < 0.05;
	}
	assert_true(accused <= 9);
}

/* Six functions of 1/6 each in a cycle that fills 30 % of the time: weak in each of them, together strong. */
static void all_functions_together_find_what_none_alone_does(void **state)
{
	static double times[600];
	static uint32_t functions[600];
	const double period = 1e6;
	struct estimate_lock lock;
	struct random random;

	(void)state;
	random_init(&random, 12, 0, 0, 0);
	for (size_t i = 0; i < 600; i++) {
		times[i] = 8e9 * random_double(&random);
		functions[i] =
			random_double(&random) < 0.3
				? (uint32_t)(6 * (times[i] / period - floor(times[i] / period)))
				: (uint32_t)random_below(&random, 6);
	}
	assert_int_equal(
		estimate_virtual_canary(&lock, times, functions, 600, 6, &period, 1, 1, NULL),
		STATUS_OK);
	assert_int_equal(lock.joint_harmonic, 1);
	assert_true(lock.joint_p_value < 0.1 * lock.p_value);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cycle_at_the_clocks_period_is_a_lock),
		cmocka_unit_test(a_simple_ratio_is_found_at_its_harmonic),
		cmocka_unit_test(a_program_without_cycle_is_rarely_accused),
		cmocka_unit_test(all_functions_together_are_rarely_accused_without_a_cycle),
		cmocka_unit_test(all_functions_together_find_what_none_alone_does),
		cmocka_unit_test(harmonics_reach_down_to_cycles_of_50_us),
		cmocka_unit_test(too_few_samples_or_bad_input_are_told_apart),
		cmocka_unit_test(an_order_is_biased_when_the_errors_reach_across_the_difference),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
