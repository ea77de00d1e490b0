/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/test.h"
#include "support/tree.h"

static void names_come_sorted_and_without_dots(void **state)
{
	static const struct tree_file files[] = {
		{ "b", "" },       { "a/x", "" },   { "B", "" },
		{ ".hidden", "" }, { "..two", "" }, { "a b", "" }
	};
	static const char *const names[] = { "..two", ".hidden", "B", "a", "a b", "b" };
	struct directory directory;
	struct tree tree;

	(void)state;
	tree_make(&tree, files, sizeof(files) / sizeof(files[0]));
	assert_int_equal(directory_list(&directory, sys_real(), AT_FDCWD, tree.root, 6, NULL),
			 STATUS_OK);
	assert_int_equal(directory.n, 6);
	for (size_t i = 0; i < 6; i++)
		assert_string_equal(directory.names[i], names[i]);
	directory_release(&directory);
	assert_int_equal(directory.n, 0);
	tree_remove(&tree);
}

/* More names than one getdents64 returns. */
static void a_directory_of_thousands_is_listed_whole(void **state)
{
	struct directory directory;
	struct tree tree;

	(void)state;
	tree_make(&tree, NULL, 0);
	for (int i = 0; i < 3000; i++) {
		char name[64];

		snprintf(name, sizeof(name), "a_name_of_some_length_%05d", i);
		tree_write(&tree, name, "");
	}
	assert_int_equal(directory_list(&directory, sys_real(), AT_FDCWD, tree.root, 3000, NULL),
			 STATUS_OK);
	assert_int_equal(directory.n, 3000);
	assert_string_equal(directory.names[2999], "a_name_of_some_length_02999");
	directory_release(&directory);
	tree_remove(&tree);
}

static void one_name_too_many_is_refused_and_nothing_kept(void **state)
{
	static const struct tree_file files[] = { { "a", "" }, { "b", "" }, { "c", "" } };
	struct directory directory;
	struct error error;
	struct tree tree;

	(void)state;
	tree_make(&tree, files, 3);
	assert_int_equal(directory_list(&directory, sys_real(), AT_FDCWD, tree.root, 2, &error),
			 STATUS_LIMIT);
	assert_int_equal(directory.n, 0);
	assert_null(directory.names);
	assert_non_null(strstr(error.text, "more than 2 names"));
	tree_remove(&tree);
}

static void an_empty_directory_has_no_names(void **state)
{
	struct directory directory;
	struct tree tree;

	(void)state;
	tree_make(&tree, NULL, 0);
	assert_int_equal(directory_list(&directory, sys_real(), AT_FDCWD, tree.root, 0, NULL),
			 STATUS_OK);
	assert_int_equal(directory.n, 0);
	directory_release(&directory);
	tree_remove(&tree);
}

static void what_is_no_directory_is_refused_with_its_errno(void **state)
{
	static const struct tree_file files[] = { { "file", "text" } };
	struct directory directory;
	struct error error;
	struct tree tree;
	char path[512];

	(void)state;
	tree_make(&tree, files, 1);
	snprintf(path, sizeof(path), "%s/file", tree.root);
	assert_int_equal(directory_list(&directory, sys_real(), AT_FDCWD, path, 9, &error),
			 STATUS_IO);
	assert_int_equal(error.os_errno, ENOTDIR);
	snprintf(path, sizeof(path), "%s/none", tree.root);
	assert_int_equal(directory_list(&directory, sys_real(), AT_FDCWD, path, 9, &error),
			 STATUS_NOT_FOUND);
	assert_null(directory.names);
	tree_remove(&tree);
}

/* A scripted kernel that returns these bytes once. */
struct script {
	const void *bytes;
	ssize_t size;
	unsigned int n_open;
};

static int script_openat(void *state, int dir_fd, const char *path, int flags, mode_t mode)
{
	(void)dir_fd;
	(void)path;
	(void)flags;
	(void)mode;
	((struct script *)state)->n_open++;
	return 5;
}

static int script_close(void *state, int fd)
{
	(void)fd;
	((struct script *)state)->n_open--;
	return 0;
}

static ssize_t script_getdents(void *state, int fd, void *buffer, size_t size)
{
	struct script *script = state;
	const ssize_t n = script->size;

	(void)fd;
	assert_true(n <= (ssize_t)size);
	script->size = 0;
	if (n > 0)
		memcpy(buffer, script->bytes, (size_t)n);
	return n;
}

static enum status listed(struct directory *directory, const void *bytes, ssize_t size,
			  struct error *error)
{
	struct script script = { bytes, size, 0 };
	struct sys sys = *sys_real();
	enum status status;

	sys.state = &script;
	sys.openat = script_openat;
	sys.close = script_close;
	sys.getdents = script_getdents;
	status = directory_list(directory, &sys, AT_FDCWD, "/d", 9, error);
	assert_int_equal(script.n_open, 0);
	return status;
}

static void entries_whose_length_is_wrong_are_refused(void **state)
{
	static const unsigned short lengths[] = { 0, 1, offsetof(struct dirent64, d_name), 33,
						  65535 };
	struct directory directory;
	struct error error;

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		char block[32] = { 0 };

		memcpy(block + offsetof(struct dirent64, d_reclen), &lengths[i], 2);
		strcpy(block + offsetof(struct dirent64, d_name), "name");
		assert_int_equal(listed(&directory, block, sizeof(block), &error), STATUS_CORRUPT);
		assert_int_equal(directory.n, 0);
	}
}

static void a_name_without_its_nul_ends_with_its_entry(void **state)
{
	struct directory directory;
	char block[24] = { 0 };
	const unsigned short length = sizeof(block);

	(void)state;
	memset(block, 'n', sizeof(block));
	memcpy(block + offsetof(struct dirent64, d_reclen), &length, 2);
	assert_int_equal(listed(&directory, block, sizeof(block), NULL), STATUS_OK);
	assert_int_equal(directory.n, 1);
	assert_string_equal(directory.names[0], "nnnnn");
	directory_release(&directory);
}

static void a_failed_listing_is_an_error_not_an_empty_directory(void **state)
{
	struct directory directory;
	struct error error;

	(void)state;
	assert_int_equal(listed(&directory, NULL, -EIO, &error), STATUS_IO);
	assert_int_equal(error.os_errno, EIO);
	assert_string_equal(error.text, "cannot list /d: Input/output error");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_come_sorted_and_without_dots),
		cmocka_unit_test(a_directory_of_thousands_is_listed_whole),
		cmocka_unit_test(one_name_too_many_is_refused_and_nothing_kept),
		cmocka_unit_test(an_empty_directory_has_no_names),
		cmocka_unit_test(what_is_no_directory_is_refused_with_its_errno),
		cmocka_unit_test(entries_whose_length_is_wrong_are_refused),
		cmocka_unit_test(a_name_without_its_nul_ends_with_its_entry),
		cmocka_unit_test(a_failed_listing_is_an_error_not_an_empty_directory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
