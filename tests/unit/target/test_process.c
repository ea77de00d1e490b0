/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "target/process.h"

static int stop_pipe[2];

static void *waiter(void *tid)
{
	char byte;

	__atomic_store_n((int *)tid, (int)syscall(SYS_gettid), __ATOMIC_SEQ_CST);
	prctl(PR_SET_NAME, "a (strange) name");
	while (read(stop_pipe[0], &byte, 1) < 0)
		;
	return NULL;
}

static void every_thread_of_a_process_is_listed(void **state)
{
	pthread_t thread;
	pid_t *tids;
	int tid = 0;
	size_t n;

	(void)state;
	assert_int_equal(pipe(stop_pipe), 0);
	pthread_create(&thread, NULL, waiter, &tid);
	while (!__atomic_load_n(&tid, __ATOMIC_SEQ_CST))
		usleep(1000);
	assert_int_equal(process_threads(sys_real(), getpid(), &tids, &n, NULL), STATUS_OK);
	assert_true(n >= 2);
	assert_int_equal(tids[0], getpid());
	assert_true(tids[1] == tid || n > 2);
	assert_int_equal(process_of_thread(sys_real(), tid), getpid());
	free(tids);
	close(stop_pipe[1]);
	pthread_join(thread, NULL);
	close(stop_pipe[0]);
}

/* A name may hold ") S 1 2 3": fields count from the last bracket. */
static void a_strange_name_does_not_shift_the_fields(void **state)
{
	char comm[PROCESS_COMM_BYTES], before[16];

	(void)state;
	prctl(PR_GET_NAME, before);
	prctl(PR_SET_NAME, "x) Z 1 1 (");
	process_comm(sys_real(), getpid(), comm);
	assert_string_equal(comm, "x) Z 1 1 (");
	assert_int_equal(process_parent(sys_real(), getpid()), getppid());
	prctl(PR_SET_NAME, before);
}

static void what_is_gone_is_an_ordinary_answer(void **state)
{
	char comm[PROCESS_COMM_BYTES];
	struct error error;
	pid_t *tids;
	size_t n;

	(void)state;
	assert_int_equal(process_check(sys_real(), 4194303, &error), STATUS_NOT_FOUND);
	assert_non_null(strstr(error.text, "4194303"));
	assert_int_equal(process_threads(sys_real(), 4194303, &tids, &n, NULL), STATUS_NOT_FOUND);
	assert_int_equal(process_of_thread(sys_real(), 4194303), -1);
	assert_int_equal(process_parent(sys_real(), 4194303), -1);
	assert_int_equal(process_cpu_ns(sys_real(), 4194303), 0);
	process_comm(sys_real(), 4194303, comm);
	assert_string_equal(comm, "");
}

#define BUSY_NS 60000000u
#define TICK_NS 10000000u /* USER_HZ; user and system time are each cut to whole ticks */

static uint64_t own_cpu_ns(struct timespec *own)
{
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, own);
	return (uint64_t)own->tv_sec * 1000000000u + (uint64_t)own->tv_nsec;
}

/* Another process's CPU clock is the one it reads itself. */
static void the_cpu_time_of_another_process_is_exact(void **state)
{
	int ready[2], done[2], status;
	struct timespec own;
	uint64_t told;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(done), 0);
	child = fork();
	if (child == 0) {
		char byte;

		close(done[1]);
		while (own_cpu_ns(&own) < BUSY_NS)
			;
		if (write(ready[1], &own, sizeof(own)) < 0 || read(done[0], &byte, 1) < 0)
			_exit(1);
		_exit(0);
	}
	assert_int_equal(read(ready[0], &own, sizeof(own)), sizeof(own));
	told = process_cpu_ns(sys_real(), child);
	close(done[1]);
	close(done[0]);
	waitpid(child, &status, 0);
	assert_true(told >= (uint64_t)own.tv_sec * 1000000000u + (uint64_t)own.tv_nsec);
	assert_true(told < (uint64_t)own.tv_sec * 1000000000u + (uint64_t)own.tv_nsec + 50000000);
	assert_true(process_waited_children_ns(sys_real(), getpid()) >= BUSY_NS - 2 * TICK_NS);
	close(ready[0]);
	close(ready[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_thread_of_a_process_is_listed),
		cmocka_unit_test(a_strange_name_does_not_shift_the_fields),
		cmocka_unit_test(what_is_gone_is_an_ordinary_answer),
		cmocka_unit_test(the_cpu_time_of_another_process_is_exact),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
