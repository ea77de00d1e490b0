/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records made here, as Debian's layout of the kernel's structs has them (linux/perf_event.h, in words). */
#include "support/test.h"

#include <limits.h>
#include <string.h>

#include "record/record_bytes.h"

static const char *text_at(const struct perf_event_header *record, size_t at)
{
	return (const char *)record + at;
}

static bool trailer_is_zero(const struct perf_event_header *record)
{
	for (size_t i = record->size - TRAILER_BYTES; i < record->size; i++)
		if (((const uint8_t *)record)[i])
			return false;
	return true;
}

static void a_mapping_has_its_fields_in_their_places(void **state)
{
	const struct mapping_bytes mapping = {
		.pid = 10,
		.tid = 11,
		.address = 0x1000,
		.length = 0x2000,
		.offset = 0x3000,
		.inode = 77,
		.generation = 5,
		.major = 8,
		.minor = 2,
		.protection = 5,
		.flags = 2,
		.path = "/bin/thing",
	};
	struct record_buffer buffer;
	const struct perf_event_header *record = record_make_mmap2(&buffer, &mapping);

	(void)state;
	assert_int_equal(record->type, PERF_RECORD_MMAP2);
	assert_int_equal(record->misc, PERF_RECORD_MISC_USER);
	assert_int_equal(record->size, 8 + 64 + 16 + TRAILER_BYTES);
	assert_int_equal(record_u32(record, 8), 10);
	assert_int_equal(record_u32(record, 12), 11);
	assert_int_equal(record_u64(record, 16), 0x1000);
	assert_int_equal(record_u64(record, 24), 0x2000);
	assert_int_equal(record_u64(record, 32), 0x3000);
	assert_int_equal(record_u32(record, 40), 8);
	assert_int_equal(record_u32(record, 44), 2);
	assert_int_equal(record_u64(record, 48), 77);
	assert_int_equal(record_u64(record, 56), 5);
	assert_int_equal(record_u32(record, 64), 5);
	assert_int_equal(record_u32(record, 68), 2);
	assert_string_equal(text_at(record, 72), "/bin/thing");
	assert_true(trailer_is_zero(record));
}

static void the_longest_path_fits_and_a_longer_one_is_cut(void **state)
{
	char path[PATH_MAX + 100];
	struct mapping_bytes mapping = { .path = path };
	struct record_buffer buffer;
	const struct perf_event_header *record;

	(void)state;
	memset(path, 'x', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	record = record_make_mmap2(&buffer, &mapping);
	assert_true(record->size <= RECORD_BYTES_MAX && record->size % 8 == 0);
	assert_int_equal(strlen(text_at(record, 72)), PATH_MAX - 1);
	assert_true(trailer_is_zero(record));
}

/* Eight characters need a NUL, and so eight more bytes. */
static void strings_end_with_nul_and_records_with_a_multiple_of_eight(void **state)
{
	struct record_buffer buffer;
	const struct perf_event_header *record = record_make_comm(&buffer, 3, 4, "12345678");

	(void)state;
	assert_int_equal(record->type, PERF_RECORD_COMM);
	assert_int_equal(record->size, 8 + 8 + 16 + TRAILER_BYTES);
	assert_string_equal(text_at(record, 16), "12345678");
	record = record_make_comm(&buffer, 3, 4, "");
	assert_int_equal(record->size, 8 + 8 + 8 + TRAILER_BYTES);
}

static void a_fork_names_child_and_parent(void **state)
{
	struct record_buffer buffer;
	const struct perf_event_header *record = record_make_fork(&buffer, 20, 21, 10, 11);

	(void)state;
	assert_int_equal(record_u32(record, 8), 20);
	assert_int_equal(record_u32(record, 12), 10);
	assert_int_equal(record_u32(record, 16), 21);
	assert_int_equal(record_u32(record, 20), 11);
	assert_int_equal(record->size, 32 + TRAILER_BYTES);
}

static void the_kernels_text_belongs_to_no_process(void **state)
{
	struct record_buffer buffer;
	const struct perf_event_header *record = record_make_kernel_mmap(
		&buffer, 0xffffffff81000000, 0x1000, 0xffffffff81000000, "[kernel.kallsyms]_text");

	(void)state;
	assert_int_equal(record->misc, PERF_RECORD_MISC_KERNEL);
	assert_int_equal(record_u32(record, 8), UINT32_MAX);
	assert_int_equal(record_u64(record, 16), 0xffffffff81000000);
	assert_string_equal(text_at(record, 40), "[kernel.kallsyms]_text");
}

static void a_round_ends_with_a_bare_header(void **state)
{
	struct record_buffer buffer;

	(void)state;
	assert_int_equal(record_make_finished_round(&buffer)->size, 8);
	assert_int_equal(record_make_finished_round(&buffer)->type, 68);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mapping_has_its_fields_in_their_places),
		cmocka_unit_test(the_longest_path_fits_and_a_longer_one_is_cut),
		cmocka_unit_test(strings_end_with_nul_and_records_with_a_multiple_of_eight),
		cmocka_unit_test(a_fork_names_child_and_parent),
		cmocka_unit_test(the_kernels_text_belongs_to_no_process),
		cmocka_unit_test(a_round_ends_with_a_bare_header),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
