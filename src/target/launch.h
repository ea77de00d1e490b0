/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Starts a command in two steps, so that clocks can be attached in between:
 *
 *	launch_start   forks a child that waits; it has its pid, its limits and its signal state
 *	               already, but is still this program
 *	launch_exec    lets it exec; returns when the new program is in place or when exec failed
 *
 * The child waits on a pipe and ends by itself when the pipe closes, so a parent that dies in between
 * leaves nothing behind. It inherits no descriptor but 0, 1 and 2 (everything in assay is
 * close-on-exec), the signal mask and the limits that assay itself was started with, SIGXFSZ as it was then,
 * and SIGPIPE, which assay ignores, at its default.
 */
#ifndef ASSAY_TARGET_LAUNCH_H
#define ASSAY_TARGET_LAUNCH_H

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/status.h"

/* What the child is to find as the user left it, taken before assay changes its own. */
struct launch_state {
	sigset_t mask;
	struct rlimit descriptors;     /* RLIMIT_NOFILE */
	struct sigaction size_reached; /* SIGXFSZ */
};

struct launch {
	pid_t pid;     /* 0: none */
	int go_fd;     /* one byte starts the exec */
	int report_fd; /* end of file: exec done; an int: errno of the exec that failed */
};

/* Reads mask, limits and what becomes of SIGXFSZ in this process. */
void launch_state_save(struct launch_state *state);

MUST_CHECK enum status launch_start(struct launch *launch, char *const argv[],
				    const struct launch_state *state, struct error *error);

/* On failure the child is gone and *exit_code holds what a shell would answer: 127 when the program
 * does not exist, 126 when it exists but cannot be executed. */
MUST_CHECK enum status launch_exec(struct launch *launch, const char *program, int *exit_code,
				   struct error *error);

/* Ends and reaps a child that was not let go. Harmless on an empty or running one. */
void launch_abort(struct launch *launch);

#endif
