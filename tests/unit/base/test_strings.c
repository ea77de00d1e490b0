/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/strings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

static int strings_up(void **state)
{
	struct strings *strings = malloc(sizeof(*strings));

	if (!strings)
		return -1;
	strings_init(strings);
	*state = strings;
	return 0;
}

static int strings_down(void **state)
{
	strings_release(*state);
	free(*state);
	return 0;
}

static void indices_count_up_from_the_empty_string(void **state)
{
	assert_int_equal(strings_add(*state, "a"), 1);
	assert_int_equal(strings_add(*state, "b"), 2);
	assert_int_equal(strings_add(*state, ""), 0);
	assert_string_equal(strings_get(*state, 0), "");
	assert_string_equal(strings_get(*state, 2), "b");
}

static void a_string_is_stored_once(void **state)
{
	const uint32_t first = strings_add(*state, "main");
	const char *text = strings_get(*state, first);

	assert_int_equal(strings_add(*state, "other"), first + 1);
	assert_int_equal(strings_add(*state, "main"), first);
	assert_int_equal(strings_add_n(*state, "mainly", 4), first);
	assert_ptr_equal(strings_get(*state, first), text);
}

static void a_beginning_or_an_end_is_another_string(void **state)
{
	const uint32_t whole = strings_add(*state, "malloc");

	assert_int_not_equal(strings_add(*state, "mall"), whole);
	assert_int_not_equal(strings_add(*state, "malloc_usable_size"), whole);
	assert_int_not_equal(strings_add(*state, "alloc"), whole);
	assert_string_equal(strings_get(*state, whole), "malloc");
}

static void a_length_beyond_the_end_stops_at_the_end(void **state)
{
	assert_string_equal(strings_get(*state, strings_add_n(*state, "ab", 100)), "ab");
	assert_int_equal(strings_add_n(*state, "xyz", 0), 0);
}

static void any_byte_but_nul_is_kept(void **state)
{
	static const char bytes[] = "\x01\n\xff\xfe\x80\xc3(";

	assert_string_equal(strings_get(*state, strings_add(*state, bytes)), bytes);
}

static void an_unknown_index_is_the_empty_string(void **state)
{
	assert_string_equal(strings_get(*state, 0), "");
	strings_add(*state, "a");
	assert_string_equal(strings_get(*state, 2), "");
	assert_string_equal(strings_get(*state, STRINGS_NONE), "");
}

/* Far beyond the first table and the first chunk. */
static void pointers_hold_while_the_pool_grows(void **state)
{
	enum { N = 50000 };
	static const char *texts[N];
	char name[64];

	for (uint32_t i = 0; i < N; i++) {
		snprintf(name, sizeof(name), "a_function_with_a_longish_name_%u", i);
		assert_int_equal(strings_add(*state, name), i + 1);
		texts[i] = strings_get(*state, i + 1);
	}
	for (uint32_t i = 0; i < N; i++) {
		snprintf(name, sizeof(name), "a_function_with_a_longish_name_%u", i);
		assert_ptr_equal(strings_get(*state, i + 1), texts[i]);
		assert_string_equal(texts[i], name);
		assert_int_equal(strings_add(*state, name), i + 1);
	}
}

static void strings_longer_than_a_chunk_stand_between_short_ones(void **state)
{
	const size_t sizes[] = { 65535, 65536, 65537, 1000000 };

	for (size_t i = 0; i < 4; i++) {
		char *text = malloc(sizes[i] + 1);
		uint32_t before = strings_add(*state, i % 2 ? "odd" : "even"), index;

		assert_non_null(text);
		memset(text, 'a' + (int)i, sizes[i]);
		text[sizes[i]] = '\0';
		index = strings_add(*state, text);
		assert_string_equal(strings_get(*state, index), text);
		assert_string_equal(strings_get(*state, before), i % 2 ? "odd" : "even");
		assert_int_equal(strings_add(*state, text), index);
		free(text);
	}
}

static void a_released_pool_starts_anew(void **state)
{
	strings_add(*state, "a");
	strings_add(*state, "b");
	strings_release(*state);
	assert_string_equal(strings_get(*state, 1), "");
	assert_int_equal(strings_add(*state, "c"), 1);
	assert_string_equal(strings_get(*state, 1), "c");
}

#define POOL(test) cmocka_unit_test_setup_teardown(test, strings_up, strings_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		POOL(indices_count_up_from_the_empty_string),
		POOL(a_string_is_stored_once),
		POOL(a_beginning_or_an_end_is_another_string),
		POOL(a_length_beyond_the_end_stops_at_the_end),
		POOL(any_byte_but_nul_is_kept),
		POOL(an_unknown_index_is_the_empty_string),
		POOL(pointers_hold_while_the_pool_grows),
		POOL(strings_longer_than_a_chunk_stand_between_short_ones),
		POOL(a_released_pool_starts_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
