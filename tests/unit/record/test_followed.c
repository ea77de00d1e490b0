/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/test.h"

#include "record/followed.h"

static struct followed_task *add(struct followed *followed, pid_t pid, pid_t tid)
{
	struct followed_task *task;

	assert_int_equal(followed_add(followed, pid, tid, &task, NULL), STATUS_OK);
	return task;
}

/* One drain later. */
static size_t sweep(struct followed *followed)
{
	struct followed_task gone;
	size_t cursor = 0, n = 0;

	while (followed_sweep(followed, &cursor, &gone))
		n++;
	return n;
}

static void a_thread_that_was_added_is_found(void **state)
{
	struct followed followed;

	(void)state;
	followed_init(&followed);
	add(&followed, 10, 11);
	assert_int_equal(followed_find(&followed, 11)->pid, 10);
	assert_null(followed_find(&followed, 10));
	followed_release(&followed);
}

/* Its last samples may lie in the ring of another CPU. */
static void a_thread_that_ended_is_known_for_one_more_drain(void **state)
{
	struct followed followed;

	(void)state;
	followed_init(&followed);
	add(&followed, 10, 10);
	followed_end(&followed, 10);
	assert_int_equal(followed.n_living, 0);
	assert_int_equal(sweep(&followed), 0);
	assert_non_null(followed_find(&followed, 10));
	assert_int_equal(sweep(&followed), 1);
	assert_null(followed_find(&followed, 10));
	followed_release(&followed);
}

static void what_ended_without_a_sample_is_counted_with_its_time(void **state)
{
	struct followed followed;

	(void)state;
	followed_init(&followed);
	add(&followed, 1, 1)->sampled = true;
	add(&followed, 1, 2)->cpu_ns = 500;
	add(&followed, 1, 3)->cpu_ns = 700;
	for (pid_t tid = 1; tid <= 3; tid++)
		followed_end(&followed, tid);
	sweep(&followed);
	sweep(&followed);
	assert_int_equal(followed.seen, 3);
	assert_int_equal(followed.unsampled, 2);
	assert_int_equal(followed.unsampled_cpu_ns, 1200);
	followed_release(&followed);
}

static void a_thread_id_used_again_is_a_new_thread(void **state)
{
	struct followed followed;
	struct followed_task *task;

	(void)state;
	followed_init(&followed);
	task = add(&followed, 1, 5);
	task->sampled = true;
	task->counters = 77;
	followed_end(&followed, 5);
	task = add(&followed, 2, 5);
	assert_int_equal(task->pid, 2);
	assert_false(task->sampled || task->ended);
	assert_int_equal(task->counters, 77); /* for the caller to close */
	assert_int_equal(followed.n_living, 1);
	assert_int_equal(followed.seen, 2);
	followed_release(&followed);
}

static void adding_a_living_thread_again_changes_nothing(void **state)
{
	struct followed followed;

	(void)state;
	followed_init(&followed);
	add(&followed, 1, 5)->sampled = true;
	assert_true(add(&followed, 1, 5)->sampled);
	assert_int_equal(followed.seen, 1);
	followed_release(&followed);
}

static void memory_follows_the_living(void **state)
{
	struct followed followed;

	(void)state;
	followed_init(&followed);
	for (pid_t tid = 1; tid < 200000; tid++) {
		add(&followed, tid, tid);
		if (tid > 8)
			followed_end(&followed, tid - 8);
		sweep(&followed);
	}
	assert_true(followed.n <= 16);
	followed_release(&followed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_that_was_added_is_found),
		cmocka_unit_test(a_thread_that_ended_is_known_for_one_more_drain),
		cmocka_unit_test(what_ended_without_a_sample_is_counted_with_its_time),
		cmocka_unit_test(a_thread_id_used_again_is_a_new_thread),
		cmocka_unit_test(adding_a_living_thread_again_changes_nothing),
		cmocka_unit_test(memory_follows_the_living),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
