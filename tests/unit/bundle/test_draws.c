/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bundle/draws.h"
#include "support/sys_fault.h"
#include "support/test.h"
#include "support/tree.h"

struct place {
	struct tree tree;
	int dir_fd;
};

static void place_make(struct place *place)
{
	tree_make(&place->tree, NULL, 0);
	place->dir_fd = open(place->tree.root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void place_remove(struct place *place)
{
	close(place->dir_fd);
	tree_remove(&place->tree);
}

static struct draw draw_of(uint64_t i)
{
	return (struct draw){ 1000 + i, 1003 + i,          1000000 + i * 7,
			      i / 100,  (uint32_t)(i % 3), (uint32_t)(UINT32_MAX - i) };
}

static unsigned int count_draws(const struct place *place)
{
	struct draws_reader *reader;
	struct draw draw;
	struct error error;
	enum status status;
	unsigned int n = 0;

	assert_int_equal(
		draws_reader_open(&reader, sys_real(), place->dir_fd, "draws.data", &error),
		STATUS_OK);
	while ((status = draws_reader_next(reader, &draw, &error)) == STATUS_OK) {
		const struct draw expected = draw_of(n++);

		assert_memory_equal(&draw, &expected, sizeof(draw));
	}
	assert_int_equal(status, STATUS_END);
	draws_reader_close(reader);
	return n;
}

static enum status write_draws(const struct sys *sys, const struct place *place, unsigned int n,
			       struct error *error)
{
	struct draws_writer *writer;
	enum status status = draws_writer_create(&writer, sys, place->dir_fd, "draws.data", error);

	if (status != STATUS_OK)
		return status;
	for (unsigned int i = 0; i < n && status == STATUS_OK; i++) {
		const struct draw draw = draw_of(i);

		status = draws_writer_append(writer, &draw, error);
	}
	if (status == STATUS_OK)
		status = draws_writer_flush(writer, error);
	draws_writer_close(writer);
	return status;
}

static void draws_are_read_back_as_they_were_written(void **state)
{
	static const unsigned int counts[] = { 0, 1, 1638, 1639, 10000 };

	(void)state;
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct place place;
		struct error error;

		place_make(&place);
		assert_int_equal(write_draws(sys_real(), &place, counts[i], &error), STATUS_OK);
		assert_int_equal(count_draws(&place), counts[i]);
		place_remove(&place);
	}
}

/* The layout is a promise to others: bytes as in draws.h. */
static void the_first_bytes_are_those_of_the_format(void **state)
{
	static const uint8_t expected[56] = {
		'A',  'S',  'S',  'A', 'Y',  'D',  'R',  'W',  1, 0, 0, 0,
		40,   0,    0,    0,   0xe8, 3,    0,    0,    0, 0, 0, 0, /* before 1000 */
		0xeb, 3,    0,    0,   0,    0,    0,    0,                /* after 1003 */
		0x40, 0x42, 0x0f, 0,   0,    0,    0,    0,                /* period 1000000 */
		0,    0,    0,    0,   0,    0,    0,    0,                /* epoch */
		0,    0,    0,    0,   0xff, 0xff, 0xff, 0xff,             /* clock, slot */
	};
	struct place place;
	struct error error;
	uint8_t bytes[64];
	int fd;

	(void)state;
	place_make(&place);
	assert_int_equal(write_draws(sys_real(), &place, 1, &error), STATUS_OK);
	fd = openat(place.dir_fd, "draws.data", O_RDONLY);
	assert_int_equal(read(fd, bytes, sizeof(bytes)), sizeof(expected));
	assert_memory_equal(bytes, expected, sizeof(expected));
	close(fd);
	place_remove(&place);
}

static void a_record_cut_by_a_killed_recorder_is_not_given(void **state)
{
	struct place place;
	struct error error;
	int fd;

	(void)state;
	place_make(&place);
	assert_int_equal(write_draws(sys_real(), &place, 10, &error), STATUS_OK);
	fd = openat(place.dir_fd, "draws.data", O_RDWR);
	for (int cut = 1; cut < 40; cut++) {
		assert_int_equal(ftruncate(fd, 16 + 10 * 40 - cut), 0);
		assert_int_equal(count_draws(&place), 9);
	}
	close(fd);
	place_remove(&place);
}

static void a_file_that_is_no_log_is_refused(void **state)
{
	static const char *const texts[] = { "",
					     "ASSAYDRW",
					     "no log of draws at all",
					     "ASSAYDRW\x02\0\0\0\x28\0\0\0",
					     "ASSAYDRW\x01\0\0\0\x27\0\0\0",
					     "ASSAYDRW\x01\0\0\0\xff\xff\xff\xff" };
	static const size_t sizes[] = { 0, 8, 22, 16, 16, 16 };
	struct place place;

	(void)state;
	place_make(&place);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct draws_reader *reader;
		struct error error;

		tree_write_bytes(&place.tree, "draws.data", texts[i], sizes[i]);
		assert_int_equal(
			draws_reader_open(&reader, sys_real(), place.dir_fd, "draws.data", &error),
			STATUS_CORRUPT);
		assert_null(reader);
	}
	place_remove(&place);
}

static void a_disk_that_fills_up_leaves_whole_records(void **state)
{
	(void)state;
	for (unsigned int at = 1;; at++) {
		struct sys_fault fault;
		struct place place;
		struct error error;
		enum status status;

		place_make(&place);
		sys_fault_init(&fault, sys_real());
		sys_fault_plan(&fault, SYS_FAULT_WRITE, at, ENOSPC, SYS_FAULT_TORN);
		status = write_draws(sys_fault_table(&fault), &place, 5000, &error);
		assert_int_equal(status, fault.fired ? STATUS_IO : STATUS_OK);
		assert_int_equal(fault.open_fds, 0);
		if (at == 1)
			assert_int_equal(faccessat(place.dir_fd, "draws.data", F_OK, 0), -1);
		else if (fault.fired)
			assert_true(count_draws(&place) < 5000);
		else
			assert_int_equal(count_draws(&place), 5000);
		place_remove(&place);
		if (!fault.fired)
			break;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(draws_are_read_back_as_they_were_written),
		cmocka_unit_test(the_first_bytes_are_those_of_the_format),
		cmocka_unit_test(a_record_cut_by_a_killed_recorder_is_not_given),
		cmocka_unit_test(a_file_that_is_no_log_is_refused),
		cmocka_unit_test(a_disk_that_fills_up_leaves_whole_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
