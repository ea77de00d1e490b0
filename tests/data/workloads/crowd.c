/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * crowd SLEEPERS WAVES CHILDREN: many threads that sleep to the end, waves of ten threads that work for
 * 2 ms of CPU time each, and children that do (made while all the sleepers' stacks are there).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void *sleeper(void *data)
{
	(void)data;
	for (;;)
		pause();
	return NULL;
}

static void *worker(void *data)
{
	const double end = cpu() + 0.002;

	(void)data;
	while (cpu() < end)
		for (volatile int i = 0; i < 5000; i++)
			;
	return NULL;
}

int main(int argc, char **argv)
{
	const int sleepers = argc > 1 ? atoi(argv[1]) : 100, waves = argc > 2 ? atoi(argv[2]) : 10;
	const int children = argc > 3 ? atoi(argv[3]) : 10;
	pthread_attr_t small;
	pthread_t thread[10];

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	for (int i = 0; i < sleepers; i++)
		if (pthread_create(&thread[0], &small, sleeper, NULL))
			return 1;
	for (int wave = 0; wave < waves; wave++) {
		for (int i = 0; i < 10; i++)
			pthread_create(&thread[i], &small, worker, NULL);
		for (int i = 0; i < 10; i++)
			pthread_join(thread[i], NULL);
	}
	for (int child = 0; child < children; child++) {
		if (fork() == 0) {
			worker(NULL);
			_exit(0);
		}
		wait(NULL);
	}
	_exit(0);
}
