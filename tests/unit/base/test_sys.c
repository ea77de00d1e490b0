/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/test.h"
#include "support/tree.h"

/* A kernel that reads and writes a memory file, at most `piece` bytes a call, and interrupts or fails as
 * told. */
struct script {
	char bytes[100];
	size_t size, at;
	size_t piece;
	unsigned int interrupted; /* so many calls return EINTR first */
	int fails_with;           /* positive errno, once `fails_at` bytes are through */
	size_t fails_at, moved;
	unsigned int n_calls;
};

static ssize_t step(struct script *script, size_t *size)
{
	script->n_calls++;
	assert_true(script->n_calls < 1000);
	if (script->interrupted) {
		script->interrupted--;
		return -EINTR;
	}
	if (script->fails_with && script->moved >= script->fails_at)
		return -script->fails_with;
	*size = *size < script->piece ? *size : script->piece;
	return 0;
}

static ssize_t script_pwrite(void *state, int fd, const void *buffer, size_t size, off_t offset)
{
	struct script *script = state;
	const ssize_t failed = step(script, &size);

	assert_int_equal(fd, 7);
	if (failed)
		return failed;
	assert_true((size_t)offset + size <= sizeof(script->bytes));
	memcpy(script->bytes + offset, buffer, size);
	script->moved += size;
	return (ssize_t)size;
}

static ssize_t script_write(void *state, int fd, const void *buffer, size_t size)
{
	struct script *script = state;
	const ssize_t n = script_pwrite(state, fd, buffer, size, (off_t)script->at);

	script->at += n > 0 ? (size_t)n : 0;
	return n;
}

static ssize_t script_pread(void *state, int fd, void *buffer, size_t size, off_t offset)
{
	struct script *script = state;
	const ssize_t failed = step(script, &size);
	const size_t left = script->size - (size_t)offset;

	assert_int_equal(fd, 7);
	if (failed)
		return failed;
	size = size < left ? size : left;
	memcpy(buffer, script->bytes + offset, size);
	script->moved += size;
	return (ssize_t)size;
}

static ssize_t script_read(void *state, int fd, void *buffer, size_t size)
{
	struct script *script = state;
	const ssize_t n = script_pread(state, fd, buffer, size, (off_t)script->at);

	script->at += n > 0 ? (size_t)n : 0;
	return n;
}

static struct sys scripted(struct script *script)
{
	struct sys sys = *sys_real();

	sys.state = script;
	sys.write = script_write;
	sys.pwrite = script_pwrite;
	sys.read = script_read;
	sys.pread = script_pread;
	return sys;
}

static const char text[] = "the quick brown fox jumps over the lazy dog";

static void everything_is_written_through_short_writes_and_interrupts(void **state)
{
	(void)state;
	for (size_t piece = 1; piece <= sizeof(text); piece++) {
		struct script script = { .piece = piece, .interrupted = 3 };
		const struct sys sys = scripted(&script);

		assert_int_equal(sys_write_all(&sys, 7, text, sizeof(text)), 0);
		assert_memory_equal(script.bytes, text, sizeof(text));
		memset(&script, 0, sizeof(script));
		script.piece = piece;
		script.interrupted = 3;
		assert_int_equal(sys_pwrite_all(&sys, 7, text, sizeof(text), 11), 0);
		assert_memory_equal(script.bytes + 11, text, sizeof(text));
		assert_int_equal(script.bytes[10], 0);
	}
}

static void a_write_that_fails_midway_returns_its_errno(void **state)
{
	struct script script = { .piece = 5, .fails_with = ENOSPC, .fails_at = 15 };
	struct sys sys = scripted(&script);

	(void)state;
	assert_int_equal(sys_write_all(&sys, 7, text, sizeof(text)), -ENOSPC);
	assert_int_equal(script.moved, 15);
	script.moved = 0;
	assert_int_equal(sys_pwrite_all(&sys, 7, text, sizeof(text), 0), -ENOSPC);
}

static void a_write_of_nothing_forever_is_an_error_not_a_loop(void **state)
{
	struct script script = { .piece = 0 };
	struct sys sys = scripted(&script);

	(void)state;
	assert_int_equal(sys_write_all(&sys, 7, text, 1), -EIO);
	assert_int_equal(sys_pwrite_all(&sys, 7, text, 1, 0), -EIO);
	assert_int_equal(sys_write_all(&sys, 7, text, 0), 0);
}

static void reading_goes_on_until_the_buffer_is_full_or_the_file_ends(void **state)
{
	char buffer[100];

	(void)state;
	for (size_t piece = 1; piece <= sizeof(text); piece++) {
		struct script script = { .size = sizeof(text), .piece = piece, .interrupted = 2 };
		struct sys sys = scripted(&script);

		memcpy(script.bytes, text, sizeof(text));
		assert_int_equal(sys_read_full(&sys, 7, buffer, 10), 10);
		assert_memory_equal(buffer, text, 10);
		assert_int_equal(sys_read_full(&sys, 7, buffer, sizeof(buffer)), sizeof(text) - 10);
		assert_memory_equal(buffer, text + 10, sizeof(text) - 10);
		assert_int_equal(sys_read_full(&sys, 7, buffer, sizeof(buffer)), 0);
		script.interrupted = 2;
		assert_int_equal(sys_pread_full(&sys, 7, buffer, sizeof(buffer), 4),
				 sizeof(text) - 4);
		assert_memory_equal(buffer, text + 4, sizeof(text) - 4);
	}
}

static void a_read_that_fails_midway_returns_its_errno(void **state)
{
	struct script script = { .size = 50, .piece = 5, .fails_with = EIO, .fails_at = 15 };
	struct sys sys = scripted(&script);
	char buffer[100];

	(void)state;
	assert_int_equal(sys_read_full(&sys, 7, buffer, sizeof(buffer)), -EIO);
	script.moved = 0;
	assert_int_equal(sys_pread_full(&sys, 7, buffer, sizeof(buffer), 0), -EIO);
}

static void the_real_calls_return_minus_errno(void **state)
{
	const struct sys *sys = sys_real();
	struct stat stat;
	char byte;

	(void)state;
	errno = 0;
	assert_int_equal(sys->openat(NULL, AT_FDCWD, "/nonexistent", O_RDONLY, 0), -ENOENT);
	assert_int_equal(sys->close(NULL, -1), -EBADF);
	assert_int_equal(sys->read(NULL, -1, &byte, 1), -EBADF);
	assert_int_equal(sys->pread(NULL, -1, &byte, 1, 0), -EBADF);
	assert_int_equal(sys->write(NULL, -1, &byte, 1), -EBADF);
	assert_int_equal(sys->pwrite(NULL, -1, &byte, 1, 0), -EBADF);
	assert_int_equal(sys->fstat(NULL, -1, &stat), -EBADF);
	assert_int_equal(sys->fstatat(NULL, AT_FDCWD, "/nonexistent", &stat, 0), -ENOENT);
	assert_int_equal(sys->getdents(NULL, -1, &byte, 1), -EBADF);
	assert_int_equal(sys->ftruncate(NULL, -1, 0), -EBADF);
	assert_int_equal(sys->mkdirat(NULL, AT_FDCWD, "/", 0700), -EEXIST);
	assert_int_equal(sys->unlinkat(NULL, AT_FDCWD, "/nonexistent", 0), -ENOENT);
	assert_int_equal(sys->renameat(NULL, AT_FDCWD, "/nonexistent", AT_FDCWD, "/x"), -ENOENT);
	assert_int_equal(sys->munmap(NULL, (void *)1, 1), -EINVAL);
	assert_int_equal(sys->ioctl(NULL, -1, 0, NULL), -EBADF);
	assert_int_equal(sys->kill(NULL, 1 << 30, 0), -ESRCH);
	assert_int_equal(sys->clock_gettime(NULL, -1, &(struct timespec){ 0 }), -EINVAL);
	assert_ptr_equal(sys->mmap(NULL, NULL, 4096, PROT_READ, MAP_SHARED, -1, 0), MAP_FAILED);
}

static void the_page_size_is_a_power_of_two_of_at_least_4096(void **state)
{
	const size_t size = sys_real()->page_size(NULL);

	(void)state;
	assert_true(size >= 4096 && !(size & (size - 1)));
}

static int scripted_clock(void *state, clockid_t clock, struct timespec *now)
{
	(void)state;
	*now = clock == CLOCK_MONOTONIC ? (struct timespec){ 5000000000, 999999999 }
					: (struct timespec){ 1, 2 };
	return 0;
}

static void times_are_nanoseconds_without_overflow(void **state)
{
	struct sys sys = *sys_real();

	(void)state;
	sys.clock_gettime = scripted_clock;
	assert_true(sys_now_ns(&sys) == 5000000000999999999u);
	assert_int_equal(sys_own_cpu_ns(&sys), 1000000002);
}

static void a_small_file_is_read_whole_and_terminated(void **state)
{
	static const struct tree_file files[] = { { "f", "line\n" }, { "empty", "" } };
	struct tree tree;
	char *read, path[512];
	size_t size;

	(void)state;
	tree_make(&tree, files, 2);
	snprintf(path, sizeof(path), "%s/f", tree.root);
	assert_int_equal(sys_read_file(sys_real(), AT_FDCWD, path, 5, &read, &size, NULL),
			 STATUS_OK);
	assert_int_equal(size, 5);
	assert_string_equal(read, "line\n");
	free(read);
	snprintf(path, sizeof(path), "%s/empty", tree.root);
	assert_int_equal(sys_read_file(sys_real(), AT_FDCWD, path, 0, &read, NULL, NULL),
			 STATUS_OK);
	assert_string_equal(read, "");
	free(read);
	tree_remove(&tree);
}

/* Around the sizes at which the buffer grows. */
static void a_file_is_read_up_to_the_maximum_and_refused_beyond(void **state)
{
	static const size_t sizes[] = { 1, 64, 4095, 4096, 4097, 8191, 8192, 8193, 100000 };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		char *bytes = malloc(sizes[i]), *read, path[512];
		struct error error;
		struct tree tree;
		size_t size;

		assert_non_null(bytes);
		memset(bytes, 'x', sizes[i]);
		tree_make(&tree, NULL, 0);
		tree_write_bytes(&tree, "f", bytes, sizes[i]);
		snprintf(path, sizeof(path), "%s/f", tree.root);
		assert_int_equal(
			sys_read_file(sys_real(), AT_FDCWD, path, sizes[i], &read, &size, NULL),
			STATUS_OK);
		assert_int_equal(size, sizes[i]);
		assert_memory_equal(read, bytes, size);
		free(read);
		assert_int_equal(sys_read_file(sys_real(), AT_FDCWD, path, sizes[i] - 1, &read,
					       &size, &error),
				 STATUS_LIMIT);
		assert_null(read);
		tree_remove(&tree);
		free(bytes);
	}
}

static void what_cannot_be_read_is_refused_with_its_errno(void **state)
{
	struct error error;
	char *read;

	(void)state;
	assert_int_equal(
		sys_read_file(sys_real(), AT_FDCWD, "/nonexistent", 9, &read, NULL, &error),
		STATUS_NOT_FOUND);
	assert_null(read);
	assert_int_equal(sys_read_file(sys_real(), AT_FDCWD, "/", 9, &read, NULL, &error),
			 STATUS_IO);
	assert_int_equal(error.os_errno, EISDIR);
	assert_null(read);
}

/* procfs: no size, short reads. */
static void a_file_of_procfs_is_read_whole(void **state)
{
	char *read;
	size_t size;

	(void)state;
	assert_int_equal(
		sys_read_file(sys_real(), AT_FDCWD, "/proc/self/maps", 1 << 20, &read, &size, NULL),
		STATUS_OK);
	assert_true(size > 100 && strlen(read) == size);
	assert_non_null(strstr(read, "[stack]"));
	free(read);
}

static void a_fifo_in_a_files_place_does_not_block(void **state)
{
	struct tree tree;
	char path[512], *read;

	(void)state;
	tree_make(&tree, NULL, 0);
	snprintf(path, sizeof(path), "%s/fifo", tree.root);
	assert_int_equal(mkfifo(path, 0600), 0);
	alarm(20);
	assert_int_equal(sys_read_file(sys_real(), AT_FDCWD, path, 9, &read, NULL, NULL),
			 STATUS_OK);
	alarm(0);
	assert_string_equal(read, "");
	free(read);
	tree_remove(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_is_written_through_short_writes_and_interrupts),
		cmocka_unit_test(a_write_that_fails_midway_returns_its_errno),
		cmocka_unit_test(a_write_of_nothing_forever_is_an_error_not_a_loop),
		cmocka_unit_test(reading_goes_on_until_the_buffer_is_full_or_the_file_ends),
		cmocka_unit_test(a_read_that_fails_midway_returns_its_errno),
		cmocka_unit_test(the_real_calls_return_minus_errno),
		cmocka_unit_test(the_page_size_is_a_power_of_two_of_at_least_4096),
		cmocka_unit_test(times_are_nanoseconds_without_overflow),
		cmocka_unit_test(a_small_file_is_read_whole_and_terminated),
		cmocka_unit_test(a_file_is_read_up_to_the_maximum_and_refused_beyond),
		cmocka_unit_test(what_cannot_be_read_is_refused_with_its_errno),
		cmocka_unit_test(a_file_of_procfs_is_read_whole),
		cmocka_unit_test(a_fifo_in_a_files_place_does_not_block),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
