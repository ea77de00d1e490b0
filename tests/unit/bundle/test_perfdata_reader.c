/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "unit/bundle/reader.h"

static void a_whole_file_gives_every_record_and_no_note(void **state)
{
	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		struct image file = { .swap = swap };
		struct perfdata_reader *reader;
		unsigned int samples;
		uint64_t first, last;

		clock_image(&file, 1000);
		reader = reader_of(&file);
		assert_int_equal(reader_count(reader, &samples), 1002);
		assert_int_equal(samples, 1000);
		assert_int_equal(reader_n_notes(reader), 0);
		assert_int_equal(perfdata_reader_header(reader)->swapped, swap);
		assert_true(perfdata_reader_sample_times(reader, &first, &last));
		assert_int_equal(first, 100);
		assert_int_equal(last, 1099);
		perfdata_reader_close(reader);
		image_release(&file);
	}
}

static void a_pass_without_samples_gives_the_others_and_the_times(void **state)
{
	struct image file = { 0 };
	struct perfdata_reader *reader;
	struct error error;
	unsigned int samples;
	uint64_t first, last;

	(void)state;
	clock_image(&file, 10);
	reader = reader_of(&file);
	perfdata_reader_want(reader, PERFDATA_WANT_SIDEBAND);
	assert_int_equal(reader_count(reader, &samples), 2);
	assert_int_equal(samples, 0);
	assert_true(perfdata_reader_sample_times(reader, &first, &last));
	assert_int_equal(first, 100);
	assert_int_equal(last, 109);
	perfdata_reader_want(reader, PERFDATA_WANT_SAMPLES);
	assert_int_equal(perfdata_reader_rewind(reader, &error), STATUS_OK);
	assert_int_equal(reader_count(reader, &samples), 10);
	perfdata_reader_close(reader);
	image_release(&file);
}

static void side_band_records_decode_with_their_identity(void **state)
{
	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		struct image file = { .swap = swap };
		struct perfdata_reader *reader;
		struct perfdata_record record;
		struct error error;

		clock_image(&file, 0);
		reader = reader_of(&file);
		assert_int_equal(perfdata_reader_next(reader, &record, &error), STATUS_OK);
		assert_int_equal(record.type, PERF_RECORD_COMM);
		assert_int_equal(record.comm.tid, 100);
		assert_string_equal(record.comm.comm, "prog");
		assert_true(record.has_time);
		assert_int_equal(record.time, 5);
		assert_int_equal(record.cpu, UINT32_MAX);
		assert_int_equal(perfdata_reader_next(reader, &record, &error), STATUS_OK);
		assert_int_equal(record.type, PERF_RECORD_MMAP2);
		assert_int_equal(record.mmap.address, 0x400000);
		assert_int_equal(record.mmap.length, 0x1000);
		assert_int_equal(record.mmap.page_offset, 0x2000);
		assert_int_equal(record.mmap.major, 8);
		assert_int_equal(record.mmap.inode, 4711);
		assert_int_equal(record.mmap.inode_generation, 12);
		assert_int_equal(record.mmap.protection, 5);
		assert_true(record.mmap.has_inode);
		assert_string_equal(record.mmap.path, "/x/prog");
		assert_int_equal(record.time, 6);
		perfdata_reader_close(reader);
		image_release(&file);
	}
}

/* Cuts of every kind: in the magic, the header, the attributes fail; in the data they are told. */
static void a_file_cut_at_any_byte_fails_clearly_or_gives_what_is_whole(void **state)
{
	struct image file = { 0 };
	size_t data_at;

	(void)state;
	clock_image(&file, 5);
	data_at = 104 + 144;
	for (size_t size = 0; size < file.size; size++) {
		struct image cut = { 0 };
		struct perfdata_reader *reader;
		struct error error = { 0 };
		enum status status;
		unsigned int samples;

		image_put(&cut, file.bytes, size);
		image_put(&cut, "", 1); /* never an empty allocation */
		status = perfdata_reader_open_memory(&reader, cut.bytes, size, &error);
		if (size < data_at) {
			assert_int_equal(status, STATUS_CORRUPT);
			assert_null(reader);
			assert_true(strlen(error.text) > 20);
		} else {
			const size_t side_band = CLOCK_SIDE_BAND_BYTES;
			const size_t in_samples =
				size > data_at + side_band ? size - data_at - side_band : 0;

			assert_int_equal(status, STATUS_OK);
			reader_count(reader, &samples);
			assert_int_equal(samples, in_samples / CLOCK_SAMPLE_BYTES);
			assert_non_null(reader_note(reader, PERFDATA_NOTE_TRUNCATED));
			assert_int_equal(reader_n_notes(reader), 1);
			assert_false(perfdata_reader_header(reader)->finished);
			perfdata_reader_close(reader);
		}
		image_release(&cut);
	}
	image_release(&file);
}

static void a_file_that_was_never_finished_gives_its_records_and_says_so(void **state)
{
	struct image file = { 0 };
	struct perfdata_reader *reader;
	unsigned int samples;

	(void)state;
	clock_image(&file, 7);
	image_set_u64(&file, IMAGE_DATA_SIZE_AT, 0);
	reader = reader_of(&file);
	reader_count(reader, &samples);
	assert_int_equal(samples, 7);
	assert_non_null(reader_note(reader, PERFDATA_NOTE_UNFINISHED));
	perfdata_reader_close(reader);
	image_release(&file);
}

/* Killed between the last record and the features: the header promises what the file lacks. */
static void a_file_without_its_feature_table_keeps_its_records_and_says_so(void **state)
{
	struct image file = { 0 };
	struct perfdata_reader *reader;
	unsigned int samples;

	(void)state;
	clock_image(&file, 7);
	image_set_u64(&file, IMAGE_FEATURES_AT, 1u << 3 | 1u << 12);
	reader = reader_of(&file);
	assert_false(perfdata_reader_header(reader)->finished);
	assert_int_equal(reader_note(reader, PERFDATA_NOTE_TRUNCATED)->offset, file.size);
	reader_count(reader, &samples);
	assert_int_equal(samples, 7);
	assert_int_equal(reader_n_notes(reader), 1);
	perfdata_reader_close(reader);
	image_release(&file);
}

/* The sample of index 3 of 7 gets these bytes at an offset inside its record. */
static struct perfdata_reader *reader_of_bent(struct image *file, size_t offset, uint64_t bytes,
					      size_t n)
{
	clock_image(file, 7);
	memcpy(file->bytes + file->size - 4 * CLOCK_SAMPLE_BYTES + offset, &bytes, n);
	return reader_of(file);
}

static void a_record_shorter_than_its_header_ends_the_stream(void **state)
{
	struct image file = { 0 };
	struct perfdata_reader *reader = reader_of_bent(&file, 6, 4, 2);
	const struct perfdata_note *note;
	struct error error;
	unsigned int samples;

	(void)state;
	reader_count(reader, &samples);
	assert_int_equal(samples, 3);
	note = reader_note(reader, PERFDATA_NOTE_DAMAGED);
	assert_non_null(note);
	assert_int_equal(note->offset, file.size - 4 * CLOCK_SAMPLE_BYTES);
	assert_int_equal(note->record_type, PERF_RECORD_SAMPLE);
	/* a second pass ends at the same place and tells nothing twice */
	assert_int_equal(perfdata_reader_rewind(reader, &error), STATUS_OK);
	reader_count(reader, &samples);
	assert_int_equal(samples, 3);
	assert_int_equal(reader_n_notes(reader), 1);
	perfdata_reader_close(reader);
	image_release(&file);
}

static void an_unknown_record_is_passed_over_and_counted(void **state)
{
	struct image file = { 0 };
	struct perfdata_reader *reader = reader_of_bent(&file, 0, 5000, 4);
	const struct perfdata_note *note;
	unsigned int samples;

	(void)state;
	reader_count(reader, &samples);
	assert_int_equal(samples, 6);
	note = reader_note(reader, PERFDATA_NOTE_UNKNOWN_TYPE);
	assert_non_null(note);
	assert_int_equal(note->record_type, 5000);
	assert_int_equal(note->count, 1);
	perfdata_reader_close(reader);
	image_release(&file);
}

static void a_record_that_says_it_is_longer_than_the_file_ends_the_stream(void **state)
{
	struct image file = { 0 };
	struct perfdata_reader *reader = reader_of_bent(&file, 6, 0xfff8, 2);
	unsigned int samples;

	(void)state;
	reader_count(reader, &samples);
	assert_int_equal(samples, 3);
	assert_non_null(reader_note(reader, PERFDATA_NOTE_TRUNCATED));
	perfdata_reader_close(reader);
	image_release(&file);
}

static void put_two_words(struct image *data, uint64_t first, uint64_t second)
{
	const size_t at = image_record(data, PERF_RECORD_SAMPLE, 0);

	image_u64(data, first);
	image_u64(data, second);
	image_record_end(data, at);
}

/* Events whose ids stand at different places: an id counts only where its own event keeps it. The
 * third event's samples have an address that is an id of the second. */
static void samples_find_their_event_though_layouts_differ(void **state)
{
	const uint64_t first_ids[] = { 11, 12 }, second_ids[] = { 21 }, third_ids[] = { 31 };
	struct image_event events[3] = { { image_clock_attr(), 128, first_ids, 2 },
					 { image_clock_attr(), 128, second_ids, 1 },
					 { image_clock_attr(), 128, third_ids, 1 } };
	const uint64_t addresses[] = { 0x1a, 0x1b, 21 };
	struct image data = { 0 }, file = { 0 };
	struct perfdata_reader *reader;
	struct perfdata_record record;
	struct error error;

	(void)state;
	events[0].attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP;
	events[1].attr.sample_type = events[2].attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ID;
	for (int i = 0; i < 2; i++) {
		put_two_words(&data, 12, addresses[0]);
		put_two_words(&data, addresses[1], 21);
		put_two_words(&data, addresses[2], 31);
	}
	put_two_words(&data, 0x1c, 99);
	image_file(&file, events, 3, &data, data.size);
	reader = reader_of(&file);
	for (uint32_t i = 0; i < 6; i++) {
		assert_int_equal(perfdata_reader_next(reader, &record, &error), STATUS_OK);
		assert_int_equal(record.sample.event, i % 3);
		assert_int_equal(record.sample.ip, addresses[i % 3]);
	}
	assert_int_equal(perfdata_reader_next(reader, &record, &error), STATUS_END);
	assert_int_equal(reader_note(reader, PERFDATA_NOTE_UNKNOWN_ID)->count, 1);
	perfdata_reader_close(reader);
	image_release(&data);
	image_release(&file);
}

static void a_limit_ends_the_data_where_it_says_and_can_be_lifted(void **state)
{
	struct image file = { 0 };
	struct perfdata_reader *reader;
	struct error error;
	unsigned int samples;

	(void)state;
	clock_image(&file, 10);
	reader = reader_of(&file);
	perfdata_reader_limit(reader, CLOCK_SIDE_BAND_BYTES + 4 * CLOCK_SAMPLE_BYTES);
	reader_count(reader, &samples);
	assert_int_equal(samples, 4);
	assert_int_equal(reader_n_notes(reader), 0);
	perfdata_reader_limit(reader, UINT64_MAX);
	assert_int_equal(perfdata_reader_rewind(reader, &error), STATUS_OK);
	reader_count(reader, &samples);
	assert_int_equal(samples, 10);
	perfdata_reader_close(reader);
	image_release(&file);
}

static void event_update(struct image *data, uint64_t id, const char *name)
{
	const size_t at = image_record(data, 78, 0);

	image_u64(data, 2);
	image_u64(data, id);
	image_text(data, name);
	image_record_end(data, at);
}

static void a_pipe_teaches_events_and_names_as_it_flows_and_only_once(void **state)
{
	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		const uint64_t ids[] = { 7 };
		const struct image_event event = { image_clock_attr(), 136, ids, 1 };
		struct image data = { .swap = swap }, file = { .swap = swap };
		struct perfdata_reader *reader;
		const struct perfdata_event *events;
		struct error error;
		unsigned int samples;
		size_t n;

		event_update(&data, 7, "my-clock");
		image_clock_sample(&data, 100, 1, 2);
		image_pipe(&file, &event, 1, &data);
		reader = reader_of(&file);
		assert_true(perfdata_reader_header(reader)->pipe);
		for (int pass = 0; pass < 3; pass++) {
			reader_count(reader, &samples);
			assert_int_equal(samples, 1);
			events = perfdata_reader_events(reader, &n);
			assert_int_equal(n, 1);
			assert_string_equal(events[0].name, "my-clock");
			assert_int_equal(events[0].attr_size, 136);
			assert_int_equal(events[0].ids[0], 7);
			assert_int_equal(perfdata_reader_rewind(reader, &error), STATUS_OK);
		}
		assert_int_equal(reader_n_notes(reader), 0);
		perfdata_reader_close(reader);
		image_release(&data);
		image_release(&file);
	}
}

static void samples_before_any_attribute_are_counted_not_decoded(void **state)
{
	struct image data = { 0 }, file = { 0 };
	struct perfdata_reader *reader;
	unsigned int samples;

	(void)state;
	for (int i = 0; i < 5; i++)
		image_clock_sample(&data, 1, 2, 3);
	image_pipe(&file, NULL, 0, &data);
	reader = reader_of(&file);
	/* a side-band pass first: what it does not decode must be told by the pass that does */
	perfdata_reader_want(reader, PERFDATA_WANT_SIDEBAND);
	reader_count(reader, NULL);
	assert_int_equal(perfdata_reader_rewind(reader, NULL), STATUS_OK);
	perfdata_reader_want(reader, PERFDATA_WANT_SAMPLES);
	reader_count(reader, &samples);
	assert_int_equal(samples, 0);
	assert_int_equal(reader_note(reader, PERFDATA_NOTE_UNKNOWN_ID)->count, 5);
	perfdata_reader_close(reader);
	image_release(&data);
	image_release(&file);
}

/* AUXTRACE: u64 bytes that follow the record and are none. */
static void the_payload_behind_an_auxtrace_record_is_stepped_over(void **state)
{
	const struct image_event event = { image_clock_attr(), 128, NULL, 0 };
	struct image data = { 0 }, file = { 0 };
	struct perfdata_reader *reader;
	unsigned int samples;
	size_t at = image_record(&data, 71, 0);

	(void)state;
	image_u64(&data, 4096);
	image_zeros(&data, 32);
	image_record_end(&data, at);
	image_zeros(&data, 4096);
	image_clock_sample(&data, 1, 2, 3);
	image_file(&file, &event, 1, &data, data.size);
	reader = reader_of(&file);
	assert_int_equal(reader_count(reader, &samples), 2);
	assert_int_equal(samples, 1);
	assert_int_equal(reader_n_notes(reader), 0);
	perfdata_reader_close(reader);
	image_release(&data);
	image_release(&file);
}

static void a_payload_longer_than_the_file_ends_the_stream_without_being_read(void **state)
{
	const struct image_event event = { image_clock_attr(), 128, NULL, 0 };
	struct image data = { 0 }, file = { 0 };
	struct perfdata_reader *reader;
	unsigned int samples;
	size_t at;

	(void)state;
	image_clock_sample(&data, 1, 2, 3);
	at = image_record(&data, 66, 0);
	image_u32(&data, 0x7ffffff0);
	image_u32(&data, 0);
	image_record_end(&data, at);
	image_clock_sample(&data, 1, 2, 3);
	image_file(&file, &event, 1, &data, data.size);
	reader = reader_of(&file);
	reader_count(reader, &samples);
	assert_int_equal(samples, 1);
	assert_int_equal(reader_note(reader, PERFDATA_NOTE_TRUNCATED)->record_type, 66);
	perfdata_reader_close(reader);
	image_release(&data);
	image_release(&file);
}

static void a_mapping_beyond_the_address_space_is_cut_and_one_up_to_its_end_is_not(void **state)
{
	const struct image_event event = { image_clock_attr(), 128, NULL, 0 };
	struct image data = { 0 }, file = { 0 };
	struct perfdata_reader *reader;
	struct perfdata_record record;
	struct error error;

	(void)state;
	image_clock_mmap2(&data, 1, 2, UINT64_C(0xffffffff81000000), UINT64_C(0x7f000000), "[k]");
	image_clock_mmap2(&data, 1, 2, UINT64_C(0xffffffff81000000), UINT64_C(0x7f000001), "[k]");
	image_file(&file, &event, 1, &data, data.size);
	reader = reader_of(&file);
	assert_int_equal(perfdata_reader_next(reader, &record, &error), STATUS_OK);
	assert_int_equal(reader_n_notes(reader), 0);
	assert_true(record.mmap.length == 0x7effffff); /* ends at the last address */
	assert_int_equal(perfdata_reader_next(reader, &record, &error), STATUS_OK);
	assert_true(record.mmap.length == 0x7effffff);
	assert_non_null(reader_note(reader, PERFDATA_NOTE_MENDED));
	perfdata_reader_close(reader);
	image_release(&data);
	image_release(&file);
}

static void a_text_without_end_is_cut_where_its_field_ends(void **state)
{
	const struct image_event event = { image_clock_attr(), 128, NULL, 0 };
	struct image data = { 0 }, file = { 0 };
	struct perfdata_reader *reader;
	struct perfdata_record record;
	struct error error;
	size_t at = image_record(&data, PERF_RECORD_COMM, 0);

	(void)state;
	image_u64(&data, 1);
	image_put(&data, "12345678", 8);
	image_u64(&data, UINT64_C(0x4141414141414141));
	image_u64(&data, 9);
	image_record_end(&data, at);
	image_file(&file, &event, 1, &data, data.size);
	reader = reader_of(&file);
	assert_int_equal(perfdata_reader_next(reader, &record, &error), STATUS_OK);
	assert_string_equal(record.comm.comm, "12345678");
	assert_int_equal(record.time, 9);
	assert_non_null(reader_note(reader, PERFDATA_NOTE_MENDED));
	perfdata_reader_close(reader);
	image_release(&data);
	image_release(&file);
}

/* The kernels before 3.16 wrote no protection and flags. */
static void an_old_mmap2_without_protection_keeps_its_path(void **state)
{
	const struct image_event event = { image_clock_attr(), 128, NULL, 0 };
	struct image data = { 0 }, file = { 0 };
	struct perfdata_reader *reader;
	struct perfdata_record record;
	struct error error;
	size_t at = image_record(&data, PERF_RECORD_MMAP2, 0);

	(void)state;
	image_zeros(&data, 56);
	image_text(&data, "[stack]");
	image_zeros(&data, 16);
	image_record_end(&data, at);
	image_file(&file, &event, 1, &data, data.size);
	reader = reader_of(&file);
	assert_int_equal(perfdata_reader_next(reader, &record, &error), STATUS_OK);
	assert_string_equal(record.mmap.path, "[stack]");
	assert_int_equal(reader_n_notes(reader), 0);
	perfdata_reader_close(reader);
	image_release(&data);
	image_release(&file);
}

static void expect_refusal(const void *bytes, size_t size, const char *word)
{
	struct perfdata_reader *reader;
	struct error error;

	assert_int_equal(perfdata_reader_open_memory(&reader, bytes, size, &error), STATUS_CORRUPT);
	assert_null(reader);
	if (!strstr(error.text, word))
		fail_msg("'%s' does not say '%s'", error.text, word);
}

static void what_is_no_recording_is_refused_by_its_name(void **state)
{
	struct image file = { 0 };

	(void)state;
	expect_refusal("", 0, "empty");
	expect_refusal("PERF", 4, "only 4 bytes");
	expect_refusal("\x1f\x8b\x08 and more", 12, "gzip");
	expect_refusal("\x28\xb5\x2f\xfd and more", 12, "zstd");
	expect_refusal("\x7f"
		       "ELF........",
		       12, "program");
	expect_refusal("perf  1234 1.0: cycles", 22, "no perf.data");
	clock_image(&file, 1);
	image_set_u64(&file, IMAGE_ATTR_SIZE_AT, 0);
	expect_refusal(file.bytes, file.size, "0 bytes");
	image_set_u64(&file, IMAGE_ATTR_SIZE_AT, UINT64_MAX);
	expect_refusal(file.bytes, file.size, "attributes");
	image_release(&file);
}

static void a_million_attributes_are_refused_not_allocated(void **state)
{
	struct image file = { 0 };
	struct perfdata_reader *reader;
	struct error error;

	(void)state;
	clock_image(&file, 1);
	image_set_u64(&file, 32, UINT64_MAX - 104); /* attrs.size */
	assert_int_equal(perfdata_reader_open_memory(&reader, file.bytes, file.size, &error),
			 STATUS_LIMIT);
	image_release(&file);
}

static void ids_that_lie_outside_the_file_are_left_out_with_a_note(void **state)
{
	struct image file = { 0 };
	struct perfdata_reader *reader;
	unsigned int samples;

	(void)state;
	clock_image(&file, 3);
	image_set_u64(&file, 104 + 128, file.size - 8);
	image_set_u64(&file, 104 + 136, 16);
	reader = reader_of(&file);
	assert_non_null(reader_note(reader, PERFDATA_NOTE_SKIPPED));
	reader_count(reader, &samples);
	assert_int_equal(samples, 3);
	perfdata_reader_close(reader);
	image_release(&file);
}

static void an_attribute_that_claims_more_than_its_entry_is_read_as_far_as_it_goes(void **state)
{
	struct image file = { 0 };
	struct perfdata_reader *reader;
	const uint32_t claimed = 200;
	unsigned int samples;

	(void)state;
	clock_image(&file, 3);
	memcpy(file.bytes + 104 + 4, &claimed, sizeof(claimed));
	reader = reader_of(&file);
	assert_non_null(reader_note(reader, PERFDATA_NOTE_MENDED));
	reader_count(reader, &samples);
	assert_int_equal(samples, 3);
	perfdata_reader_close(reader);
	image_release(&file);
}

/* COMPRESSED records have any size, so records behind them lie askew; memory images may, too. */
static void records_at_odd_addresses_are_read(void **state)
{
	struct image file = { 0 }, shifted = { 0 };
	struct perfdata_reader *reader;
	struct error error;
	unsigned int samples;

	(void)state;
	clock_image(&file, 50);
	image_put(&shifted, "x", 1);
	image_put(&shifted, file.bytes, file.size);
	assert_int_equal(perfdata_reader_open_memory(&reader, shifted.bytes + 1, file.size, &error),
			 STATUS_OK);
	reader_count(reader, &samples);
	assert_int_equal(samples, 50);
	perfdata_reader_close(reader);
	image_release(&file);
	image_release(&shifted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_file_gives_every_record_and_no_note),
		cmocka_unit_test(a_pass_without_samples_gives_the_others_and_the_times),
		cmocka_unit_test(side_band_records_decode_with_their_identity),
		cmocka_unit_test(a_file_cut_at_any_byte_fails_clearly_or_gives_what_is_whole),
		cmocka_unit_test(a_file_that_was_never_finished_gives_its_records_and_says_so),
		cmocka_unit_test(a_file_without_its_feature_table_keeps_its_records_and_says_so),
		cmocka_unit_test(a_record_shorter_than_its_header_ends_the_stream),
		cmocka_unit_test(an_unknown_record_is_passed_over_and_counted),
		cmocka_unit_test(a_record_that_says_it_is_longer_than_the_file_ends_the_stream),
		cmocka_unit_test(samples_find_their_event_though_layouts_differ),
		cmocka_unit_test(a_limit_ends_the_data_where_it_says_and_can_be_lifted),
		cmocka_unit_test(a_pipe_teaches_events_and_names_as_it_flows_and_only_once),
		cmocka_unit_test(samples_before_any_attribute_are_counted_not_decoded),
		cmocka_unit_test(the_payload_behind_an_auxtrace_record_is_stepped_over),
		cmocka_unit_test(a_payload_longer_than_the_file_ends_the_stream_without_being_read),
		cmocka_unit_test(
			a_mapping_beyond_the_address_space_is_cut_and_one_up_to_its_end_is_not),
		cmocka_unit_test(a_text_without_end_is_cut_where_its_field_ends),
		cmocka_unit_test(an_old_mmap2_without_protection_keeps_its_path),
		cmocka_unit_test(what_is_no_recording_is_refused_by_its_name),
		cmocka_unit_test(a_million_attributes_are_refused_not_allocated),
		cmocka_unit_test(ids_that_lie_outside_the_file_are_left_out_with_a_note),
		cmocka_unit_test(
			an_attribute_that_claims_more_than_its_entry_is_read_as_far_as_it_goes),
		cmocka_unit_test(records_at_odd_addresses_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
