/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A process that opens and closes a library (tests/data/probe/opened) as it is told, one command a line, and answers each
 * with one line:
 *
 *	open FILE	dlopen			"opened AT", its address
 *	call N		opened_outer N times	"called OUTER INNER START", the library's own counts so far
 *	close		dlclose			"closed", or "closed STILL" when it is mapped still
 *	block		takes the library's last address, so that it comes back to another	"blocked"
 *	loop MS FILE	opens, has eight threads call it, closes, again and again	"looped OPENS CALLS WRONG"
 *	quit		"OK"
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define THREADS       8
#define CALLS_OF_LOOP 200
#define BLOCKED_BYTES 0x1000

static void *library, *last;
static long (*outer)(long);

static bool library_open(const char *path)
{
	Dl_info info;

	library = dlopen(path, RTLD_NOW);
	if (!library)
		return false;
	*(void **)&outer = dlsym(library, "opened_outer");
	if (outer && dladdr((void *)outer, &info))
		last = info.dli_fbase;
	return outer;
}

static void tell_open(const char *path)
{
	if (library_open(path))
		printf("opened %p\n", last);
	else
		printf("BAD %s\n", dlerror());
}

static void tell_call(long n)
{
	const long *counts = dlsym(library, "opened_counts");
	long wrong = 0;

	for (long i = 0; i < n; i++)
		wrong += outer(i) != 6 * i + 5;
	printf("%s %ld %ld %ld\n", wrong ? "WRONG" : "called", counts[0], counts[1], counts[2]);
}

static void tell_close(const char *path)
{
	dlclose(library);
	library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
	printf("closed%s\n", library ? " STILL" : "");
}

static void tell_block(void)
{
	void *at = mmap(last, BLOCKED_BYTES, PROT_NONE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	printf(at == last ? "blocked\n" : "BAD block\n");
}

static pthread_barrier_t open_barrier, done_barrier;
static bool ending;
static long calls, wrong;

static void *caller(void *unused)
{
	(void)unused;
	for (;;) {
		pthread_barrier_wait(&open_barrier);
		if (ending)
			return NULL;
		for (long i = 0; i < CALLS_OF_LOOP; i++)
			if (outer(i) != 6 * i + 5)
				__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&calls, CALLS_OF_LOOP, __ATOMIC_RELAXED);
		pthread_barrier_wait(&done_barrier);
	}
}

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Some rounds stay open longer than it takes to be noticed. */
static void tell_loop(const char *words)
{
	const double end = now_ms() + atof(words);
	const char *path = strchr(words, ' ');
	pthread_t threads[THREADS];
	long opens = 0;

	pthread_barrier_init(&open_barrier, NULL, THREADS + 1);
	pthread_barrier_init(&done_barrier, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, caller, NULL);
	while (now_ms() < end && path) {
		const double until = now_ms() + (opens % 4 ? 0 : 60);

		if (!library_open(path + 1))
			break;
		opens++;
		do {
			pthread_barrier_wait(&open_barrier);
			pthread_barrier_wait(&done_barrier);
		} while (now_ms() < until);
		dlclose(library);
	}
	ending = true;
	pthread_barrier_wait(&open_barrier);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("looped %ld %ld %ld\n", opens, calls, wrong);
}

int main(void)
{
	char line[512], word[16], rest[480], path[480] = "";

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("pid %d\n", getpid());
	while (fgets(line, sizeof(line), stdin)) {
		rest[0] = '\0';
		if (sscanf(line, "%15s %479[^\n]", word, rest) < 1)
			continue;
		if (!strcmp(word, "open")) {
			memcpy(path, rest, sizeof(path));
			tell_open(path);
		} else if (!strcmp(word, "call")) {
			tell_call(atol(rest));
		} else if (!strcmp(word, "close")) {
			tell_close(path);
		} else if (!strcmp(word, "block")) {
			tell_block();
		} else if (!strcmp(word, "loop")) {
			tell_loop(rest);
		} else {
			break;
		}
	}
	printf("OK\n");
	return 0;
}
