/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lint: seam because a process of its own session and its socket are real whatever the table is
 * lint: print because the guardian must end without its parent's exit handlers
 */
#include "probe/guardian.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/guardian_work.h"

enum operation {
	OP_SEIZE = 1,
	OP_RUN_TO_ENTRY,
	OP_LET_GO,
	OP_PREPARE,
	OP_APPLY,
	OP_REMOVE,
	OP_RECOVER
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

static bool answer_receive(int fd, int *passed)
{
	char byte, control[CMSG_SPACE(sizeof(int))];
	struct iovec vector = { &byte, 1 };
	struct msghdr message = { .msg_iov = &vector,
				  .msg_iovlen = 1,
				  .msg_control = control,
				  .msg_controllen = sizeof(control) };
	struct cmsghdr *header;
	ssize_t n;

	do
		n = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		return false;
	header = CMSG_FIRSTHDR(&message);
	if (passed && header && header->cmsg_type == SCM_RIGHTS)
		memcpy(passed, CMSG_DATA(header), sizeof(int));
	return true;
}

static enum status operate(struct work *work, struct error *error)
{
	switch ((enum operation)work->arena->operation) {
	case OP_SEIZE: return work_seize(work, error);
	case OP_RUN_TO_ENTRY: return work_run_to_entry(work, error);
	case OP_LET_GO: return work_let_go(work, error);
	case OP_PREPARE: return work_prepare(work, error);
	case OP_APPLY: return work_apply(work, error);
	case OP_REMOVE: return work_remove(work, error);
	case OP_RECOVER: return work_recover(work, error);
	}
	return error_set(error, STATUS_UNSUPPORTED, "the guardian does not know this request");
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

static _Noreturn void guardian_main(const struct sys *sys, struct guardian_arena *arena, int fd)
{
	struct work work = { .sys = sys, .arena = arena, .memory_fd = -1, .memfd = -1 };
	struct error error;
	sigset_t all;
	char byte;
	ssize_t n;

	setsid();
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_NAME, GUARDIAN_COMM);
	descriptors_leave(fd);
	for (;;) {
		n = recv(fd, &byte, 1, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n != 1)
			break;
		arena->error = (struct error){ .status = STATUS_OK };
		arena->status = operate(&work, &arena->error);
		answer_send(fd, work.memfd);
		if (work.memfd >= 0)
			close(work.memfd);
		work.memfd = -1;
	}
	if (work_remove(&work, &error) != STATUS_OK || work.holding)
		(void)!work_let_go(&work, &error);
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
			 "process %d stay until it ends",
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
	if (!answer_receive(guardian->fd, passed))
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
