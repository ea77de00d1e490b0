/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/test.h"

#include "record/account.h"

static const double means[MANIFEST_MAX_CLOCKS] = { 100, 200 };

static void close_epoch(struct account *account, struct manifest_epoch_clock *clocks)
{
	struct manifest_epoch epoch = { .clocks = clocks };

	account_close(account, &epoch, means);
}

/* 2, 4, 4, 4, 5, 5, 7, 9: mean 5, standard deviation of the sample sqrt(32/7). */
static void moments_are_those_of_the_values(void **state)
{
	const double values[] = { 2, 4, 4, 4, 5, 5, 7, 9 };
	struct moments moments = { 0 };

	(void)state;
	assert_true(moments_sd(&moments) == 0);
	for (int i = 0; i < 8; i++)
		moments_add(&moments, values[i]);
	assert_float_equal((float)moments.mean, 5, 1e-6f);
	assert_float_equal((float)moments_sd(&moments), 2.138090f, 1e-5f);
	assert_true(moments.min == 2 && moments.max == 9);
}

static void a_sample_beyond_the_boundary_is_counted_for_the_next_epoch(void **state)
{
	const struct tick tick = { .keep = true, .whole = true, .intended = 10, .realised = 11 };
	struct manifest_epoch_clock clocks[MANIFEST_MAX_CLOCKS];
	struct account account;

	(void)state;
	account_init(&account, 2);
	account_sample(&account, 1, 500, &tick);
	account.boundary_ns = 1000;
	account_sample(&account, 1, 999, &tick);
	account_sample(&account, 1, 1000, &tick);
	account_lost(&account, 1, 1500, 7);
	close_epoch(&account, clocks);
	assert_int_equal(clocks[1].samples, 2);
	assert_int_equal(clocks[1].lost, 0);
	assert_int_equal(clocks[0].samples, 0);
	assert_true(clocks[1].mean_period == 200);
	close_epoch(&account, clocks);
	assert_int_equal(clocks[1].samples, 1);
	assert_int_equal(clocks[1].lost, 7);
	assert_int_equal(account.samples, 3);
	assert_int_equal(account.lost, 7);
}

static void only_whole_intervals_are_compared(void **state)
{
	const struct tick whole = { .whole = true, .intended = 100, .realised = 104 };
	const struct tick cut = { .whole = false, .intended = 100, .realised = 900 };
	struct manifest_epoch_clock clocks[MANIFEST_MAX_CLOCKS];
	struct account account;

	(void)state;
	account_init(&account, 1);
	account_sample(&account, 0, 1, &whole);
	account_sample(&account, 0, 2, &cut);
	close_epoch(&account, clocks);
	assert_int_equal(clocks[0].samples, 2);
	assert_int_equal(clocks[0].intervals, 1);
	assert_true(clocks[0].realised_max == 104 && clocks[0].intended_mean == 100);
}

static void first_and_last_sample_are_known_whatever_their_order(void **state)
{
	const struct tick tick = { 0 };
	struct account account;

	(void)state;
	account_init(&account, 1);
	account_sample(&account, 0, 50, &tick);
	account_sample(&account, 0, 30, &tick);
	account_sample(&account, 0, 40, &tick);
	assert_int_equal(account.first_sample_ns, 30);
	assert_int_equal(account.last_sample_ns, 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moments_are_those_of_the_values),
		cmocka_unit_test(a_sample_beyond_the_boundary_is_counted_for_the_next_epoch),
		cmocka_unit_test(only_whole_intervals_are_compared),
		cmocka_unit_test(first_and_last_sample_are_known_whatever_their_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
