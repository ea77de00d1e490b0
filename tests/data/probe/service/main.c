/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A process that does what it is told, one command a line, and answers each with one line:
 *
 *	work N		calls serve() N times here		"served N"
 *	fork N		a child calls it N times, and ends	"child PID served N"
 *	keep N		the same, and the child stays		"child PID served N"
 *	again N		the kept child calls it N times		"child PID served N"
 *	load FILE	dlopen					"loaded"
 *	call N		calls the file's plugin() N times	"called N"
 *	drop		dlclose					"dropped"
 *	quit
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define NI __attribute__((noinline, noclone, noipa))

static int to_child = -1, from_child = -1;
static pid_t kept;

NI long serve(long x)
{
	return (x * 7 + 3) ^ (x >> 2);
}

static long expected(long x)
{
	return (x * 7 + 3) ^ (x >> 2);
}

static long work(long n)
{
	long good = 0;

	for (long i = 0; i < n; i++)
		good += serve(i) == expected(i);
	return good;
}

/* One number in, one out, until the pipe ends. */
static void child_main(int in, int out, long n)
{
	do {
		const long good = work(n);

		if (write(out, &good, sizeof(good)) != (ssize_t)sizeof(good))
			break;
	} while (read(in, &n, sizeof(n)) == (ssize_t)sizeof(n));
	_exit(0);
}

static void child_make(long n)
{
	int in[2], out[2];

	if (pipe(in) < 0 || pipe(out) < 0)
		exit(1);
	kept = fork();
	if (kept == 0) {
		close(in[1]);
		close(out[0]);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		child_main(in[0], out[1], n);
	}
	close(in[0]);
	close(out[1]);
	to_child = in[1];
	from_child = out[0];
}

static void child_answer(void)
{
	long good = -1;

	if (read(from_child, &good, sizeof(good)) != (ssize_t)sizeof(good))
		good = -1;
	printf("child %d served %ld\n", kept, good);
}

static void child_end(void)
{
	int status = 0;

	close(to_child);
	close(from_child);
	waitpid(kept, &status, 0);
	if (status)
		printf("BAD child %d\n", status);
	kept = 0;
}

static void *library;
static long (*plugin)(long);

static void load(const char *path)
{
	library = dlopen(path, RTLD_NOW);
	if (!library) {
		printf("BAD %s\n", dlerror());
		return;
	}
	*(void **)&plugin = dlsym(library, "plugin");
	printf("loaded\n");
}

static void call(long n)
{
	long good = 0;

	for (long i = 0; i < n; i++)
		good += plugin(i) != 0;
	printf("called %ld\n", good);
}

int main(void)
{
	char line[512], word[16], rest[480];

	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("pid %d\n", getpid());
	while (fgets(line, sizeof(line), stdin)) {
		rest[0] = '\0';
		if (sscanf(line, "%15s %479[^\n]", word, rest) < 1)
			continue;
		if (!strcmp(word, "work")) {
			printf("served %ld\n", work(atol(rest)));
		} else if (!strcmp(word, "fork")) {
			child_make(atol(rest));
			child_answer();
			child_end();
		} else if (!strcmp(word, "keep")) {
			child_make(atol(rest));
			child_answer();
		} else if (!strcmp(word, "again")) {
			const long n = atol(rest);

			if (write(to_child, &n, sizeof(n)) != (ssize_t)sizeof(n))
				printf("BAD pipe\n");
			child_answer();
		} else if (!strcmp(word, "load")) {
			load(rest);
		} else if (!strcmp(word, "call")) {
			call(atol(rest));
		} else if (!strcmp(word, "drop")) {
			dlclose(library);
			printf("dropped\n");
		} else {
			break;
		}
	}
	if (kept)
		child_end();
	printf("OK\n");
	return 0;
}
