/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * short_lived WAVES CHILDREN [THREADS]: threads of about 2 ms of CPU time, THREADS (4) at a time, then
 * children of about 2 ms, one at a time; each spends its first half in `early`, the second in `late`.
 * Prints the CPU time of each half, of all threads and of all children.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static double cpu(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static long turns = 200000;

NOINLINE void early(void)
{
	for (volatile long i = 0; i < turns; i++)
		;
}

NOINLINE void late(void)
{
	for (volatile long i = 0; i < turns; i++)
		;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static double *halves; /* early, late; shared with children */

static void *work(void *data)
{
	double a = cpu(), b;

	(void)data;
	early();
	b = cpu();
	late();
	pthread_mutex_lock(&lock);
	halves[0] += b - a;
	halves[1] += cpu() - b;
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(int argc, char **argv)
{
	const int waves = argc > 1 ? atoi(argv[1]) : 100, children = argc > 2 ? atoi(argv[2]) : 0;
	const int threads = argc > 3 ? atoi(argv[3]) : 4;
	pthread_t thread[64];
	double start = cpu();

	halves = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	early();
	turns = (long)(0.001 / ((cpu() - start) / 200000));
	for (int wave = 0; wave < waves; wave++) {
		for (int i = 0; i < threads && i < 64; i++)
			pthread_create(&thread[i], NULL, work, NULL);
		for (int i = 0; i < threads && i < 64; i++)
			pthread_join(thread[i], NULL);
	}
	for (int child = 0; child < children; child++) {
		if (fork() == 0) {
			work(NULL);
			_exit(0);
		}
		wait(NULL);
	}
	printf("early %.6f late %.6f\n", halves[0], halves[1]);
	return 0;
}
