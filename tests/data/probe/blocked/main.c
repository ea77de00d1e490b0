/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Threads that wait in system calls which return EINTR when a thread is stopped by a tracer, and would not
 * by themselves: blocked SECONDS [seccomp]. Prints OK, or EINTR and the call.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <linux/filter.h>
#include <linux/io_uring.h>
#include <linux/seccomp.h>
#include <time.h>
#include <unistd.h>

static volatile int over, cut;

static void check(const char *call, long result, int expected)
{
	if (result < 0 && errno == expected)
		return;
	if (!over) {
		printf("%s %s: %ld %s\n", errno == EINTR ? "EINTR" : "BAD", call, result,
		       strerror(errno));
		cut = 1;
	}
}

__attribute__((noinline)) static void wait_epoll(int fd)
{
	struct epoll_event event;

	if (epoll_wait(fd, &event, 1, 700) != 0)
		check("epoll_wait", -1, 0);
}

static void *epolls(void *argument)
{
	const int fd = epoll_create1(0);

	(void)argument;
	while (!over)
		wait_epoll(fd);
	return NULL;
}

static void *signals(void *argument)
{
	const struct timespec time = { 0, 700000000 };
	sigset_t set;

	(void)argument;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	while (!over)
		check("sigtimedwait", sigtimedwait(&set, NULL, &time), EAGAIN);
	return NULL;
}

static void *semaphores(void *argument)
{
	const int id = semget(IPC_PRIVATE, 1, 0600);
	const struct timespec time = { 0, 700000000 };
	struct sembuf down = { 0, -1, 0 };

	(void)argument;
	while (!over)
		check("semtimedop", semtimedop(id, &down, 1, &time), EAGAIN);
	semctl(id, 0, IPC_RMID);
	return NULL;
}

static void *sockets(void *argument)
{
	const struct timeval time = { 0, 700000 };
	int fds[2];
	char byte;

	(void)argument;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		return NULL;
	setsockopt(fds[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
	while (!over)
		check("recv", recv(fds[0], &byte, 1, 0), EAGAIN);
	return NULL;
}

/* Waits for a completion that never comes. */
static void *rings(void *argument)
{
	const struct __kernel_timespec time = { 0, 700000000 };
	const struct io_uring_getevents_arg wait = { .ts = (unsigned long)&time };
	struct io_uring_params parameters = { 0 };
	const long fd = syscall(SYS_io_uring_setup, 4, &parameters);

	(void)argument;
	if (fd < 0 || !(parameters.features & IORING_FEAT_EXT_ARG)) {
		printf("no io_uring: %s\n", fd < 0 ? strerror(errno) : "no timeouts");
		return NULL;
	}
	while (!over)
		check("io_uring_enter",
		      syscall(SYS_io_uring_enter, fd, 0, 1,
			      IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, &wait, sizeof(wait)),
		      ETIME);
	close((int)fd);
	return NULL;
}

static void filter(void)
{
	struct sock_filter code[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	struct sock_fprog program = { 1, code };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
	void *(*const calls[])(void *) = { epolls, signals, semaphores, sockets, rings };
	enum { THREADS = sizeof(calls) / sizeof(*calls) };
	pthread_t threads[THREADS];
	sigset_t set;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 2)
		filter();
	printf("pid %d\n", getpid());
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, calls[i], NULL);
	for (int i = 0; i < 10 * (argc > 1 ? atoi(argv[1]) : 5); i++) {
		const struct timespec time = { 0, 100000000 };

		if (nanosleep(&time, NULL))
			check("nanosleep", -1, 0);
	}
	over = 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	if (!cut)
		puts("OK");
	return cut;
}
