/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/test.h"

#include <string.h>

#include "diagnose/trace.h"

static void sample_add(struct trace *trace, uint64_t time_ns, uint32_t thread, uint16_t cpu)
{
	const struct trace_sample sample = { .time_ns = time_ns, .thread = thread, .cpu = cpu };

	assert_int_equal(trace_add(trace, &sample, NULL), STATUS_OK);
}

static void beyond_the_maximum_samples_are_thinned_evenly_and_stay_in_order(void **state)
{
	uint64_t early = 0;
	struct trace trace;

	(void)state;
	trace_init(&trace, 1000);
	for (uint64_t i = 0; i < 20000; i++)
		sample_add(&trace, 1000000 * i, 0, UINT16_MAX);
	trace_finish(&trace);
	assert_int_equal(trace.seen, 20000);
	assert_true(trace.n <= 1000 && trace.n > 400);
	assert_int_equal(trace.level, 5);
	for (size_t i = 0; i < trace.n; i++) {
		early += trace.samples[i].time_ns < 10000000000u;
		assert_true(!i || trace.samples[i].time_ns > trace.samples[i - 1].time_ns);
	}
	/* binomial with n = trace.n, p = 1/2: six standard deviations */
	assert_true(early > trace.n / 2 - 3 * 32 && early < trace.n / 2 + 3 * 32);
	trace_release(&trace);
}

static void which_samples_are_kept_does_not_depend_on_their_order(void **state)
{
	struct trace forward, backward;

	(void)state;
	trace_init(&forward, 100);
	trace_init(&backward, 100);
	for (uint64_t i = 0; i < 5000; i++) {
		sample_add(&forward, 1000 * i, 0, UINT16_MAX);
		sample_add(&backward, 1000 * (4999 - i), 0, UINT16_MAX);
	}
	trace_finish(&forward);
	trace_finish(&backward);
	/* the level may differ by the moment at which it rose; what is common to both is the same */
	for (size_t i = 0, j = 0; i < forward.n && j < backward.n;) {
		if (forward.samples[i].time_ns == backward.samples[j].time_ns) {
			i++;
			j++;
		} else {
			assert_int_not_equal(forward.level, backward.level);
			if (forward.n > backward.n)
				i++;
			else
				j++;
		}
	}
	trace_release(&forward);
	trace_release(&backward);
}

static void migrations_are_counted_in_order_of_time_not_of_the_file(void **state)
{
	struct trace trace;
	uint32_t thread;

	(void)state;
	trace_init(&trace, 1000);
	assert_int_equal(trace_thread_at(&trace, 7, 70, &thread, NULL), STATUS_OK);
	/* CPU 1's part of the file comes after CPU 0's; in time they were on 0 0 1 1 */
	sample_add(&trace, 100, thread, 0);
	sample_add(&trace, 300, thread, 1);
	sample_add(&trace, 200, thread, 0);
	sample_add(&trace, 400, thread, 1);
	trace_finish(&trace);
	assert_int_equal(trace.threads[thread].moves, 3);
	assert_int_equal(trace.threads[thread].migrations, 1);
	trace_release(&trace);
}

static void the_idle_task_does_not_migrate(void **state)
{
	struct trace trace;
	uint32_t thread;

	(void)state;
	trace_init(&trace, 1000);
	assert_int_equal(trace_thread_at(&trace, 0, 0, &thread, NULL), STATUS_OK);
	for (uint16_t i = 0; i < 10; i++)
		sample_add(&trace, 100u * i, thread, i % 2);
	trace_finish(&trace);
	assert_int_equal(trace.threads[thread].moves, 0);
	trace_release(&trace);
}

static void marks_are_kept_by_source_and_thread_and_sorted(void **state)
{
	struct trace trace;

	(void)state;
	trace_init(&trace, 1000);
	assert_int_equal(trace_mark(&trace, "iteration", 1, 300, NULL), STATUS_OK);
	assert_int_equal(trace_mark(&trace, "iteration", 2, 100, NULL), STATUS_OK);
	assert_int_equal(trace_mark(&trace, "iteration", 1, 200, NULL), STATUS_OK);
	assert_int_equal(trace_mark(&trace, "work", 1, 50, NULL), STATUS_OK);
	trace_finish(&trace);
	assert_int_equal(trace.n_sources, 3);
	assert_string_equal(trace.sources[0].name, "iteration");
	assert_int_equal(trace.sources[0].n, 2);
	assert_int_equal(trace.sources[0].times_ns[0], 200);
	assert_int_equal(trace.sources[1].tid, 2);
	trace_release(&trace);
}

static void threads_and_sources_beyond_the_maximum_do_no_harm(void **state)
{
	struct trace trace;
	uint32_t thread;

	(void)state;
	trace_init(&trace, 10);
	for (uint32_t i = 0; i < TRACE_THREADS_MAX + 10; i++)
		assert_int_equal(trace_thread_at(&trace, i, i + 1, &thread, NULL), STATUS_OK);
	assert_int_equal(thread, TRACE_THREADS_MAX - 1);
	assert_int_equal(trace.n_threads, TRACE_THREADS_MAX);
	for (uint32_t i = 0; i < TRACE_SOURCES_MAX + 10; i++)
		assert_int_equal(trace_mark(&trace, "m", i, 1, NULL), STATUS_OK);
	assert_int_equal(trace.n_sources, TRACE_SOURCES_MAX);
	trace_finish(&trace);
	trace_release(&trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(beyond_the_maximum_samples_are_thinned_evenly_and_stay_in_order),
		cmocka_unit_test(which_samples_are_kept_does_not_depend_on_their_order),
		cmocka_unit_test(migrations_are_counted_in_order_of_time_not_of_the_file),
		cmocka_unit_test(the_idle_task_does_not_migrate),
		cmocka_unit_test(marks_are_kept_by_source_and_thread_and_sorted),
		cmocka_unit_test(threads_and_sources_beyond_the_maximum_do_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
