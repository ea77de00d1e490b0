/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lint: seam because a fork and the pipes to its child are real whatever the table is
 * lint: print because the child of a fork must end without the parent's exit handlers
 */
#include "target/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void launch_state_save(struct launch_state *state)
{
	sigprocmask(SIG_SETMASK, NULL, &state->mask);
	sigaction(SIGXFSZ, NULL, &state->size_reached);
	getrlimit(RLIMIT_NOFILE, &state->descriptors);
}

/* Runs in the child: nothing here may allocate or print. */
static void child_wait_and_exec(int go_fd, int report_fd, char *const argv[],
				const struct launch_state *state)
{
	char go;
	ssize_t n;
	int reason;

	signal(SIGPIPE, SIG_DFL);
	sigaction(SIGXFSZ, &state->size_reached, NULL);
	setrlimit(RLIMIT_NOFILE, &state->descriptors);
	do
		n = read(go_fd, &go, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(0);
	sigprocmask(SIG_SETMASK, &state->mask, NULL);
	execvp(argv[0], argv);
	reason = errno;
	while (write(report_fd, &reason, sizeof(reason)) < 0 && errno == EINTR)
		;
	_exit(127);
}

enum status launch_start(struct launch *launch, char *const argv[],
			 const struct launch_state *state, struct error *error)
{
	int go[2], report[2];

	*launch = (struct launch){ 0, -1, -1 };
	if (pipe2(go, O_CLOEXEC) < 0)
		return error_set_errno(error, STATUS_IO, errno, "cannot make a pipe");
	if (pipe2(report, O_CLOEXEC) < 0) {
		const int reason = errno;

		close(go[0]);
		close(go[1]);
		return error_set_errno(error, STATUS_IO, reason, "cannot make a pipe");
	}
	launch->pid = fork();
	if (launch->pid == 0) {
		close(go[1]);
		close(report[0]);
		child_wait_and_exec(go[0], report[1], argv, state);
	}
	const int reason = errno;

	close(go[0]);
	close(report[1]);
	launch->go_fd = go[1];
	launch->report_fd = report[0];
	if (launch->pid < 0) {
		launch->pid = 0;
		close(go[1]);
		close(report[0]);
		launch->go_fd = launch->report_fd = -1;
		return error_set_errno(error, STATUS_IO, reason, "cannot start a process for %s",
				       argv[0]);
	}
	return STATUS_OK;
}

static void descriptor_drop(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void child_reap(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* A script whose interpreter is missing fails with ENOENT although the script is there. */
static enum status exec_failure(const char *program, int reason, int *exit_code,
				struct error *error)
{
	if (reason == ENOENT && !(strchr(program, '/') && access(program, F_OK) == 0)) {
		*exit_code = 127;
		return error_set_errno(error, STATUS_NOT_FOUND, reason,
				       "cannot start %s: no such program%s", program,
				       strchr(program, '/') ? "" : " in PATH");
	}
	*exit_code = 126;
	return error_set_errno(error, STATUS_PERMISSION, reason,
			       "cannot start %s: it is there but cannot be executed%s", program,
			       reason == ENOENT ? " (its interpreter or loader is missing)" : "");
}

enum status launch_exec(struct launch *launch, const char *program, int *exit_code,
			struct error *error)
{
	int reason = 0;
	ssize_t n;

	do
		n = write(launch->go_fd, "g", 1);
	while (n < 0 && errno == EINTR);
	if (n != 1) {
		launch_abort(launch);
		*exit_code = 1;
		return error_set(error, STATUS_IO,
				 "the process made for %s ended before it could start", program);
	}
	do
		n = read(launch->report_fd, &reason, sizeof(reason));
	while (n < 0 && errno == EINTR);
	descriptor_drop(&launch->go_fd);
	descriptor_drop(&launch->report_fd);
	if (n == 0)
		return STATUS_OK;
	child_reap(launch->pid);
	launch->pid = 0;
	return exec_failure(program, reason, exit_code, error);
}

void launch_abort(struct launch *launch)
{
	const bool waiting = launch->pid > 0 && launch->go_fd >= 0;

	descriptor_drop(&launch->go_fd);
	descriptor_drop(&launch->report_fd);
	if (waiting) {
		child_reap(launch->pid);
		launch->pid = 0;
	}
}
