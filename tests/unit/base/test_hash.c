/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/hash.h"

#include <stdio.h>
#include <stdlib.h>

#include "support/test.h"

static void equal_bytes_hash_equally_wherever_they_lie(void **state)
{
	char a[64], b[65];

	(void)state;
	for (size_t i = 0; i < sizeof(a); i++)
		a[i] = b[i + 1] = (char)(i * 7);
	for (size_t size = 0; size <= sizeof(a); size++)
		assert_true(hash_bytes(a, size) == hash_bytes(b + 1, size));
}

static void nothing_may_be_hashed_without_a_pointer(void **state)
{
	(void)state;
	assert_true(hash_bytes(NULL, 0) == hash_bytes("", 0));
}

static void a_zero_byte_more_is_another_input(void **state)
{
	static const char zeros[40];

	(void)state;
	for (size_t a = 0; a < sizeof(zeros); a++)
		for (size_t b = 0; b < a; b++)
			assert_true(hash_bytes(zeros, a) != hash_bytes(zeros, b));
}

static int by_number(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* 200 000 random 64-bit values collide with probability 200000^2 / 2^65 = 1e-9. */
static void names_that_differ_little_do_not_collide(void **state)
{
	const size_t n = 200000;
	uint64_t *hashes = malloc(n * sizeof(*hashes));

	(void)state;
	assert_non_null(hashes);
	for (size_t i = 0; i < n; i++) {
		char name[32];
		const int length = snprintf(name, sizeof(name), "function_%zu", i);

		hashes[i] = hash_bytes(name, (size_t)length);
	}
	qsort(hashes, n, sizeof(*hashes), by_number);
	for (size_t i = 1; i < n; i++)
		assert_true(hashes[i] != hashes[i - 1]);
	free(hashes);
}

/* Tables use the low bits. 4096 cells, 409600 numbers: chi-squared with 4095 degrees of freedom has
 * mean 4095 and standard deviation 90.5; six of these are exceeded with probability 1e-9. */
static void low_bits_of_consecutive_numbers_and_addresses_are_even(void **state)
{
	static const uint64_t steps[] = { 1, 16, 4096, 1ull << 32 };

	(void)state;
	for (size_t which = 0; which < 4; which++) {
		static unsigned int cells[4096];
		double chi2 = 0;

		memset(cells, 0, sizeof(cells));
		for (uint64_t i = 0; i < 409600; i++)
			cells[hash_u64(i * steps[which]) & 4095]++;
		for (size_t i = 0; i < 4096; i++)
			chi2 += ((double)cells[i] - 100) * ((double)cells[i] - 100) / 100;
		assert_true(chi2 < 4095 + 6 * 90.5);
		assert_true(chi2 > 4095 - 6 * 90.5);
	}
}

static void combining_depends_on_the_order(void **state)
{
	(void)state;
	assert_true(hash_combine(hash_combine(0, 1), 2) != hash_combine(hash_combine(0, 2), 1));
	assert_true(hash_combine(0, 0) != hash_combine(hash_combine(0, 0), 0));
	assert_true(hash_combine(1, 1) != hash_combine(2, 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_bytes_hash_equally_wherever_they_lie),
		cmocka_unit_test(nothing_may_be_hashed_without_a_pointer),
		cmocka_unit_test(a_zero_byte_more_is_another_input),
		cmocka_unit_test(names_that_differ_little_do_not_collide),
		cmocka_unit_test(low_bits_of_consecutive_numbers_and_addresses_are_even),
		cmocka_unit_test(combining_depends_on_the_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
