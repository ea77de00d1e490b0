/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "bundle/perfdata_source.h"
#include "support/sys_fault.h"
#include "support/tree.h"
#include "unit/bundle/reader.h"

/* Standard input of this program is replaced by what the test wants to be read from "-". */
static int saved_input = -1;

static void input_from(int fd)
{
	saved_input = dup(0);
	dup2(fd, 0);
	close(fd);
}

static void input_restore(void)
{
	dup2(saved_input, 0);
	close(saved_input);
}

static void input_from_pipe(const struct image *file)
{
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	assert_true(file->size < 60000); /* fits into the pipe */
	assert_int_equal(write(ends[1], file->bytes, file->size), (ssize_t)file->size);
	close(ends[1]);
	input_from(ends[0]);
}

static unsigned int entries_in(const char *path)
{
	DIR *directory = opendir(path);
	unsigned int n = 0;

	while (readdir(directory))
		n++;
	closedir(directory);
	return n - 2;
}

static void gzip_put(struct image *out, const uint8_t *bytes, size_t size)
{
	static uint8_t packed[1 << 20];
	z_stream zlib = { .next_in = (uint8_t *)(uintptr_t)bytes,
			  .avail_in = (uInt)size,
			  .next_out = packed,
			  .avail_out = sizeof(packed) };

	assert_int_equal(deflateInit2(&zlib, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	assert_int_equal(deflate(&zlib, Z_FINISH), Z_STREAM_END);
	image_put(out, packed, zlib.total_out);
	deflateEnd(&zlib);
}

static void a_pipe_is_read_twice_from_a_file_that_leaves_no_name(void **state)
{
	struct image file = { 0 };
	struct perfdata_reader *reader;
	struct tree tree;
	struct error error;
	unsigned int samples;

	(void)state;
	tree_make(&tree, NULL, 0);
	setenv("TMPDIR", tree.root, 1);
	clock_image(&file, 100);
	input_from_pipe(&file);
	assert_int_equal(perfdata_reader_open(&reader, sys_real(), "-", &error), STATUS_OK);
	input_restore();
	assert_int_equal(entries_in(tree.root), 0);
	for (int pass = 0; pass < 2; pass++) {
		reader_count(reader, &samples);
		assert_int_equal(samples, 100);
		assert_int_equal(perfdata_reader_rewind(reader, &error), STATUS_OK);
	}
	perfdata_reader_close(reader);
	unsetenv("TMPDIR");
	tree_remove(&tree);
	image_release(&file);
}

/* File systems without O_TMPFILE: the named file is gone again at once. */
static int openat_without_tmpfile(void *state, int dir_fd, const char *path, int flags, mode_t mode)
{
	const struct sys *real = sys_real();

	(void)state;
	if ((flags & O_TMPFILE) == O_TMPFILE)
		return -EOPNOTSUPP;
	return real->openat(real->state, dir_fd, path, flags, mode);
}

static void a_file_system_without_unnamed_files_serves_as_well(void **state)
{
	struct sys sys = *sys_real();
	struct image file = { 0 };
	struct perfdata_reader *reader;
	struct tree tree;
	struct error error;
	unsigned int samples;

	(void)state;
	sys.openat = openat_without_tmpfile;
	tree_make(&tree, NULL, 0);
	setenv("TMPDIR", tree.root, 1);
	clock_image(&file, 100);
	input_from_pipe(&file);
	assert_int_equal(perfdata_reader_open(&reader, &sys, "-", &error), STATUS_OK);
	input_restore();
	assert_int_equal(entries_in(tree.root), 0);
	reader_count(reader, &samples);
	assert_int_equal(samples, 100);
	perfdata_reader_close(reader);
	unsetenv("TMPDIR");
	tree_remove(&tree);
	image_release(&file);
}

static void a_temporary_directory_that_cannot_hold_it_is_named(void **state)
{
	struct image file = { 0 };
	struct perfdata_reader *reader;
	struct sys_fault fault;
	struct error error;

	(void)state;
	clock_image(&file, 100);
	setenv("TMPDIR", "/nonexistent-directory", 1);
	input_from_pipe(&file);
	assert_int_equal(perfdata_reader_open(&reader, sys_real(), "-", &error), STATUS_NOT_FOUND);
	input_restore();
	assert_non_null(strstr(error.text, "/nonexistent-directory"));
	assert_non_null(strstr(error.text, "TMPDIR"));
	unsetenv("TMPDIR");
	sys_fault_init(&fault, sys_real());
	sys_fault_plan(&fault, SYS_FAULT_WRITE, 1, ENOSPC, SYS_FAULT_TORN);
	input_from_pipe(&file);
	assert_int_equal(perfdata_reader_open(&reader, sys_fault_table(&fault), "-", &error),
			 STATUS_IO);
	input_restore();
	assert_int_equal(error.os_errno, ENOSPC);
	assert_int_equal(fault.open_fds, 0);
	image_release(&file);
}

static void gzip_is_unpacked_also_from_several_members_and_a_cut_one(void **state)
{
	struct image file = { 0 }, whole = { 0 }, two = { 0 };
	struct perfdata_reader *reader;
	struct tree tree;
	struct error error;
	unsigned int samples;
	char path[512];

	(void)state;
	tree_make(&tree, NULL, 0);
	snprintf(path, sizeof(path), "%s/f", tree.root);
	clock_image(&file, 3000);
	gzip_put(&whole, file.bytes, file.size);
	gzip_put(&two, file.bytes, 1000);
	gzip_put(&two, file.bytes + 1000, file.size - 1000);
	image_zeros(&two, 512); /* padding as tape archives have it */

	tree_write_bytes(&tree, "f", whole.bytes, whole.size);
	assert_int_equal(perfdata_reader_open(&reader, sys_real(), path, &error), STATUS_OK);
	reader_count(reader, &samples);
	assert_int_equal(samples, 3000);
	assert_int_equal(reader_n_notes(reader), 0);
	perfdata_reader_close(reader);

	tree_write_bytes(&tree, "f", two.bytes, two.size);
	assert_int_equal(perfdata_reader_open(&reader, sys_real(), path, &error), STATUS_OK);
	reader_count(reader, &samples);
	assert_int_equal(samples, 3000);
	perfdata_reader_close(reader);

	tree_write_bytes(&tree, "f", whole.bytes, whole.size / 2);
	assert_int_equal(perfdata_reader_open(&reader, sys_real(), path, &error), STATUS_OK);
	reader_count(reader, &samples);
	assert_true(samples > 500 && samples < 3000);
	assert_non_null(reader_note(reader, PERFDATA_NOTE_TRUNCATED));
	perfdata_reader_close(reader);

	whole.bytes[whole.size - 8] ^= 1; /* its check sum */
	tree_write_bytes(&tree, "f", whole.bytes, whole.size);
	assert_int_equal(perfdata_reader_open(&reader, sys_real(), path, &error), STATUS_CORRUPT);
	assert_non_null(strstr(error.text, "gzip"));
	tree_remove(&tree);
	image_release(&file);
	image_release(&whole);
	image_release(&two);
}

/* data holds attributes and side-band, data.0 and data.1 the samples of two threads of perf. */
static void a_directory_recording_gives_the_samples_of_all_its_files(void **state)
{
	const struct image_event event = { image_clock_attr(), 128, NULL, 0 };
	struct image data = { 0 }, file = { 0 }, first = { 0 }, second = { 0 };
	struct perfdata_reader *reader;
	struct tree tree;
	struct error error;
	unsigned int samples;

	(void)state;
	image_clock_comm(&data, 100, 1, "prog");
	image_file(&file, &event, 1, &data, data.size);
	for (unsigned int i = 0; i < 10; i++)
		image_clock_sample(i % 3 ? &first : &second, 100, 10 + i, 1);
	tree_make(&tree, NULL, 0);
	tree_write_bytes(&tree, "data", file.bytes, file.size);
	tree_write_bytes(&tree, "data.0", first.bytes, first.size);
	tree_write_bytes(&tree, "data.1", second.bytes, second.size - 3);
	assert_int_equal(perfdata_reader_open(&reader, sys_real(), tree.root, &error), STATUS_OK);
	for (int pass = 0; pass < 2; pass++) {
		assert_int_equal(reader_count(reader, &samples), 10);
		assert_int_equal(samples, 9);
		assert_int_equal(perfdata_reader_rewind(reader, &error), STATUS_OK);
	}
	assert_non_null(strstr(reader_note(reader, PERFDATA_NOTE_TRUNCATED)->text, "data.1"));
	assert_int_equal(reader_n_notes(reader), 1);
	perfdata_reader_close(reader);
	tree_remove(&tree);
	image_release(&data);
	image_release(&file);
	image_release(&first);
	image_release(&second);
}

static void a_directory_that_is_no_recording_is_refused(void **state)
{
	struct perfdata_reader *reader;
	struct tree tree;
	struct error error;

	(void)state;
	tree_make(&tree, NULL, 0);
	tree_write(&tree, "readme", "x");
	assert_int_equal(perfdata_reader_open(&reader, sys_real(), tree.root, &error),
			 STATUS_CORRUPT);
	assert_null(reader);
	assert_non_null(strstr(error.text, "manifest.json"));
	tree_remove(&tree);
}

/* Every call of opening, spooling and reading fails once: an error each time, and nothing left open. */
static void every_failing_call_is_an_error_and_leaves_nothing_open(void **state)
{
	struct image file = { 0 }, packed = { 0 };
	struct sys_fault fault;
	struct tree tree;
	unsigned int at = 0;
	char path[512];

	(void)state;
	tree_make(&tree, NULL, 0);
	clock_image(&file, 100);
	gzip_put(&packed, file.bytes, file.size);
	tree_write_bytes(&tree, "f", packed.bytes, packed.size);
	snprintf(path, sizeof(path), "%s/f", tree.root);
	do {
		struct perfdata_reader *reader;
		struct perfdata_record record;
		struct error error = { 0 };
		enum status status;

		sys_fault_init(&fault, sys_real());
		sys_fault_plan(&fault, SYS_FAULT_ANY & ~(unsigned int)SYS_FAULT_CLOSE, ++at, EIO,
			       SYS_FAULT_ONCE);
		status = perfdata_reader_open(&reader, sys_fault_table(&fault), path, &error);
		while (status == STATUS_OK)
			status = perfdata_reader_next(reader, &record, &error);
		perfdata_reader_close(reader);
		assert_int_equal(status, fault.fired ? STATUS_IO : STATUS_END);
		if (fault.fired)
			assert_int_equal(error.os_errno, EIO);
		assert_int_equal(fault.open_fds, 0);
	} while (fault.fired);
	assert_true(at > 6); /* open, stat, read, temporary file, write, reads */
	tree_remove(&tree);
	image_release(&file);
	image_release(&packed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pipe_is_read_twice_from_a_file_that_leaves_no_name),
		cmocka_unit_test(a_file_system_without_unnamed_files_serves_as_well),
		cmocka_unit_test(a_temporary_directory_that_cannot_hold_it_is_named),
		cmocka_unit_test(gzip_is_unpacked_also_from_several_members_and_a_cut_one),
		cmocka_unit_test(a_directory_recording_gives_the_samples_of_all_its_files),
		cmocka_unit_test(a_directory_that_is_no_recording_is_refused),
		cmocka_unit_test(every_failing_call_is_an_error_and_leaves_nothing_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
