/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Everything that is hard on probes at once, for a set time: stress SECONDS [THREADS].
 *
 * Threads call probed functions all the time, others are born and die; a timer's handler calls them, some of
 * its visits leave by siglongjmp; children are forked, and call them, and exit; vfork and exec. Every
 * function checks its result. At the end, per function, how often this process itself called it:
 *	OK hot=N mid=N rec=N in_handler=N short=N forks=N
 * Counts are kept in one array per thread and added up under a lock when the thread ends.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NI __attribute__((noinline, noclone, noipa))

enum { HOT, MID, REC, HANDLER, SHORT, FORKS, N_COUNTS };
static const char *const names[] = { "hot", "mid", "rec", "in_handler", "short", "forks" };

static unsigned long sums[N_COUNTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int over, bad;
static __thread unsigned long counts[N_COUNTS];
static unsigned long handler_calls;

NI long hot(long x)
{
	return x * 3 + 1;
}

NI long mid(long x)
{
	counts[HOT] += 2;
	return hot(x) + hot(x + 1);
}

long rec(long depth);
static long (*volatile rec_again)(long) = rec; /* else compilers make a loop of it */

NI long rec(long depth)
{
	counts[REC]++;
	if (depth == 0)
		return 0;
	return 1 + rec_again(depth - 1);
}

NI long in_handler(long x)
{
	__asm__ volatile("" ::: "memory");
	return x ^ 5;
}

NI long short_lived(long x)
{
	__asm__ volatile("" ::: "memory");
	return x + 7;
}

static void add_counts(void)
{
	pthread_mutex_lock(&lock);
	for (int i = 0; i < N_COUNTS; i++)
		sums[i] += counts[i];
	pthread_mutex_unlock(&lock);
	memset(counts, 0, sizeof(counts));
}

static void fail(const char *what)
{
	if (!bad)
		printf("BAD %s\n", what);
	bad = over = 1;
}

static void on_timer(int number)
{
	(void)number;
	__atomic_fetch_add(&handler_calls, 1, __ATOMIC_RELAXED);
	if (in_handler(9) != (9 ^ 5))
		fail("handler");
}

static void *worker(void *argument)
{
	long n = (long)argument;

	while (!over) {
		for (int i = 0; i < 200; i++, n++) {
			counts[MID]++;
			if (mid(n) != 6 * n + 5)
				fail("mid");
		}
		if (rec(n % 40) != n % 40)
			fail("rec");
	}
	add_counts();
	return NULL;
}

static void *brief(void *argument)
{
	counts[SHORT]++;
	if (short_lived((long)argument) != (long)argument + 7)
		fail("short");
	add_counts();
	return NULL;
}

static void children(unsigned long round)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		/* a child's calls are its own; it must not even notice */
		for (long i = 0; i < 100; i++) {
			if (mid(i) != 6 * i + 5 || rec(3) != 3)
				_exit(1);
		}
		_exit(0);
	}
	if (pid > 0 && (waitpid(pid, &status, 0) != pid || status))
		fail("fork");
	if (round % 8 == 0) {
		pid = vfork();
		if (pid == 0) {
			execl("/bin/true", "true", (char *)NULL);
			_exit(127);
		}
		if (pid > 0 && (waitpid(pid, &status, 0) != pid || status))
			fail("vfork");
	}
	counts[FORKS]++;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	const double end = now() + (argc > 1 ? atof(argv[1]) : 5);
	const int n = argc > 2 ? atoi(argv[2]) : 8;
	const struct itimerval timer = { { 0, 2000 }, { 0, 2000 } };
	struct sigaction action = { .sa_handler = on_timer, .sa_flags = SA_RESTART };
	pthread_t threads[64], one;

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("pid %d\n", getpid());
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	for (int i = 0; i < n && i < 64; i++)
		pthread_create(&threads[i], NULL, worker, (void *)(long)i);
	for (unsigned long round = 0; now() < end && !over; round++) {
		if (pthread_create(&one, NULL, brief, (void *)round) == 0)
			pthread_join(one, NULL);
		if (round % 16 == 0)
			children(round);
		usleep(500);
	}
	over = 1;
	for (int i = 0; i < n && i < 64; i++)
		pthread_join(threads[i], NULL);
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
	add_counts();
	sums[HANDLER] = handler_calls;
	if (bad)
		return 1;
	printf("OK");
	for (int i = 0; i < N_COUNTS; i++)
		printf(" %s=%lu", names[i], sums[i]);
	printf("\n");
	return 0;
}
