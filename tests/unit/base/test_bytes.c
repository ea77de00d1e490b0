/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/bytes.h"

#include <stdlib.h>

#include "support/test.h"

/* An allocation of exactly `size`, so that the sanitizer sees a byte too many. */
static uint8_t *counting_bytes(size_t size)
{
	uint8_t *bytes = malloc(size);

	assert_non_null(bytes);
	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)(i + 1);
	return bytes;
}

static void numbers_are_read_in_this_machines_order_one_after_the_other(void **state)
{
	uint8_t *data = counting_bytes(14);
	struct bytes b = bytes_of(data, 14, false);

	(void)state;
	assert_int_equal(bytes_u16(&b), 0x0201);
	assert_int_equal(bytes_u32(&b), 0x06050403);
	assert_true(bytes_u64(&b) == 0x0e0d0c0b0a090807u);
	assert_int_equal(bytes_left(&b), 0);
	assert_false(b.failed);
	free(data);
}

static void swapped_numbers_are_read_in_the_other_order(void **state)
{
	uint8_t *data = counting_bytes(14);
	struct bytes b = bytes_of(data, 14, true);

	(void)state;
	assert_int_equal(bytes_u16(&b), 0x0102);
	assert_int_equal(bytes_u32(&b), 0x03040506);
	assert_true(bytes_u64(&b) == 0x0708090a0b0c0d0eu);
	free(data);
}

static void numbers_at_odd_addresses_are_read(void **state)
{
	uint8_t *data = counting_bytes(9);
	struct bytes b = bytes_of(data + 1, 8, false);

	(void)state;
	assert_true(bytes_u64(&b) == 0x0908070605040302u);
	free(data);
}

static void reading_past_the_end_gives_zero_and_fails_for_good(void **state)
{
	for (size_t size = 0; size < 8; size++) {
		uint8_t *data = counting_bytes(size + !size);
		struct bytes b = bytes_of(data, size, false);

		(void)state;
		assert_int_equal(bytes_u64(&b), 0);
		assert_true(b.failed);
		assert_int_equal(bytes_left(&b), 0);
		assert_int_equal(bytes_u16(&b), 0);
		assert_int_equal(bytes_u32(&b), 0);
		assert_true(b.failed);
		free(data);
	}
}

static void taking_gives_a_pointer_into_the_bytes_or_nothing(void **state)
{
	uint8_t *data = counting_bytes(10);
	struct bytes b = bytes_of(data, 10, false);

	(void)state;
	assert_ptr_equal(bytes_take(&b, 4), data);
	assert_ptr_equal(bytes_take(&b, 0), data + 4);
	assert_ptr_equal(bytes_take(&b, 6), data + 4);
	assert_false(b.failed);
	assert_null(bytes_take(&b, 1));
	assert_true(b.failed);
	free(data);
}

static void a_length_near_the_top_of_memory_does_not_wrap(void **state)
{
	uint8_t *data = counting_bytes(10);
	struct bytes b = bytes_of(data, 10, false);

	(void)state;
	assert_null(bytes_take(&b, SIZE_MAX));
	b = bytes_of(data, 10, false);
	assert_null(bytes_take(&b, SIZE_MAX - (size_t)(uintptr_t)data));
	assert_true(b.failed);
	free(data);
}

static void a_string_must_end_within_its_field(void **state)
{
	static const char data[] = { 'a', 'b', '\0', 'x', 'c', 'd', '\0' };
	struct bytes b = bytes_of(data, sizeof(data), false);

	(void)state;
	assert_string_equal(bytes_string(&b, 4), "ab");
	assert_int_equal(bytes_left(&b), 3);
	assert_null(bytes_string(&b, 2));
	assert_true(b.failed);
	b = bytes_of(data, sizeof(data), false);
	assert_null(bytes_string(&b, sizeof(data) + 1));
	assert_true(b.failed);
	b = bytes_of(data, sizeof(data), false);
	assert_null(bytes_string(&b, 0));
	assert_true(b.failed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_read_in_this_machines_order_one_after_the_other),
		cmocka_unit_test(swapped_numbers_are_read_in_the_other_order),
		cmocka_unit_test(numbers_at_odd_addresses_are_read),
		cmocka_unit_test(reading_past_the_end_gives_zero_and_fails_for_good),
		cmocka_unit_test(taking_gives_a_pointer_into_the_bytes_or_nothing),
		cmocka_unit_test(a_length_near_the_top_of_memory_does_not_wrap),
		cmocka_unit_test(a_string_must_end_within_its_field),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
