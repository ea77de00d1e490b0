/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calls probed functions until it is killed, and keeps its own counts where they survive it: death FILE THREADS [fault]
 *
 * FILE is an array of 64-bit words: the process id once all threads run; then for each thread the calls begun and the
 * calls finished of `step`, which calls `leaf` once. With `fault` a thread dies of SIGSEGV inside `step`, in the
 * middle of both.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NI          __attribute__((noinline, noclone, noipa))
#define MAX_THREADS 16
#define FAULT_AT    20000

static volatile uint64_t *words;
static uint64_t *volatile nowhere;
static int faults;

NI uint64_t leaf(uint64_t x)
{
	__asm__ volatile("" ::: "memory");
	return x + 1;
}

NI uint64_t step(uint64_t x)
{
	uint64_t y = leaf(x);

	if (faults && x == FAULT_AT)
		y += *nowhere;
	return y + 1;
}

static void *worker(void *argument)
{
	volatile uint64_t *mine = words + 1 + 2 * (uintptr_t)argument;

	for (uint64_t i = 0;; i++) {
		mine[0] = i + 1;
		if (step(i) != i + 2)
			abort();
		mine[1] = i + 1;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const int n = argc > 2 ? atoi(argv[2]) : 2;
	const size_t size = sizeof(*words) * (1 + 2 * MAX_THREADS);
	const int fd = argc > 1 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
	pthread_t threads[MAX_THREADS];

	if (fd < 0 || n > MAX_THREADS || ftruncate(fd, (off_t)size))
		return 1;
	words = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (words == MAP_FAILED)
		return 1;
	faults = argc > 3 && !strcmp(argv[3], "fault");
	for (int i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, worker, (void *)(uintptr_t)i);
	words[0] = (uint64_t)getpid();
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
