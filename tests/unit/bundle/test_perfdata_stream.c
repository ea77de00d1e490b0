/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compressed carriers and windows: what perfdata_stream does below the reader. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "support/sys_fault.h"
#include "support/tree.h"
#include "unit/bundle/reader.h"

#define N_SAMPLES 5000u

/* Records as one zstd stream, cut into carriers of `piece` bytes of input, flushed after each. */
static void carriers_put(struct image *data, const struct image *inner, size_t piece, uint32_t type)
{
	ZSTD_CStream *zstd = ZSTD_createCStream();
	static uint8_t packed[1 << 16];

	ZSTD_initCStream(zstd, 3);
	for (size_t at = 0; at < inner->size; at += piece) {
		ZSTD_inBuffer in = { inner->bytes + at,
				     at + piece < inner->size ? piece : inner->size - at, 0 };
		ZSTD_outBuffer out = { packed, 60000, 0 };
		size_t record;

		while (ZSTD_compressStream2(zstd, &out, &in, ZSTD_e_flush))
			assert_true(out.pos < out.size);
		assert_int_equal(in.pos, in.size);
		record = image_record(data, type, 0);
		if (type == 83)
			image_u64(data, out.pos);
		image_put(data, packed, out.pos);
		if (type == 83)
			image_zeros(data, (8 - out.pos % 8) % 8);
		image_record_end(data, record);
	}
	ZSTD_freeCStream(zstd);
}

static void compressed_image(struct image *file, size_t piece, uint32_t type)
{
	const struct image_event event = { image_clock_attr(), 128, NULL, 0 };
	struct image inner = { .swap = file->swap }, data = { .swap = file->swap };

	for (unsigned int i = 0; i < N_SAMPLES; i++)
		image_clock_sample(&inner, 100, 100 + i, 0x400010 + i * 7919u);
	image_clock_comm(&data, 100, 5, "prog");
	carriers_put(&data, &inner, piece, type);
	image_clock_comm(&data, 100, 9, "last");
	image_file(file, &event, 1, &data, data.size);
	image_release(&inner);
	image_release(&data);
}

static void check_all_samples(struct perfdata_reader *reader)
{
	struct perfdata_record record;
	struct error error;
	unsigned int n = 0;

	assert_int_equal(perfdata_reader_next(reader, &record, &error), STATUS_OK);
	assert_int_equal(record.type, PERF_RECORD_COMM);
	while (perfdata_reader_next(reader, &record, &error) == STATUS_OK) {
		if (record.type != PERF_RECORD_SAMPLE)
			break;
		assert_int_equal(record.time, 100 + n);
		assert_int_equal(record.sample.ip, 0x400010 + n * 7919u);
		n++;
	}
	assert_int_equal(n, N_SAMPLES);
	assert_int_equal(record.type, PERF_RECORD_COMM);
	assert_string_equal(record.comm.comm, "last");
	assert_int_equal(perfdata_reader_next(reader, &record, &error), STATUS_END);
	assert_int_equal(reader_n_notes(reader), 0);
}

/* 1000 and 37 split records between carriers; 40 is one record each. */
static void compressed_records_come_out_whole_whatever_the_carriers_size(void **state)
{
	static const size_t pieces[] = { 40, 37, 1000, 65536 };
	static const uint32_t types[] = { 81, 83 };

	(void)state;
	for (size_t i = 0; i < 2 * 4 * 2; i++) {
		struct image file = { .swap = i & 1 };
		struct perfdata_reader *reader;
		struct error error;

		compressed_image(&file, pieces[i / 2 % 4], types[i / 8]);
		reader = reader_of(&file);
		check_all_samples(reader);
		assert_int_equal(perfdata_reader_rewind(reader, &error), STATUS_OK);
		check_all_samples(reader);
		perfdata_reader_close(reader);
		image_release(&file);
	}
}

static void damage_in_a_carrier_ends_the_stream_at_its_offset(void **state)
{
	struct image file = { 0 };
	struct perfdata_reader *reader;
	const struct perfdata_note *note;

	(void)state;
	compressed_image(&file, 65536, 81);
	/* the first carrier's zstd frame, behind the COMM of 40 bytes and the carrier's header */
	memset(file.bytes + 104 + 144 + 40 + 8, 0xff, 16);
	reader = reader_of(&file);
	reader_count(reader, NULL);
	note = reader_note(reader, PERFDATA_NOTE_DAMAGED);
	assert_non_null(note);
	assert_int_equal(note->offset, 104 + 144 + 40);
	assert_int_equal(note->record_type, 81);
	perfdata_reader_close(reader);
	image_release(&file);
}

static void a_carrier_inside_a_carrier_is_damage(void **state)
{
	const struct image_event event = { image_clock_attr(), 128, NULL, 0 };
	struct image inner = { 0 }, data = { 0 }, file = { 0 };
	struct perfdata_reader *reader;
	size_t record = image_record(&inner, 81, 0);

	(void)state;
	image_zeros(&inner, 8);
	image_record_end(&inner, record);
	carriers_put(&data, &inner, 4096, 81);
	image_file(&file, &event, 1, &data, data.size);
	reader = reader_of(&file);
	assert_int_equal(reader_count(reader, NULL), 0);
	assert_non_null(reader_note(reader, PERFDATA_NOTE_DAMAGED));
	perfdata_reader_close(reader);
	image_release(&inner);
	image_release(&data);
	image_release(&file);
}

static void a_compressed2_record_that_claims_more_than_it_has_is_damage(void **state)
{
	const struct image_event event = { image_clock_attr(), 128, NULL, 0 };
	struct image data = { 0 }, file = { 0 };
	struct perfdata_reader *reader;
	size_t record = image_record(&data, 83, 0);

	(void)state;
	image_u64(&data, 9);
	image_zeros(&data, 8);
	image_record_end(&data, record);
	image_file(&file, &event, 1, &data, data.size);
	reader = reader_of(&file);
	assert_int_equal(reader_count(reader, NULL), 0);
	assert_int_equal(reader_note(reader, PERFDATA_NOTE_DAMAGED)->record_type, 83);
	perfdata_reader_close(reader);
	image_release(&data);
	image_release(&file);
}

/* n records of 24 bytes that are all alike, in one carrier. */
static void check_expansion(unsigned int n)
{
	const struct image_event event = { image_clock_attr(), 128, NULL, 0 };
	struct image inner = { 0 }, data = { 0 }, file = { 0 };
	struct perfdata_reader *reader;

	for (unsigned int i = 0; i < n; i++) {
		const size_t record = image_record(&inner, 68, 0);

		image_zeros(&inner, 16);
		image_record_end(&inner, record);
	}
	carriers_put(&data, &inner, inner.size, 81);
	assert_true(data.size < 60000);
	image_file(&file, &event, 1, &data, data.size);
	reader = reader_of(&file);
	assert_int_equal(reader_count(reader, NULL), n);
	assert_int_equal(reader_n_notes(reader), 0);
	perfdata_reader_close(reader);
	image_release(&inner);
	image_release(&data);
	image_release(&file);
}

/* 64 KiB of carrier can stand for a thousand times as much: memory must not follow. Pieces end inside
 * records and inside zstd's blocks of 128 KiB, also when all of the payload is taken in already. */
static void a_carrier_that_unpacks_to_much_more_is_read_in_pieces(void **state)
{
	(void)state;
	check_expansion(400000);
	for (unsigned int n = 10800; n < 22000; n += 223)
		check_expansion(n);
}

/* A file larger than several windows: every record once, also those across their borders. */
static void windows_lose_and_repeat_no_record(void **state)
{
	const struct image_event event = { image_clock_attr(), 128, NULL, 0 };
	const unsigned int n = 60000; /* 2.4 MB */
	struct image data = { 0 }, file = { 0 };
	struct perfdata_reader *reader;
	struct perfdata_record record;
	struct tree tree;
	struct error error;
	char path[512];

	(void)state;
	for (unsigned int i = 0; i < n; i++) {
		image_clock_sample(&data, 100, i, i);
		/* other sizes in between, so that borders fall everywhere */
		if (i % 100 == 0)
			image_clock_comm(&data, 100, i, i % 200 ? "short" : "a longer name here");
	}
	image_file(&file, &event, 1, &data, data.size);
	tree_make(&tree, NULL, 0);
	tree_write_bytes(&tree, "perf.data", file.bytes, file.size);
	snprintf(path, sizeof(path), "%s/perf.data", tree.root);
	assert_int_equal(perfdata_reader_open(&reader, sys_real(), path, &error), STATUS_OK);
	for (int pass = 0; pass < 2; pass++) {
		unsigned int seen = 0;

		while (perfdata_reader_next(reader, &record, &error) == STATUS_OK)
			if (record.type == PERF_RECORD_SAMPLE)
				assert_int_equal(record.time, seen++);
		assert_int_equal(seen, n);
		assert_int_equal(perfdata_reader_rewind(reader, &error), STATUS_OK);
	}
	perfdata_reader_close(reader);
	tree_remove(&tree);
	image_release(&data);
	image_release(&file);
}

static void a_read_that_fails_fails_the_call_and_names_the_offset(void **state)
{
	struct image file = { 0 };
	struct perfdata_reader *reader;
	struct perfdata_record record;
	struct sys_fault fault;
	struct tree tree;
	struct error error;
	char path[512];

	(void)state;
	clock_image(&file, 10);
	tree_make(&tree, NULL, 0);
	tree_write_bytes(&tree, "perf.data", file.bytes, file.size);
	snprintf(path, sizeof(path), "%s/perf.data", tree.root);
	sys_fault_init(&fault, sys_real());
	assert_int_equal(perfdata_reader_open(&reader, sys_fault_table(&fault), path, &error),
			 STATUS_OK);
	sys_fault_plan(&fault, SYS_FAULT_READ, 1, 5 /* EIO */, SYS_FAULT_ONCE);
	assert_int_equal(perfdata_reader_next(reader, &record, &error), STATUS_IO);
	assert_non_null(strstr(error.text, "offset 0xf8"));
	assert_int_equal(error.os_errno, 5);
	perfdata_reader_close(reader);
	assert_int_equal(fault.open_fds, 0);
	tree_remove(&tree);
	image_release(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compressed_records_come_out_whole_whatever_the_carriers_size),
		cmocka_unit_test(damage_in_a_carrier_ends_the_stream_at_its_offset),
		cmocka_unit_test(a_carrier_inside_a_carrier_is_damage),
		cmocka_unit_test(a_compressed2_record_that_claims_more_than_it_has_is_damage),
		cmocka_unit_test(a_carrier_that_unpacks_to_much_more_is_read_in_pieces),
		cmocka_unit_test(windows_lose_and_repeat_no_record),
		cmocka_unit_test(a_read_that_fails_fails_the_call_and_names_the_offset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
