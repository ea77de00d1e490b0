/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Frames of every shape for unwinding: large ones, alloca, saved registers, tail calls, a callback out
 * of the C library, a signal handler. Only read, never run, except on its own architecture. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int sink;

__attribute__((noinline)) static void leaf(int x)
{
	sink = x;
}

__attribute__((noinline)) static int variable(int n)
{
	char *bytes = __builtin_alloca((size_t)n);

	memset(bytes, n, (size_t)n);
	leaf(bytes[n / 2]);
	return bytes[0];
}

__attribute__((noinline)) static long many_registers(long a, long b, long c, long d)
{
	long e = a * b, f = b * c, g = c * d, h = d * a;

	leaf((int)e);
	leaf((int)f);
	leaf((int)g);
	return e + f + g + h + variable((int)(a & 63) + 1);
}

__attribute__((noinline)) static int large(int x)
{
	char bytes[5000];

	memset(bytes, x, sizeof(bytes));
	return bytes[x & 4095] + (int)many_registers(x, x + 1, x + 2, x + 3);
}

static int compare(const void *a, const void *b)
{
	leaf(large(*(const int *)a));
	return *(const int *)a - *(const int *)b;
}

static void handler(int signal)
{
	leaf(signal);
}

int main(void)
{
	int numbers[] = { 3, 1, 2 };

	signal(SIGUSR1, handler);
	raise(SIGUSR1);
	qsort(numbers, 3, sizeof(int), compare);
	return sink == 12345;
}
