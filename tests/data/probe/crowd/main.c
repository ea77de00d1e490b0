/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A thousand functions, c_1000 to c_1999, each called ROUNDS times by each of THREADS threads that are all there at
 * once: crowd THREADS ROUNDS. Says how much of the memory that probes keep their sums in was touched meanwhile.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NI          __attribute__((noinline, noclone, noipa))
#define MANY        1000
#define STACK_BYTES 65536

#define F(n)  NI long c_##n(long x) { return x * 3 + n; }
#define F1(p) F(p##0) F(p##1) F(p##2) F(p##3) F(p##4) F(p##5) F(p##6) F(p##7) F(p##8) F(p##9)
#define F2(p) F1(p##0) F1(p##1) F1(p##2) F1(p##3) F1(p##4) F1(p##5) F1(p##6) F1(p##7) F1(p##8) F1(p##9)
#define F3(p) F2(p##0) F2(p##1) F2(p##2) F2(p##3) F2(p##4) F2(p##5) F2(p##6) F2(p##7) F2(p##8) F2(p##9)
F3(1)

#define A(n)  c_##n,
#define A1(p) A(p##0) A(p##1) A(p##2) A(p##3) A(p##4) A(p##5) A(p##6) A(p##7) A(p##8) A(p##9)
#define A2(p) A1(p##0) A1(p##1) A1(p##2) A1(p##3) A1(p##4) A1(p##5) A1(p##6) A1(p##7) A1(p##8) A1(p##9)
#define A3(p) A2(p##0) A2(p##1) A2(p##2) A2(p##3) A2(p##4) A2(p##5) A2(p##6) A2(p##7) A2(p##8) A2(p##9)
static long (*volatile functions[MANY])(long) = { A3(1) };

static pthread_barrier_t all;
static long rounds;
static volatile int bad;

static void *worker(void *argument)
{
	const long x = (long)argument;

	pthread_barrier_wait(&all);
	for (long r = 0; r < rounds; r++) {
		for (long i = 0; i < MANY; i++) {
			if (functions[i](x) != x * 3 + 1000 + i)
				bad = 1;
		}
	}
	pthread_barrier_wait(&all);
	return NULL;
}

/* Of the mapping of the buffers; its first page is mapped alone, too, and left out. */
static long touched_bytes(void)
{
	FILE *file = fopen("/proc/self/smaps", "r");
	char line[512];
	long sum = 0, size = 0, kb;
	int ours = 0;

	while (file && fgets(line, sizeof(line), file)) {
		if (strchr(line, '-') && strchr(line, '-') < strchr(line, ' '))
			ours = strstr(line, "/memfd:assay-probe") != NULL;
		if (ours && sscanf(line, "Size: %ld kB", &kb) == 1)
			size = kb;
		if (ours && size > 4 && sscanf(line, "Rss: %ld kB", &kb) == 1)
			sum += kb * 1024;
	}
	if (file)
		fclose(file);
	return sum;
}

int main(int argc, char **argv)
{
	const long n = argc > 1 ? atol(argv[1]) : 8;
	pthread_t *threads = calloc((size_t)n, sizeof(*threads));
	pthread_attr_t attributes;
	long made = 0;

	rounds = argc > 2 ? atol(argv[2]) : 1;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	pthread_barrier_init(&all, NULL, (unsigned int)n);
	for (; made < n; made++) {
		if (pthread_create(&threads[made], &attributes, worker, (void *)made))
			break;
	}
	if (made < n) {
		printf("BAD only %ld threads\n", made);
		return 1;
	}
	for (long i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	printf("%s calls_each=%ld touched=%ld\n", bad ? "BAD" : "OK", n * rounds, touched_bytes());
	return bad;
}
