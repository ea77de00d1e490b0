/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions of each kind that a compiler makes: global, local, aliased, split into hot and cold, calling
 * through the PLT. Built as a program and as a library. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int shape_global(int x);
int shape_alias(int x) __attribute__((alias("shape_global")));
int _shape_underscore(int x) __attribute__((alias("shape_global")));
int shape_weak(int x) __attribute__((weak, alias("shape_global")));
int shape_split(int x);
int shape_calls(const char *text);

__attribute__((noinline)) static int shape_local(int x)
{
	volatile int y = x;

	return y * 3 + 1;
}

__attribute__((noinline)) int shape_global(int x)
{
	return shape_local(x) + shape_local(x + 1);
}

__attribute__((cold, noinline)) static void shape_complain(int x)
{
	fprintf(stderr, "too large: %d\n", x);
}

/* The branch that complains is moved to shape_split.cold. */
__attribute__((noinline)) int shape_split(int x)
{
	if (x > 1000) {
		shape_complain(x);
		shape_complain(x + 1);
		abort();
	}
	return shape_local(x) - 1;
}

__attribute__((noinline)) int shape_calls(const char *text)
{
	return (int)strlen(text) + puts(text) + atoi(text);
}

__attribute__((noinline, visibility("hidden"))) int shape_hidden(int x)
{
	return shape_local(x) ^ 5;
}

int shape_enter(int argc, char **argv);

__attribute__((noinline)) int shape_enter(int argc, char **argv)
{
	return shape_global(argc) + shape_split(argc) + shape_calls(argv[0]) + shape_hidden(argc);
}

#ifndef LIBRARY
int main(int argc, char **argv)
{
	return shape_enter(argc, argv) == 0;
}
#endif
