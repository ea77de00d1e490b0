/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "target/witness.h"

#define PATIENCE 6000 /* turns of 10 ms; how many it takes decides nothing */

/* Runs the scene in a process group of its own, so that the test runner gets no signal. */
static int in_own_group(int (*scene)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		sigset_t all;

		setpgid(0, 0);
		sigfillset(&all);
		sigprocmask(SIG_BLOCK, &all, NULL);
		_exit(scene());
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 100;
}

static int alone(void)
{
	struct witness witness;
	int result;

	witness_start(&witness);
	kill(getpid(), SIGTERM);
	result = witness_saw(&witness, SIGTERM);
	witness_stop(&witness);
	return result;
}

static int group(void)
{
	struct witness witness;
	int first, again, other;

	witness_start(&witness);
	usleep(50000); /* until it waits; a signal before that is pending and counts as well */
	kill(0, SIGTERM);
	other = witness_saw(&witness, SIGINT);
	first = witness_saw(&witness, SIGTERM);
	again = witness_saw(&witness, SIGTERM);
	witness_stop(&witness);
	return first && !again && !other ? 0 : 1;
}

static int without(void)
{
	struct witness witness = { 0, -1 };

	kill(0, SIGTERM);
	return witness_saw(&witness, SIGTERM);
}

/* The other end of the witness's socket closes with the process that asked. */
static int orphan(void)
{
	struct witness witness;

	witness_start(&witness);
	printf("%d\n", (int)witness.pid);
	fflush(stdout);
	return witness.pid ? 0 : 1;
}

static void a_signal_to_one_process_is_not_seen(void **state)
{
	(void)state;
	assert_int_equal(in_own_group(alone), 0);
}

static void a_signal_to_the_group_is_seen_once(void **state)
{
	(void)state;
	assert_int_equal(in_own_group(group), 0);
}

static void without_a_witness_nothing_is_seen(void **state)
{
	(void)state;
	assert_int_equal(in_own_group(without), 0);
}

static void a_witness_does_not_outlive_its_process(void **state)
{
	char text[32] = "";
	int out[2], saved = dup(1);
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(out), 0);
	dup2(out[1], 1);
	assert_int_equal(in_own_group(orphan), 0);
	dup2(saved, 1);
	close(saved);
	close(out[1]);
	assert_true(read(out[0], text, sizeof(text) - 1) > 0);
	close(out[0]);
	assert_int_equal(sscanf(text, "%d", &pid), 1);
	for (int i = 0; i < PATIENCE && kill(pid, 0) == 0; i++)
		usleep(10000);
	assert_int_equal(kill(pid, 0), -1);
	assert_int_equal(errno, ESRCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_signal_to_one_process_is_not_seen),
		cmocka_unit_test(a_signal_to_the_group_is_seen_once),
		cmocka_unit_test(without_a_witness_nothing_is_seen),
		cmocka_unit_test(a_witness_does_not_outlive_its_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
