/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/test.h"

#include "record/tick.h"

#define MS UINT64_C(1000000)

static void each_tick_of_a_steady_clock_is_a_whole_interval(void **state)
{
	struct tick_state clock;

	(void)state;
	tick_start(&clock, 4 * MS, 4 * MS);
	for (uint64_t n = 1; n <= 5; n++) {
		const struct tick tick =
			tick_account(&clock, 100 * MS + n * 4 * MS, n * 4 * MS + n, false);

		assert_true(tick.keep && tick.whole);
		assert_int_equal(tick.intended, 4 * MS);
		assert_int_equal(tick.realised, 4 * MS + 1);
	}
}

/* The call began at 100 ms and took effect somewhere before 100.1 ms. */
static void a_sample_that_came_too_soon_for_the_new_draw_belongs_to_the_old(void **state)
{
	struct tick_state clock;
	struct tick tick;

	(void)state;
	tick_start(&clock, 4 * MS, 4 * MS);
	tick_redraw(&clock, 100 * MS, 3 * MS, 3 * MS);
	tick = tick_account(&clock, 100 * MS + MS / 20, 4 * MS, false);
	assert_int_equal(tick.intended, 4 * MS);
	assert_true(tick.whole);
	tick = tick_account(&clock, 103 * MS + MS / 10, 7 * MS + MS / 20, false);
	assert_int_equal(tick.intended, 3 * MS);
	assert_false(tick.whole); /* the redraw cut this interval */
	tick = tick_account(&clock, 106 * MS + MS / 10, 10 * MS + MS / 20, false);
	assert_int_equal(tick.intended, 3 * MS);
	assert_int_equal(tick.realised, 3 * MS);
	assert_true(tick.whole);
}

/* Rings are drained before each redraw, so a draw that nobody met has no sample left to come. */
static void a_draw_that_was_never_met_is_replaced(void **state)
{
	struct tick_state clock;
	struct tick tick;

	(void)state;
	tick_start(&clock, 4 * MS, 4 * MS);
	tick_redraw(&clock, 100 * MS, 50 * MS, 50 * MS);
	tick_redraw(&clock, 120 * MS, 2 * MS, 2 * MS);
	tick = tick_account(&clock, 123 * MS, 10 * MS, false);
	assert_int_equal(tick.intended, 2 * MS);
}

static void a_sample_marks_its_clock_for_the_next_redraw(void **state)
{
	struct tick_state clock;

	(void)state;
	tick_start(&clock, 4 * MS, 4 * MS);
	assert_false(clock.sampled);
	tick_account(&clock, 4 * MS, 4 * MS, false);
	assert_true(clock.sampled);
	tick_redraw(&clock, 5 * MS, 4 * MS, 4 * MS);
	assert_false(clock.sampled);
}

/* Armed with 1 ms, an interval of 5 ms drawn: ticks at 1, 2, 3 ... of which 1, 6, 11 are due. */
static void a_clock_that_starts_amid_an_interval_keeps_the_ticks_that_are_due(void **state)
{
	struct tick_state clock;

	(void)state;
	tick_start(&clock, MS, 5 * MS);
	for (uint64_t n = 1; n <= 11; n++) {
		const struct tick tick = tick_account(&clock, n * MS, n * MS, false);

		assert_int_equal(tick.keep, n % 5 == 1);
		if (tick.keep) {
			/* The first ends an interval that was under way when the clock began. */
			assert_int_equal(tick.intended, 5 * MS);
			assert_int_equal(tick.realised, 5 * MS);
			assert_false(tick.whole);
		}
	}
}

static void a_redraw_ends_the_thinning_of_a_start(void **state)
{
	struct tick_state clock;
	struct tick tick;

	(void)state;
	tick_start(&clock, MS, 5 * MS);
	tick_account(&clock, MS, MS, false);
	assert_false(tick_account(&clock, 2 * MS, 2 * MS, false).keep);
	tick_redraw(&clock, 2 * MS + MS / 2, 4 * MS, 4 * MS);
	tick = tick_account(&clock, 7 * MS, 7 * MS, false);
	assert_true(tick.keep);
	assert_int_equal(tick.intended, 4 * MS);
	/* what was passed over since the last stored sample belongs to it */
	assert_int_equal(tick.realised, 6 * MS);
}

/* cpu-clock:u, period 2 ms: ticks at 4 and 6 ms fell into the kernel and left no record. */
static void ticks_without_a_record_are_taken_out_of_the_interval(void **state)
{
	struct tick_state clock;
	struct tick tick;

	(void)state;
	tick_start(&clock, 2 * MS, 2 * MS);
	tick_account(&clock, 2 * MS, 2 * MS, true);
	tick = tick_account(&clock, 8 * MS, 8 * MS + 30, true);
	assert_int_equal(tick.realised, 2 * MS + 30);
	assert_int_equal(tick.intended, 2 * MS);
	assert_true(tick.whole);
}

static void a_clock_without_exclusions_keeps_its_long_intervals(void **state)
{
	struct tick_state clock;

	(void)state;
	tick_start(&clock, 2 * MS, 2 * MS);
	tick_account(&clock, 2 * MS, 2 * MS, false);
	/* throttled for two periods: that is to be seen */
	assert_int_equal(tick_account(&clock, 8 * MS, 8 * MS, false).realised, 6 * MS);
}

/* Restarted 1 ms after the last tick, 9 ms before this one. */
static void
a_cut_interval_with_skipped_ticks_is_its_last_period_and_the_rest_of_the_old(void **state)
{
	struct tick_state clock;
	struct tick tick;

	(void)state;
	tick_start(&clock, 2 * MS, 2 * MS);
	tick_account(&clock, 2 * MS, 2 * MS, true);
	tick_redraw(&clock, 3 * MS, 3 * MS, 3 * MS);
	tick = tick_account(&clock, 12 * MS, 12 * MS, true);
	assert_int_equal(tick.realised, 3 * MS + MS);
	assert_false(tick.whole);
}

static void ticks_that_passed_before_the_cut_are_taken_out_too(void **state)
{
	struct tick_state clock;

	(void)state;
	tick_start(&clock, 2 * MS, 2 * MS);
	tick_account(&clock, 2 * MS, 2 * MS, true);
	tick_redraw(&clock, 7 * MS, 4 * MS, 4 * MS);
	assert_int_equal(tick_account(&clock, 15 * MS, 15 * MS, true).realised, 4 * MS + MS);
}

/* The thread ran 5 of 20 ms: where in them the restart lies is not known. */
static void a_cut_interval_of_a_clock_that_stood_still_is_what_two_periods_explain(void **state)
{
	struct tick_state clock;

	(void)state;
	tick_start(&clock, 2 * MS, 2 * MS);
	tick_account(&clock, 2 * MS, 2 * MS, true);
	tick_redraw(&clock, 3 * MS, 4 * MS, 4 * MS);
	assert_int_equal(tick_account(&clock, 22 * MS, 7 * MS, true).realised, 5 * MS);
	tick_redraw(&clock, 23 * MS, 2 * MS, 2 * MS);
	assert_int_equal(tick_account(&clock, 42 * MS, 17 * MS, true).realised, 2 * MS);
}

static void an_interval_after_a_loss_is_not_compared(void **state)
{
	struct tick_state clock;

	(void)state;
	tick_start(&clock, 2 * MS, 2 * MS);
	tick_account(&clock, 2 * MS, 2 * MS, false);
	tick_lost(&clock);
	assert_false(tick_account(&clock, 8 * MS, 8 * MS, false).whole);
	assert_true(tick_account(&clock, 10 * MS, 10 * MS, false).whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_tick_of_a_steady_clock_is_a_whole_interval),
		cmocka_unit_test(a_sample_that_came_too_soon_for_the_new_draw_belongs_to_the_old),
		cmocka_unit_test(a_draw_that_was_never_met_is_replaced),
		cmocka_unit_test(a_sample_marks_its_clock_for_the_next_redraw),
		cmocka_unit_test(a_clock_that_starts_amid_an_interval_keeps_the_ticks_that_are_due),
		cmocka_unit_test(a_redraw_ends_the_thinning_of_a_start),
		cmocka_unit_test(ticks_without_a_record_are_taken_out_of_the_interval),
		cmocka_unit_test(a_clock_without_exclusions_keeps_its_long_intervals),
		cmocka_unit_test(
			a_cut_interval_with_skipped_ticks_is_its_last_period_and_the_rest_of_the_old),
		cmocka_unit_test(ticks_that_passed_before_the_cut_are_taken_out_too),
		cmocka_unit_test(
			a_cut_interval_of_a_clock_that_stood_still_is_what_two_periods_explain),
		cmocka_unit_test(an_interval_after_a_loss_is_not_compared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
