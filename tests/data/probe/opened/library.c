/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A library that counts its own calls: those of opened_outer, of opened_inner (two in each) and of its constructor.
 */
#define NI __attribute__((noinline, noclone, noipa))

long opened_counts[3];

NI long opened_inner(long x)
{
	__atomic_fetch_add(&opened_counts[1], 1, __ATOMIC_RELAXED);
	return x * 3 + 1;
}

NI long opened_outer(long x)
{
	__atomic_fetch_add(&opened_counts[0], 1, __ATOMIC_RELAXED);
	return opened_inner(x) + opened_inner(x + 1);
}

NI long opened_at_start(long x)
{
	__atomic_fetch_add(&opened_counts[2], 1, __ATOMIC_RELAXED);
	return x + 1;
}

__attribute__((constructor)) static void opened_start(void)
{
	opened_at_start(1);
}
