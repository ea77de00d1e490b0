/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "target/launch.h"

#define PATIENCE 6000 /* turns of 10 ms; how many it takes decides nothing */

static char dir[64];
/* execvp takes words that it could change, but does not. */
static char touch[] = "/usr/bin/touch", shell[] = "/bin/sh", dash_c[] = "-c";

static int make_dir(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/assay-test-XXXXXX");
	return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
	char command[96];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

static struct launch start(char *const argv[])
{
	struct launch_state saved;
	struct launch launch;
	struct error error;

	launch_state_save(&saved);
	if (launch_start(&launch, argv, &saved, &error) != STATUS_OK)
		fail_msg("%s", error.text);
	return launch;
}

static bool exists(const char *name)
{
	return access(name, F_OK) == 0;
}

static void nothing_runs_before_it_is_let_go(void **state)
{
	char mark[96], *argv[] = { touch, mark, NULL };
	struct launch launch;
	int code, status;

	(void)state;
	snprintf(mark, sizeof(mark), "%s/ran", dir);
	launch = start(argv);
	usleep(50000);
	assert_false(exists(mark));
	assert_int_equal(kill(launch.pid, 0), 0);
	assert_int_equal(launch_exec(&launch, argv[0], &code, NULL), STATUS_OK);
	assert_int_equal(waitpid(launch.pid, &status, 0), launch.pid);
	assert_true(exists(mark));
}

static void an_aborted_launch_leaves_no_process(void **state)
{
	char mark[96], *argv[] = { touch, mark, NULL };
	struct launch launch;
	pid_t pid;

	(void)state;
	snprintf(mark, sizeof(mark), "%s/aborted", dir);
	launch = start(argv);
	pid = launch.pid;
	launch_abort(&launch);
	assert_int_equal(launch.pid, 0);
	assert_int_equal(kill(pid, 0), -1);
	assert_false(exists(mark));
}

/* The parent dies without a word: the pipe closes, the child ends. */
static void a_child_whose_parent_dies_ends(void **state)
{
	char mark[96], *argv[] = { touch, mark, NULL };
	int report[2];
	pid_t parent, child;

	(void)state;
	snprintf(mark, sizeof(mark), "%s/orphan", dir);
	assert_int_equal(pipe(report), 0);
	parent = fork();
	if (parent == 0) {
		struct launch launch = start(argv);

		if (write(report[1], &launch.pid, sizeof(launch.pid)) < 0)
			_exit(1);
		_exit(0);
	}
	assert_int_equal(read(report[0], &child, sizeof(child)), sizeof(child));
	waitpid(parent, NULL, 0);
	for (int i = 0; i < PATIENCE && kill(child, 0) == 0; i++)
		usleep(10000);
	assert_int_equal(kill(child, 0), -1);
	assert_false(exists(mark));
	close(report[0]);
	close(report[1]);
}

static int code_of(const char *program, struct error *error)
{
	char word[96], *argv[] = { word, NULL };
	struct launch launch;
	int code = 0;

	snprintf(word, sizeof(word), "%s", program);
	launch = start(argv);

	assert_true(launch_exec(&launch, program, &code, error) != STATUS_OK);
	assert_int_equal(launch.pid, 0);
	return code;
}

static void what_cannot_start_answers_as_a_shell_would(void **state)
{
	char script[96];
	struct error error;
	FILE *file;

	(void)state;
	assert_int_equal(code_of("no-such-program-anywhere", &error), 127);
	assert_non_null(strstr(error.text, "no-such-program-anywhere"));
	assert_non_null(strstr(error.text, "PATH"));
	assert_int_equal(code_of("/no/such/file", &error), 127);
	assert_int_equal(code_of("/etc/passwd", &error), 126);
	assert_int_equal(code_of("/tmp", &error), 126);
	snprintf(script, sizeof(script), "%s/script", dir);
	file = fopen(script, "w");
	assert_non_null(file);
	fputs("#!/no/such/interpreter\n", file);
	fclose(file);
	chmod(script, 0755);
	assert_int_equal(code_of(script, &error), 126);
	assert_non_null(strstr(error.text, "interpreter"));
}

static void the_child_finds_the_mask_that_was_saved(void **state)
{
	char mark[96], *argv[] = { shell, dash_c, mark, NULL };
	struct launch_state saved;
	struct launch launch;
	sigset_t set, before;
	int code, status;

	(void)state;
	snprintf(mark, sizeof(mark), "kill -TERM $$; exit 5");
	launch_state_save(&saved);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, &before);
	assert_int_equal(launch_start(&launch, argv, &saved, NULL), STATUS_OK);
	assert_int_equal(launch_exec(&launch, argv[0], &code, NULL), STATUS_OK);
	waitpid(launch.pid, &status, 0);
	sigprocmask(SIG_SETMASK, &before, NULL);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_runs_before_it_is_let_go),
		cmocka_unit_test(an_aborted_launch_leaves_no_process),
		cmocka_unit_test(a_child_whose_parent_dies_ends),
		cmocka_unit_test(what_cannot_start_answers_as_a_shell_would),
		cmocka_unit_test(the_child_finds_the_mask_that_was_saved),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
