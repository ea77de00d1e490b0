/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/losses.h"
#include "support/test.h"

static void add_lost(struct losses *losses, uint32_t type, uint64_t lost, uint64_t time)
{
	const struct perfdata_record record = { .type = type, .lost = { .lost = lost } };

	assert_int_equal(losses_add(losses, &record, time, NULL), STATUS_OK);
}

static void add_throttle(struct losses *losses, bool unthrottle, uint64_t stream, uint64_t time)
{
	const struct perfdata_record record = {
		.type = unthrottle ? PERF_RECORD_UNTHROTTLE : PERF_RECORD_THROTTLE,
		.throttle = { .time = time, .stream_id = stream, .unthrottle = unthrottle },
	};

	assert_int_equal(losses_add(losses, &record, time, NULL), STATUS_OK);
}

static void one_loss_written_twice_counts_once(void **state)
{
	struct losses losses;

	(void)state;
	losses_init(&losses);
	add_lost(&losses, PERF_RECORD_LOST, 10, 500);
	add_lost(&losses, PERF_RECORD_LOST, 5, 900);
	add_lost(&losses, PERF_RECORD_LOST_SAMPLES, 15, 0);
	assert_int_equal(losses_total(&losses), 15);
	assert_int_equal(losses.lost_first_ns, 500);
	assert_int_equal(losses.lost_last_ns, 900);
	losses_release(&losses);
}

static void throttled_time_runs_from_stop_to_start_of_each_stream(void **state)
{
	struct losses losses;

	(void)state;
	losses_init(&losses);
	add_throttle(&losses, false, 1, 100);
	add_throttle(&losses, false, 2, 150);
	add_throttle(&losses, true, 1, 300);
	add_throttle(&losses, true, 2, 250);
	losses_finish(&losses, 1000);
	assert_int_equal(losses.throttles, 2);
	assert_int_equal(losses.throttled_ns, 200 + 100);
	losses_release(&losses);
}

static void a_stream_that_is_never_started_again_is_stopped_to_the_end(void **state)
{
	struct losses losses;

	(void)state;
	losses_init(&losses);
	add_throttle(&losses, false, 1, 400);
	losses_finish(&losses, 1000);
	assert_int_equal(losses.throttled_ns, 600);
	losses_release(&losses);
}

static void a_start_without_a_stop_and_a_second_stop_add_nothing(void **state)
{
	struct losses losses;

	(void)state;
	losses_init(&losses);
	add_throttle(&losses, true, 1, 400);
	add_throttle(&losses, false, 1, 500);
	add_throttle(&losses, false, 1, 600);
	add_throttle(&losses, true, 1, 700);
	losses_finish(&losses, 1000);
	assert_int_equal(losses.throttled_ns, 200);
	losses_release(&losses);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_loss_written_twice_counts_once),
		cmocka_unit_test(throttled_time_runs_from_stop_to_start_of_each_stream),
		cmocka_unit_test(a_stream_that_is_never_started_again_is_stopped_to_the_end),
		cmocka_unit_test(a_start_without_a_stop_and_a_second_stop_add_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
