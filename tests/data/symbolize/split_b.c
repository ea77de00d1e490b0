/* SPDX-License-Identifier: GPL-3.0-or-later */
int split_b(int x);

static inline int split_inlined_too(int x)
{
	volatile int y = x;

	return y * 11;
}

__attribute__((noinline)) int split_b(int x)
{
	return split_inlined_too(x) - 3;
}
