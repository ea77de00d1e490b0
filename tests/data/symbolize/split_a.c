/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two units, for split DWARF and for one DWARF file that two programs share (dwz). */
int split_b(int x);

static inline int split_inlined(int x)
{
	volatile int y = x;

	return y * 7;
}

__attribute__((noinline)) static int split_a(int x)
{
	return split_inlined(x) + 2;
}

int main(int argc, char **argv)
{
	(void)argv;
	return split_a(argc) + split_b(argc) == 0;
}
