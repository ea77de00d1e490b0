/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Processes that count their own calls of work(), and say so before they end: "NAME pid=P calls=N". "BAD ..." when a
 * parent does not see of a child what it should.
 *
 *	follow family		one child after the other, of every kind
 *	follow many N LIVE	N children that call it 10 times each, LIVE of them at a time
 *	follow serve		what comes on standard input, a line each: a child that calls it so often, and stays
 *				until "end" (answers "child P calls=N", then "ended P calls=2N")
 *	follow exec N		N times, then ends with 7
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static char *self;

__attribute__((noinline, noclone, noipa)) long work(long x)
{
	return x * 3 + 1;
}

static void work_times(long n)
{
	for (long i = 0; i < n; i++) {
		if (work(i) != i * 3 + 1)
			abort();
	}
}

static void say(const char *what, long n)
{
	char text[96];
	const int length = snprintf(text, sizeof(text), "%s pid=%d calls=%ld\n", what, getpid(), n);

	if (write(1, text, (size_t)length) != length)
		_exit(99);
}

static void expect(const char *what, pid_t pid, int wanted)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || status != wanted) {
		printf("BAD %s: status %x, wanted %x\n", what, status, wanted);
		fflush(stdout);
	}
}

static void *thread_main(void *data)
{
	work_times(500);
	return data;
}

static void threads_child(void)
{
	pthread_t threads[3];
	pid_t pid;

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, thread_main, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	pid = fork();
	if (!pid) {
		work_times(77);
		say("grandchild", 77);
		_exit(0);
	}
	expect("grandchild", pid, 0);
	say("threads", 1500);
	_exit(3);
}

/* It waits to be told that its parent has seen it go on: one that has ended says nothing else. */
static void stopped_child(void)
{
	int status, fds[2];
	char byte = 's';
	pid_t pid;

	if (pipe(fds) < 0)
		abort();
	pid = fork();
	if (!pid) {
		work_times(5);
		raise(SIGSTOP);
		if (read(fds[0], &byte, 1) != 1)
			_exit(1);
		work_times(6);
		say("stopped", 11);
		_exit(4);
	}
	if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status) ||
	    WSTOPSIG(status) != SIGSTOP)
		printf("BAD stop %x\n", status);
	kill(pid, SIGCONT);
	if (waitpid(pid, &status, WCONTINUED) != pid || !WIFCONTINUED(status))
		printf("BAD continue %x\n", status);
	if (write(fds[1], &byte, 1) != 1)
		printf("BAD pipe\n");
	close(fds[0]);
	close(fds[1]);
	expect("stopped", pid, 4 << 8);
}

/* A signal that is ignored does not cut a blocked call short. */
static void waits_child(void)
{
	const int fd = epoll_create1(0);
	struct epoll_event event;
	pid_t pid = fork();

	if (!pid) {
		for (int i = 0; i < 5; i++) {
			usleep(20000);
			kill(getppid(), SIGWINCH);
		}
		work_times(9);
		say("signals", 9);
		_exit(0);
	}
	if (epoll_wait(fd, &event, 1, 300) != 0)
		printf("BAD epoll_wait %d\n", errno);
	expect("signals", pid, 0);
	close(fd);
}

/* Told by nobody: the one in the middle ends at once. */
static void daemon_child(void)
{
	int fds[2];
	char byte;
	pid_t pid;

	if (pipe(fds) < 0)
		abort();
	pid = fork();
	if (!pid) {
		if (fork())
			_exit(0);
		setsid();
		work_times(200);
		usleep(50000);
		work_times(200);
		say("daemon", 400);
		if (write(fds[1], "d", 1) != 1)
			_exit(1);
		_exit(0);
	}
	expect("middle", pid, 0);
	if (read(fds[0], &byte, 1) != 1)
		printf("BAD daemon\n");
}

static void family(void)
{
	char *spawned[] = { self, "exec", "4321", NULL };
	pid_t pid;

	work_times(10);
	pid = fork();
	if (!pid)
		threads_child();
	expect("threads", pid, 3 << 8);
	pid = vfork();
	if (!pid) {
		execl(self, self, "exec", "1234", (char *)NULL);
		_exit(1);
	}
	expect("vfork", pid, 7 << 8);
	if (posix_spawn(&pid, self, NULL, NULL, spawned, environ) != 0)
		printf("BAD spawn\n");
	expect("spawn", pid, 7 << 8);
	pid = fork();
	if (!pid) {
		work_times(5);
		say("chain", 5);
		execl("/bin/sh", "sh", "-c", "\"$0\" exec 99; exec \"$0\" exec 11", self,
		      (char *)NULL);
		_exit(1);
	}
	expect("chain", pid, 7 << 8);
	pid = fork();
	if (!pid) {
		work_times(55);
		say("killed", 55);
		raise(SIGKILL);
	}
	expect("killed", pid, SIGKILL);
	stopped_child();
	waits_child();
	daemon_child();
	say("main", 10);
}

static void many(int n, int live)
{
	int alive = 0, status, bad = 0;

	for (int i = 0; i < n; i++) {
		const pid_t pid = fork();

		if (!pid) {
			work_times(10);
			_exit(9);
		}
		alive++;
		if (alive >= live && wait(&status) > 0) {
			alive--;
			bad += status != 9 << 8;
		}
	}
	while (alive-- > 0 && wait(&status) > 0)
		bad += status != 9 << 8;
	printf("many=%d bad=%d\n", n, bad);
}

static void serve_child(long n, int until)
{
	char byte;

	work_times(n);
	printf("child %d calls=%ld\n", getpid(), n);
	fflush(stdout);
	if (read(until, &byte, 1) < 0)
		_exit(1);
	work_times(n);
	printf("ended %d calls=%ld\n", getpid(), 2 * n);
	fflush(stdout);
	_exit(0);
}

static void serve(void)
{
	char line[64];
	int fds[2];

	if (pipe(fds) < 0)
		abort();
	printf("ready\n");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin) && strcmp(line, "end\n") != 0) {
		const long n = atol(line);

		if (!fork()) {
			close(fds[1]);
			serve_child(n, fds[0]);
		}
	}
	close(fds[1]);
	while (wait(NULL) > 0)
		;
	printf("OK\n");
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	self = argv[0];
	if (!strcmp(what, "family")) {
		family();
	} else if (!strcmp(what, "many") && argc > 3) {
		many(atoi(argv[2]), atoi(argv[3]));
	} else if (!strcmp(what, "serve")) {
		serve();
	} else if (!strcmp(what, "exec") && argc > 2) {
		work_times(atol(argv[2]));
		say("exec", atol(argv[2]));
		return 7;
	}
	return 0;
}
