/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lint: seam because a fork and the pipes to its child are real whatever the table is
 * lint: print because the child of a fork must end without the parent's exit handlers
 */
#include "target/witness.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define DELIVERY_MS 3
#define ANSWER_MS   50

/* Everything but the socket and the signals' descriptor is closed: pipes of assay's own must not be
 * kept open by it. */
static void descriptors_keep(int socket_fd, int signals_fd)
{
	const unsigned int low = (unsigned int)(socket_fd < signals_fd ? socket_fd : signals_fd);
	const unsigned int high = (unsigned int)(socket_fd < signals_fd ? signals_fd : socket_fd);

	if (low)
		close_range(0, low - 1, 0);
	if (high > low + 1)
		close_range(low + 1, high - 1, 0);
	close_range(high + 1, ~0u, 0);
}

static void bystand(int fd, pid_t parent)
{
	unsigned char seen[NSIG] = { 0 }, number;
	sigset_t all;
	int signals;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signals = signalfd(-1, &all, SFD_NONBLOCK);
	if (getppid() != parent || signals < 0)
		_exit(0);
	descriptors_keep(fd, signals);
	prctl(PR_SET_NAME, "assay-witness");
	while (read(fd, &number, 1) == 1) {
		struct signalfd_siginfo info;

		while (read(signals, &info, sizeof(info)) == sizeof(info))
			if (info.ssi_signo < NSIG)
				seen[info.ssi_signo] = 1;
		if (number >= NSIG || write(fd, &seen[number], 1) != 1)
			break;
		seen[number] = 0;
	}
	_exit(0);
}

void witness_start(struct witness *witness)
{
	const pid_t parent = getpid();
	int pair[2];

	*witness = (struct witness){ 0, -1 };
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return;
	witness->pid = fork();
	if (witness->pid == 0)
		bystand(pair[1], parent);
	close(pair[1]);
	if (witness->pid < 0) {
		close(pair[0]);
		witness->pid = 0;
		return;
	}
	witness->fd = pair[0];
}

bool witness_saw(const struct witness *witness, int number)
{
	const unsigned char question = (unsigned char)number;
	struct pollfd answer = { .fd = witness->fd, .events = POLLIN };
	unsigned char seen = 0;

	if (!witness->pid)
		return false;
	poll(NULL, 0, DELIVERY_MS);
	if (send(witness->fd, &question, 1, MSG_NOSIGNAL) != 1 ||
	    poll(&answer, 1, ANSWER_MS) != 1 || read(witness->fd, &seen, 1) != 1)
		return false;
	return seen;
}

void witness_stop(struct witness *witness)
{
	if (!witness->pid)
		return;
	close(witness->fd);
	while (waitpid(witness->pid, NULL, 0) < 0 && errno == EINTR)
		;
	*witness = (struct witness){ 0, -1 };
}
