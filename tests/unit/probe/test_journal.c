/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A journal written into memory of the test's own process, read back as the guardian reads that of a target.
 */
#include "probe/journal.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define REGION_BYTES 0x10000u
#define MANY         300u /* more than are read at once */

static uint8_t region[REGION_BYTES];
static uint8_t text[MANY * 8];
static uint64_t n_entries;

static struct guardian_write write_of(unsigned int i)
{
	struct guardian_write write = {
		.address = (uintptr_t)text + 8 * i, .function = i / 3, .length = 5, .island = i % 2
	};

	memset(write.original, (int)(i % 100), sizeof(write.original));
	memset(write.bytes, (int)(100 + i % 100), sizeof(write.bytes));
	return write;
}

static int begin(void **state)
{
	(void)state;
	memset(region, 0xcc, sizeof(region));
	n_entries = 0;
	for (unsigned int i = 0; i < MANY; i++) {
		const struct guardian_write write = write_of(i);

		memcpy(text + 8 * i, write.bytes, write.length);
		if (!journal_append(region + REGION_BYTES, REGION_BYTES, &n_entries, &write, 1))
			return -1;
	}
	return 0;
}

static size_t look(struct guardian_write **writes)
{
	const int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	size_t n = 0, capacity = 0;
	struct error error;

	assert_true(fd >= 0);
	*writes = NULL;
	assert_int_equal(journal_read(sys_real(), fd, (uintptr_t)region,
				      (uintptr_t)region + REGION_BYTES, writes, &n, &capacity,
				      &error),
			 STATUS_OK);
	close(fd);
	return n;
}

static void every_write_that_stands_is_read_back_as_it_was(void **state)
{
	struct guardian_write *writes;

	(void)state;
	assert_int_equal(look(&writes), MANY);
	for (unsigned int i = 0; i < MANY; i++) {
		const struct guardian_write wanted = write_of(i);

		assert_int_equal(writes[i].address, wanted.address);
		assert_int_equal(writes[i].function, wanted.function);
		assert_int_equal(writes[i].length, wanted.length);
		assert_int_equal(writes[i].island, wanted.island);
		assert_int_equal(writes[i].state, GUARDIAN_WRITTEN);
		assert_memory_equal(writes[i].original, wanted.original, 8);
		assert_memory_equal(writes[i].bytes, wanted.bytes, 8);
		/* strictly inside is busy: no thread may stand in an island, not even at its start */
		assert_true(writes[i].busy_start + wanted.island == wanted.address);
		assert_int_equal(writes[i].busy_end, wanted.address + wanted.length);
	}
	free(writes);
}

static void what_is_back_or_was_never_written_or_is_somebody_elses_is_left_out(void **state)
{
	const struct guardian_write back = write_of(7);
	struct guardian_write *writes;

	(void)state;
	memcpy(text + 8 * 7, back.original, back.length);
	text[8 * 9 + 4] ^= 1;
	assert_int_equal(look(&writes), MANY - 2);
	for (unsigned int i = 0; i < MANY - 2; i++) {
		assert_int_not_equal(writes[i].address, back.address);
		assert_int_not_equal(writes[i].address, write_of(9).address);
	}
	free(writes);
}

static void writes_that_do_not_fit_change_nothing(void **state)
{
	const struct guardian_write writes[2] = { write_of(0), write_of(1) };
	struct guardian_write *read;

	(void)state;
	assert_false(journal_append(region + REGION_BYTES, journal_bytes(MANY + 1), &n_entries,
				    writes, 2));
	assert_int_equal(n_entries, MANY);
	assert_int_equal(look(&read), MANY);
	free(read);
	assert_true(journal_append(region + REGION_BYTES, journal_bytes(MANY + 2), &n_entries,
				   writes, 2));
	assert_int_equal(n_entries, MANY + 2);
}

static void memory_that_holds_no_journal_holds_no_writes(void **state)
{
	struct journal_tail tail = { .magic = JOURNAL_MAGIC };
	struct guardian_write *writes;

	(void)state;
	tail.n = REGION_BYTES / sizeof(struct journal_entry); /* one too many */
	memcpy(region + REGION_BYTES - sizeof(tail), &tail, sizeof(tail));
	assert_int_equal(look(&writes), 0);
	tail.n = UINT64_MAX;
	memcpy(region + REGION_BYTES - sizeof(tail), &tail, sizeof(tail));
	assert_int_equal(look(&writes), 0);
	tail = (struct journal_tail){ .magic = JOURNAL_MAGIC + 1, .n = 1 };
	memcpy(region + REGION_BYTES - sizeof(tail), &tail, sizeof(tail));
	assert_int_equal(look(&writes), 0);
}

static void an_entry_of_no_possible_length_is_left_out(void **state)
{
	struct journal_entry entry;
	struct guardian_write *writes;
	uint8_t *at = region + REGION_BYTES - journal_bytes(1);

	(void)state;
	memcpy(&entry, at, sizeof(entry));
	entry.length = sizeof(entry.bytes) + 1;
	memcpy(at, &entry, sizeof(entry));
	assert_int_equal(look(&writes), MANY - 1);
	free(writes);
	entry.length = 0;
	memcpy(at, &entry, sizeof(entry));
	assert_int_equal(look(&writes), MANY - 1);
	free(writes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(every_write_that_stands_is_read_back_as_it_was, begin),
		cmocka_unit_test_setup(
			what_is_back_or_was_never_written_or_is_somebody_elses_is_left_out, begin),
		cmocka_unit_test_setup(writes_that_do_not_fit_change_nothing, begin),
		cmocka_unit_test_setup(memory_that_holds_no_journal_holds_no_writes, begin),
		cmocka_unit_test_setup(an_entry_of_no_possible_length_is_left_out, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
