/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lint: seam because a process of its own session and its socket are real whatever the table is
 * lint: print because the guardian must end without its parent's exit handlers
 */
#include "probe/guardian.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/follow.h"

enum operation {
	OP_SEIZE = 1,
	OP_RUN_TO_ENTRY,
	OP_LET_GO,
	OP_PREPARE,
	OP_APPLY,
	OP_REMOVE,
	OP_RECOVER,
	OP_EXTEND,
	OP_FOLLOW,
	OP_EVENT
};

struct guardian_write *guardian_writes(struct guardian_arena *arena)
{
	return (struct guardian_write *)(void *)arena->payload;
}

struct guardian_chunk *guardian_chunks(struct guardian_arena *arena)
{
	return (struct guardian_chunk *)(void *)(guardian_writes(arena) + arena->n_writes);
}

uint8_t *guardian_bytes(struct guardian_arena *arena, uint64_t *capacity)
{
	uint8_t *const start = (uint8_t *)(guardian_chunks(arena) + arena->n_chunks);

	*capacity = GUARDIAN_ARENA_BYTES - (uint64_t)(start - (uint8_t *)arena);
	return start;
}

/* Sends one byte, and with it a descriptor when `passed` is not -1. */
static void answer_send(int fd, int passed)
{
	char byte = 'a', control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec vector = { &byte, 1 };
	struct msghdr message = { .msg_iov = &vector, .msg_iovlen = 1 };

	if (passed >= 0) {
		struct cmsghdr *header;

		message.msg_control = control;
		message.msg_controllen = sizeof(control);
		header = CMSG_FIRSTHDR(&message);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(header), &passed, sizeof(int));
	}
	while (sendmsg(fd, &message, MSG_NOSIGNAL) < 0 && errno == EINTR)
		;
}

/* Bytes that are no answer say that there are events. */
static bool answer_receive(int fd, int *passed, bool *news)
{
	char byte, control[CMSG_SPACE(sizeof(int))];
	struct iovec vector = { &byte, 1 };
	struct msghdr message = { .msg_iov = &vector,
				  .msg_iovlen = 1,
				  .msg_control = control,
				  .msg_controllen = sizeof(control) };
	struct cmsghdr *header;
	ssize_t n;

	do {
		message.msg_controllen = sizeof(control);
		n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
		*news |= n == 1 && byte == 'e';
	} while ((n < 0 && errno == EINTR) || (n == 1 && byte == 'e'));
	if (n != 1)
		return false;
	header = CMSG_FIRSTHDR(&message);
	if (passed && header && header->cmsg_type == SCM_RIGHTS)
		memcpy(passed, CMSG_DATA(header), sizeof(int));
	return true;
}

static enum status apply(struct follow *follow, struct work *work, struct error *error)
{
	enum status status;

	work->complete = false;
	work->program = work->arena->program;
	work->told = follow->signal_fd >= 0;
	if (work->family && !--work->family->users)
		free(work->family);
	work->family = NULL;
	status = work_apply(work, error);
	if (status != STATUS_OK)
		work->program = 0;
	work->complete = status == STATUS_OK && work->decided;
	return status;
}

static enum status let_go(struct follow *follow, struct work *work, struct error *error)
{
	if (follow->signal_fd < 0)
		return work_let_go(work, error);
	follow_let_go(follow, work);
	return STATUS_OK;
}

/* `*passed`: a descriptor that the answer takes along, and that is closed then. */
static enum status operate(struct follow *follow, int *passed, struct error *error)
{
	struct guardian_arena *arena = follow->arena;
	struct work *work =
		follow->signal_fd < 0 ? follow->works[0] : follow_find(follow, arena->pid);
	const enum operation operation = (enum operation)arena->operation;
	enum status status = STATUS_OK;

	if (operation == OP_EVENT) {
		*passed = follow_event(follow, &arena->event);
		return STATUS_OK;
	}
	if (operation == OP_REMOVE && follow->signal_fd >= 0)
		return follow_remove(follow, error);
	if (!work)
		return error_set(error, STATUS_NOT_FOUND, "process %d has ended", arena->pid);
	switch (operation) {
	case OP_SEIZE: return work_seize(work, error);
	case OP_RUN_TO_ENTRY: return work_run_to_entry(work, error);
	case OP_FOLLOW: return follow_begin(follow, error);
	case OP_LET_GO: return let_go(follow, work, error);
	case OP_PREPARE: status = work_prepare(work, error); break;
	case OP_APPLY: status = apply(follow, work, error); break;
	case OP_REMOVE: return work_remove(work, error);
	case OP_RECOVER: status = work_recover(work, error); break;
	case OP_EXTEND: status = work_extend(work, error); break;
	case OP_EVENT: break;
	}
	*passed = work->memfd;
	work->memfd = -1;
	if (status != STATUS_OK && work->follow)
		follow_check(follow, work);
	return status;
}

/* Leaves the terminal and the pipes of assay alone: who reads them must not wait for this process. */
static void descriptors_leave(int keep)
{
	const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd < 3; fd++)
		dup2(nowhere, fd);
	for (int fd = 3; fd < 1024; fd++) {
		if (fd != keep)
			close(fd);
	}
}

/* Requests, and what happens to followed processes in between, until assay has gone. */
static void serve(struct follow *follow, int fd)
{
	struct guardian_arena *arena = follow->arena;
	bool told = false; /* of the events that there are */

	for (;;) {
		struct pollfd fds[] = { { fd, POLLIN, 0 }, { follow->signal_fd, POLLIN, 0 } };
		const uint64_t idle_ns = follow_turn(follow);
		const struct timespec timeout = { (time_t)(idle_ns / 1000000000),
						  (long)(idle_ns % 1000000000) };
		int passed = -1;
		char byte;
		ssize_t n;

		if (follow->n_events && !told)
			told = send(fd, "e", 1, MSG_NOSIGNAL) == 1;
		if (ppoll(fds, 2, idle_ns == UINT64_MAX ? NULL : &timeout, NULL) < 0 &&
		    errno != EINTR)
			return;
		if (!fds[0].revents)
			continue;
		n = recv(fd, &byte, 1, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n != 1)
			return;
		arena->error = (struct error){ .status = STATUS_OK };
		arena->status = operate(follow, &passed, &arena->error);
		if (arena->operation == OP_EVENT)
			told = arena->event.kind != GUARDIAN_NOTHING;
		answer_send(fd, passed);
		if (passed >= 0)
			close(passed);
	}
}

static _Noreturn void guardian_main(const struct sys *sys, struct guardian_arena *arena, int fd)
{
	struct follow follow;
	struct error error;
	sigset_t all;

	setsid();
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_NAME, GUARDIAN_COMM);
	descriptors_leave(fd);
	if (!follow_init(&follow, sys, arena))
		_exit(1);
	serve(&follow, fd);
	if (follow.over)
		_exit(0);
	if (follow.signal_fd >= 0)
		(void)!follow_remove(&follow, &error);
	else if (work_remove(follow.works[0], &error) != STATUS_OK || follow.works[0]->holding)
		(void)!work_let_go(follow.works[0], &error);
	_exit(0);
}

enum status guardian_start(struct guardian *guardian, const struct sys *sys, struct error *error)
{
	int fds[2];

	*guardian = (struct guardian){ .sys = sys, .fd = -1 };
	guardian->arena = mmap(NULL, GUARDIAN_ARENA_BYTES, PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (guardian->arena == MAP_FAILED) {
		guardian->arena = NULL;
		return error_set_errno(error, STATUS_NO_MEMORY, errno,
				       "cannot map memory to share with the guardian");
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0) {
		const int reason = errno;

		guardian_stop(guardian);
		return error_set_errno(error, STATUS_IO, reason, "cannot make a socket pair");
	}
	guardian->pid = fork();
	if (guardian->pid == 0) {
		close(fds[0]);
		guardian_main(sys, guardian->arena, fds[1]);
	}
	const int reason = errno;

	close(fds[1]);
	guardian->fd = fds[0];
	if (guardian->pid < 0) {
		guardian->pid = 0;
		guardian_stop(guardian);
		return error_set_errno(error, STATUS_IO, reason, "cannot start the guardian");
	}
	return STATUS_OK;
}

void guardian_stop(struct guardian *guardian)
{
	if (guardian->fd >= 0)
		close(guardian->fd);
	guardian->fd = -1;
	if (guardian->pid > 0) {
		while (waitpid(guardian->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	guardian->pid = 0;
	if (guardian->arena)
		munmap(guardian->arena, GUARDIAN_ARENA_BYTES);
	guardian->arena = NULL;
}

static enum status lost(const struct guardian *guardian, struct error *error)
{
	return error_set(error, STATUS_IO,
			 "the guardian process has ended: probes are off, but the patched bytes of "
			 "process %d stay until the next assay probe of it, or --remove",
			 guardian->arena->pid);
}

static enum status request_send(struct guardian *guardian, enum operation operation,
				struct error *error)
{
	guardian->arena->operation = operation;
	return send(guardian->fd, "r", 1, MSG_NOSIGNAL) == 1 ? STATUS_OK : lost(guardian, error);
}

static enum status answer_wait(struct guardian *guardian, int *passed, struct error *error)
{
	if (!answer_receive(guardian->fd, passed, &guardian->news))
		return lost(guardian, error);
	if (guardian->arena->status != STATUS_OK && error)
		*error = guardian->arena->error;
	return guardian->arena->status;
}

static enum status ask(struct guardian *guardian, enum operation operation, int *passed,
		       struct error *error)
{
	const enum status status = request_send(guardian, operation, error);

	return status == STATUS_OK ? answer_wait(guardian, passed, error) : status;
}

enum status guardian_seize(struct guardian *guardian, pid_t pid, struct error *error)
{
	guardian->arena->pid = pid;
	return ask(guardian, OP_SEIZE, NULL, error);
}

enum status guardian_run_to_entry(struct guardian *guardian, struct error *error)
{
	return request_send(guardian, OP_RUN_TO_ENTRY, error);
}

enum status guardian_at_entry(struct guardian *guardian, struct error *error)
{
	return answer_wait(guardian, NULL, error);
}

enum status guardian_let_go(struct guardian *guardian, struct error *error)
{
	return ask(guardian, OP_LET_GO, NULL, error);
}

enum status guardian_prepare(struct guardian *guardian, int *memfd, struct error *error)
{
	*memfd = -1;
	return ask(guardian, OP_PREPARE, memfd, error);
}

enum status guardian_extend(struct guardian *guardian, struct error *error)
{
	return ask(guardian, OP_EXTEND, NULL, error);
}

enum status guardian_apply(struct guardian *guardian, struct error *error)
{
	return ask(guardian, OP_APPLY, NULL, error);
}

enum status guardian_remove(struct guardian *guardian, struct error *error)
{
	return ask(guardian, OP_REMOVE, NULL, error);
}

enum status guardian_recover(struct guardian *guardian, pid_t pid, struct error *error)
{
	guardian->arena->pid = pid;
	return ask(guardian, OP_RECOVER, NULL, error);
}

enum status guardian_follow(struct guardian *guardian, struct error *error)
{
	return ask(guardian, OP_FOLLOW, NULL, error);
}

enum status guardian_event_take(struct guardian *guardian, struct guardian_event *event, int *memfd,
				struct error *error)
{
	enum status status;
	char bytes[16];

	/* bytes that say so are taken before the question: one that is sent behind the answer is news again */
	while (recv(guardian->fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
		;
	*memfd = -1;
	*event = (struct guardian_event){ .kind = GUARDIAN_NOTHING };
	guardian->news = false;
	status = ask(guardian, OP_EVENT, memfd, error);
	if (status == STATUS_OK)
		*event = guardian->arena->event;
	return status;
}
