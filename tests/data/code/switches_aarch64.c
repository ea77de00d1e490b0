/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Switches for the tests of AArch64's jump tables: compiled by make_switches_aarch64.py with both compilers. _start
 * runs each with every value of its index, so that where the jumps lead can be read off an execution trace.
 */
#define APART __attribute__((noinline, noclone))

int sink;

__attribute__((noinline)) int g(int x)
{
	return sink += x;
}

__attribute__((noinline)) int h(long x, int y)
{
	return sink ^= (int)x - y;
}

/* gcc makes a table of 17 cases or more. */
#define CASES \
	case 0: return g(y + 1); \
	case 1: return g(y) * 3; \
	case 2: return h(y, 2); \
	case 3: return y * y; \
	case 4: return g(y ^ 5); \
	case 5: return y - 9; \
	case 6: return g(g(y)); \
	case 7: return y * 7; \
	case 8: return ~y; \
	case 9: return g(9); \
	case 10: return y / 10; \
	case 11: return g(11); \
	case 12: return 12; \
	case 13: return h(13, y); \
	case 14: return y & 14; \
	case 15: return g(15); \
	case 16: return g(-y); \
	case 17: return 17;

int s_dense(int x, int y)
{
	switch (x) {
		CASES
	default: return y;
	}
}

int s_from(int x, int y)
{
	switch (x - 100) {
		CASES
	default: return y;
	}
}

int s_masked(unsigned int x, int y)
{
	switch (x & 31) {
		CASES
	case 30: return y / 3;
	}
	return 1;
}

int s_byte(const unsigned char *x, int y)
{
	switch (*x) {
		CASES
	default: return y;
	}
}

/* The table's address is kept in a register. */
long s_loop(const unsigned char *p, long n)
{
	long a = 0;

	for (long i = 0; i < n; i++)
		switch (p[i]) {
		case 1: a += g((int)i); break;
		case 2: a ^= 3; break;
		case 3: a *= 7; break;
		case 4: a -= g((int)a); break;
		case 5: a = h(a, (int)i); break;
		case 6: a <<= 3; break;
		case 7: a |= 1; break;
		case 8: a = ~a; break;
		case 9: a += 9; break;
		case 10: a -= i; break;
		case 11: a ^= i; break;
		case 12: a *= i; break;
		case 13: a &= i; break;
		case 14: a >>= 1; break;
		case 15: a = g(15); break;
		case 16: a = i; break;
		case 17: a = -i; break;
		case 18: a |= i; break;
		default: a++;
		}
	return a;
}

/* A table of words. */
long s_goes(const unsigned char *p)
{
	static const void *const places[] = { &&a, &&b, &&c, &&d };
	long r = 0;

	goto *places[*p++ & 3];
a:
	r += g(1);
	goto *places[*p++ & 3];
b:
	r *= 3;
	goto *places[*p++ & 3];
c:
	r ^= 5;
	goto *places[*p++ & 3];
d:
	return r;
}

#define NOPS8   "nop\nnop\nnop\nnop\nnop\nnop\nnop\nnop\n"
#define NOPS144 NOPS8 NOPS8 NOPS8 NOPS8 NOPS8 NOPS8 NOPS8 NOPS8 NOPS8 \
	NOPS8 NOPS8 NOPS8 NOPS8 NOPS8 NOPS8 NOPS8 NOPS8 NOPS8

/* Too far for entries of a byte. */
int s_wide(unsigned int x, int y)
{
	switch (x) {
		CASES
	case 18:
		__asm__ volatile(NOPS144 NOPS144);
		return g(y);
	default: return 0;
	}
}

/* No table: where these lead is not known before. */
int s_pointer(int (*f)(int), int x)
{
	return f(x + 1);
}

struct object {
	int (**methods)(struct object *);
};

int s_virtual(struct object *object)
{
	return object->methods[3](object);
}

static int method(struct object *object)
{
	return object == (void *)0;
}

void _start(void)
{
	static const unsigned char path[] = { 0, 1, 2, 0, 2, 1, 1, 2, 2, 0, 0, 3, 1, 3, 2, 3 };
	int (*methods[4])(struct object *) = { method, method, method, method };
	struct object object = { methods };
	unsigned char bytes[40];

	for (int i = -1; i < 40; i++) {
		const unsigned char byte = (unsigned char)i;

		s_dense(i, 3);
		s_from(i + 100, 3);
		s_masked((unsigned int)i, 3);
		s_byte(&byte, 3);
		s_wide((unsigned int)i, 3);
		if (i >= 0)
			bytes[i] = byte;
	}
	s_loop(bytes, 40);
	s_goes(path);
	s_goes(path + 12);
	s_goes(path + 14);
	s_pointer(g, 1);
	s_virtual(&object);
	__asm__ volatile("mov x0, #0; mov x8, #94; svc #0" ::: "x0", "x8");
}
