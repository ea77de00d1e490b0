/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Control flow of many kinds in little code: jump tables, computed goto, tail calls, cold parts, recursion. */
extern int outside(int);
extern void never(void) __attribute__((noreturn));

int switched(int x)
{
	switch (x) {
	case 0: return outside(1);
	case 1: return outside(x) + 3;
	case 2: return x * 7;
	case 3: return outside(9) - x;
	case 4: return x ^ 5;
	case 5: return outside(x + 8);
	case 9: return 11;
	default: return -1;
	}
}

int computed(const unsigned char *code, int x)
{
	static const void *const labels[] = { &&add, &&twice, &&stop };

next:
	goto *labels[*code++];
add:
	x += *code++;
	goto next;
twice:
	x *= 2;
	goto next;
stop:
	return x;
}

int tail(int x)
{
	return x & 1 ? outside(x + 1) : switched(x);
}

int through(int (*f)(int), int x)
{
	return f(x + 1);
}

int checked(const int *x, int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++) {
		if (__builtin_expect(x[i] < 0, 0)) {
			outside(x[i]);
			never();
		}
		sum += x[i];
	}
	return sum;
}

unsigned int depth(unsigned int n)
{
	return n < 2 ? n : depth(n - 1) + depth(n - 2);
}

int nothing(void)
{
	return 0;
}
