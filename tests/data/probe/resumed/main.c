/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Work that is begun in one place and goes on in another: resumed ROUNDS. Tasks on stacks of their own call `request`;
 * of four requests one returns at once, two are suspended inside `fetch` and resumed when other tasks have
 * run and time has passed, one is never resumed and its stack is unmapped. Says how many were which.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

#define NI          __attribute__((noinline, noclone, noipa))
#define TASKS       32
#define STACK_BYTES (256 * 1024)

static ucontext_t scheduler, contexts[TASKS];
static int current;
static long answers[TASKS];
static long direct, resumed, dropped;

/* Suspends the task that is current; returns when the scheduler resumes it. */
NI long fetch(long x)
{
	swapcontext(&contexts[current], &scheduler);
	return x;
}

NI long request(long id)
{
	if (id % 4 == 0)
		return id + 1;
	return fetch(id) + 1; /* no tail call */
}

static void task(int id)
{
	answers[id] = request(id);
	swapcontext(&contexts[id], &scheduler);
}

static void task_run(int id)
{
	current = id;
	swapcontext(&scheduler, &contexts[id]);
}

static int round_run(void)
{
	const struct timespec pause = { 0, 1000000 };
	char *stacks = mmap(NULL, (size_t)TASKS * STACK_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (stacks == MAP_FAILED)
		return 1;
	for (int i = 0; i < TASKS; i++) {
		answers[i] = -1;
		getcontext(&contexts[i]);
		contexts[i].uc_stack.ss_sp = stacks + (size_t)i * STACK_BYTES;
		contexts[i].uc_stack.ss_size = STACK_BYTES;
		contexts[i].uc_link = NULL;
		makecontext(&contexts[i], (void (*)(void))task, 1, i);
		task_run(i);
		direct += i % 4 == 0;
	}
	nanosleep(&pause, NULL);
	for (int i = 0; i < TASKS; i++) {
		if (i % 4 == 0)
			continue;
		if (i % 4 == 3) {
			dropped++;
			continue;
		}
		task_run(i);
		resumed++;
		if (answers[i] != i + 1)
			return 1;
	}
	return munmap(stacks, (size_t)TASKS * STACK_BYTES);
}

int main(int argc, char **argv)
{
	const long rounds = argc > 1 ? atol(argv[1]) : 20;

	for (long i = 0; i < rounds; i++) {
		if (round_run()) {
			puts("BAD");
			return 1;
		}
	}
	printf("OK direct=%ld resumed=%ld dropped=%ld\n", direct, resumed, dropped);
	return 0;
}
