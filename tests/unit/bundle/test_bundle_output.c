/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bundle/bundle.h"
#include "support/sys_fault.h"
#include "support/test.h"
#include "support/tree.h"

static char path[512];

static void place_make(struct tree *tree)
{
	tree_make(tree, NULL, 0);
	snprintf(path, sizeof(path), "%s/out.assay", tree->root);
}

/* The names in the tree's root, sorted, one per line. */
static const char *names(const struct tree *tree)
{
	static char text[4096];
	struct dirent **entries;
	int n = scandir(tree->root, &entries, NULL, alphasort);

	text[0] = '\0';
	for (int i = 0; i < n; i++) {
		if (strcmp(entries[i]->d_name, ".") != 0 && strcmp(entries[i]->d_name, "..") != 0) {
			strcat(text, entries[i]->d_name);
			strcat(text, "\n");
		}
		free(entries[i]);
	}
	free(entries);
	return text;
}

static void put(int dir_fd, const char *name, const char *text)
{
	const int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static char content_at(const struct tree *tree, const char *name)
{
	char full[1024], c = '?';
	int fd;

	snprintf(full, sizeof(full), "%s/%s/manifest.json", tree->root, name);
	fd = open(full, O_RDONLY);
	if (fd < 0)
		return '-';
	assert_int_equal(read(fd, &c, 1), 1);
	close(fd);
	return c;
}

/* A bundle whose manifest is this text, published at `path`. */
static enum status publish(const struct sys *sys, const char *text, struct error *error)
{
	struct bundle_output *output;
	enum status status = bundle_create(&output, sys, path, error);

	if (status != STATUS_OK)
		return status;
	put(bundle_output_dir_fd(output), "manifest.json", text);
	assert_int_equal(mkdirat(bundle_output_dir_fd(output), "objects", 0700), 0);
	put(bundle_output_dir_fd(output), "objects/a", "x");
	status = bundle_output_publish(output, error);
	bundle_output_close(output);
	return status;
}

static void a_published_bundle_stands_at_its_path_and_is_private(void **state)
{
	struct tree tree;
	struct error error;
	struct stat stat_;

	(void)state;
	place_make(&tree);
	assert_int_equal(publish(sys_real(), "1", &error), STATUS_OK);
	assert_string_equal(names(&tree), "out.assay\n");
	assert_int_equal(stat(path, &stat_), 0);
	assert_int_equal(stat_.st_mode & 07777, 0700);
	tree_remove(&tree);
}

static void the_previous_bundle_is_kept_as_old_and_the_one_before_goes(void **state)
{
	struct tree tree;
	struct error error;

	(void)state;
	place_make(&tree);
	for (int i = 1; i <= 3; i++) {
		const char text[2] = { (char)('0' + i) };

		assert_int_equal(publish(sys_real(), text, &error), STATUS_OK);
	}
	assert_string_equal(names(&tree), "out.assay\nout.assay.old\n");
	assert_int_equal(content_at(&tree, "out.assay"), '3');
	assert_int_equal(content_at(&tree, "out.assay.old"), '2');
	tree_remove(&tree);
}

static void a_recording_that_fails_before_it_is_published_leaves_no_trace(void **state)
{
	struct bundle_output *output;
	struct tree tree;
	struct error error;

	(void)state;
	place_make(&tree);
	assert_int_equal(publish(sys_real(), "1", &error), STATUS_OK);
	assert_int_equal(bundle_create(&output, sys_real(), path, &error), STATUS_OK);
	put(bundle_output_dir_fd(output), "perf.data", "x");
	bundle_output_close(output);
	assert_string_equal(names(&tree), "out.assay\n");
	assert_int_equal(content_at(&tree, "out.assay"), '1');
	tree_remove(&tree);
}

static void expect_refusal(const struct tree *tree, const char *name)
{
	struct bundle_output *output;
	struct error error;
	char before[4096];

	strcpy(before, names(tree));
	assert_int_equal(bundle_create(&output, sys_real(), path, &error), STATUS_USAGE);
	assert_null(output);
	if (!strstr(error.text, name))
		fail_msg("'%s' does not name '%s'", error.text, name);
	assert_string_equal(names(tree), before);
}

static void what_is_no_bundle_is_never_moved(void **state)
{
	struct tree tree;
	struct error error;
	char old[600];

	(void)state;
	place_make(&tree);
	tree_write(&tree, "out.assay", "a file");
	expect_refusal(&tree, path);
	unlink(path);

	tree_write(&tree, "out.assay/precious", "a directory that is not ours");
	expect_refusal(&tree, path);
	tree_remove(&tree);

	place_make(&tree);
	assert_int_equal(symlink("/etc", path), 0);
	expect_refusal(&tree, path);
	unlink(path);
	tree_write(&tree, "elsewhere/manifest.json", "a bundle, but a link to one is none");
	assert_int_equal(symlink("elsewhere", path), 0);
	expect_refusal(&tree, "symbolic link");
	unlink(path);

	/* nor what stands where the previous bundle would go */
	assert_int_equal(publish(sys_real(), "1", &error), STATUS_OK);
	tree_write(&tree, "out.assay.old", "a file");
	expect_refusal(&tree, "out.assay.old");
	snprintf(old, sizeof(old), "%s.old", path);
	unlink(old);
	assert_int_equal(publish(sys_real(), "2", &error), STATUS_OK);
	tree_remove(&tree);
}

static void names_that_can_be_no_bundle_are_refused(void **state)
{
	static const char *const bad[] = { "", "/", ".", "..", "x/..", "/nonexistent/out.assay" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct bundle_output *output;
		struct error error;

		assert_int_not_equal(bundle_create(&output, sys_real(), bad[i], &error), STATUS_OK);
		assert_null(output);
	}
}

static void a_trailing_slash_does_no_harm(void **state)
{
	struct tree tree;
	struct error error;

	(void)state;
	place_make(&tree);
	strcat(path, "//");
	assert_int_equal(publish(sys_real(), "1", &error), STATUS_OK);
	assert_string_equal(names(&tree), "out.assay\n");
	tree_remove(&tree);
}

static void under_sudo_everything_belongs_to_the_invoking_user(void **state)
{
	static const char *const files[] = { ".", "manifest.json", "objects", "objects/a" };
	struct bundle_output *output;
	struct stat stat_;
	struct tree tree;
	struct error error;

	(void)state;
	if (geteuid() != 0)
		SKIP("only root can give files away");
	place_make(&tree);
	setenv("SUDO_UID", "12345", 1);
	setenv("SUDO_GID", "23456", 1);
	assert_int_equal(publish(sys_real(), "1", &error), STATUS_OK);
	for (size_t i = 0; i < 4; i++) {
		char full[1024];

		snprintf(full, sizeof(full), "%s/%s", path, files[i]);
		assert_int_equal(stat(full, &stat_), 0);
		assert_int_equal(stat_.st_uid, 12345);
		assert_int_equal(stat_.st_gid, 23456);
	}
	/* and from the moment it is published, so that a killed recording is theirs, too */
	assert_int_equal(bundle_create(&output, sys_real(), path, &error), STATUS_OK);
	put(bundle_output_dir_fd(output), "manifest.json", "2");
	assert_int_equal(bundle_output_publish(output, &error), STATUS_OK);
	assert_int_equal(fstatat(bundle_output_dir_fd(output), "manifest.json", &stat_, 0), 0);
	assert_int_equal(stat_.st_uid, 12345);
	bundle_output_close(output);
	setenv("SUDO_UID", "12x", 1);
	assert_int_equal(publish(sys_real(), "2", &error), STATUS_OK);
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	tree_remove(&tree);
}

/* Every call of create, publish and close fails once. Whatever happens, the previous bundle is there
 * under its own name or as the new one's predecessor, and never is a third thing left in its place. */
static void no_failing_call_loses_the_previous_bundle(void **state)
{
	const unsigned int kinds = SYS_FAULT_ANY & ~(unsigned int)SYS_FAULT_CLOSE;

	(void)state;
	for (unsigned int at = 1;; at++) {
		struct sys_fault fault;
		struct tree tree;
		struct error error = { 0 };
		enum status status;

		place_make(&tree);
		assert_int_equal(publish(sys_real(), "1", &error), STATUS_OK);
		assert_int_equal(publish(sys_real(), "2", &error), STATUS_OK);
		sys_fault_init(&fault, sys_real());
		sys_fault_plan(&fault, kinds, at, EIO, SYS_FAULT_ONCE);
		status = publish(sys_fault_table(&fault), "3", &error);
		assert_int_equal(fault.open_fds, 0);
		if (status == STATUS_OK) {
			assert_int_equal(content_at(&tree, "out.assay"), '3');
			assert_int_equal(content_at(&tree, "out.assay.old"), '2');
		} else {
			assert_true(fault.fired);
			assert_true(strlen(error.text) > 10);
			assert_int_equal(content_at(&tree, "out.assay"), '2');
			assert_int_equal(content_at(&tree, "out.assay.old"), '1');
			assert_string_equal(names(&tree), "out.assay\nout.assay.old\n");
		}
		tree_remove(&tree);
		if (!fault.fired) {
			assert_int_equal(status, STATUS_OK);
			assert_true(at > 10);
			break;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_published_bundle_stands_at_its_path_and_is_private),
		cmocka_unit_test(the_previous_bundle_is_kept_as_old_and_the_one_before_goes),
		cmocka_unit_test(a_recording_that_fails_before_it_is_published_leaves_no_trace),
		cmocka_unit_test(what_is_no_bundle_is_never_moved),
		cmocka_unit_test(names_that_can_be_no_bundle_are_refused),
		cmocka_unit_test(a_trailing_slash_does_no_harm),
		cmocka_unit_test(under_sudo_everything_belongs_to_the_invoking_user),
		cmocka_unit_test(no_failing_call_loses_the_previous_bundle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
