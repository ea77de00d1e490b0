/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/test.h"

#include "unit/bundle/reader.h"

/* SWITCH records have no payload: which thread it was stands in the trailer alone. */
static void check_switch(bool swap)
{
	const struct image_event event = { image_clock_attr(), 128, NULL, 0 };
	struct image data = { .swap = swap }, file = { .swap = swap };
	struct perfdata_reader *reader;
	struct perfdata_record record;
	size_t at;

	at = image_record(&data, PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT);
	image_u32(&data, 100);
	image_u32(&data, 107);
	image_u64(&data, 5000);
	image_record_end(&data, at);
	image_clock_sample(&data, 108, 6000, 0x1000);
	image_file(&file, &event, 1, &data, data.size);
	reader = reader_of(&file);
	assert_int_equal(perfdata_reader_next(reader, &record, NULL), STATUS_OK);
	assert_int_equal(record.type, PERF_RECORD_SWITCH);
	assert_true(record.context_switch.out);
	assert_int_equal(record.pid, 100);
	assert_int_equal(record.tid, 107);
	assert_int_equal(record.time, 5000);
	assert_int_equal(perfdata_reader_next(reader, &record, NULL), STATUS_OK);
	assert_int_equal(record.tid, 108);
	perfdata_reader_close(reader);
	image_release(&data);
	image_release(&file);
}

static void the_task_of_a_record_without_one_of_its_own_comes_from_its_trailer(void **state)
{
	(void)state;
	check_switch(false);
	check_switch(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			the_task_of_a_record_without_one_of_its_own_comes_from_its_trailer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
