/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A library with two executable segments whose addresses differ from their file offsets. */
int layout_first(int x);
int layout_second(int x);

__attribute__((noinline)) int layout_first(int x)
{
	volatile int y = x;

	return y + 1;
}

__attribute__((noinline, section(".hot2"))) int layout_second(int x)
{
	volatile int y = x;

	return layout_first(y) + 2;
}
