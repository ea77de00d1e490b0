/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A directory tree of a test's own, for what looks names up in sysfs, tracefs or procfs. Lives below
 * $TMPDIR (else /tmp) and is removed by tree_remove.
 */
#ifndef ASSAY_TESTS_SUPPORT_TREE_H
#define ASSAY_TESTS_SUPPORT_TREE_H

#include <stddef.h>

struct tree {
	char root[256];
};

struct tree_file {
	const char *path; /* below the root; ends with '/' for a directory */
	const char *text;
};

/* All of these end the test program when the tree cannot be made: that is no result of a test. */
void tree_make(struct tree *tree, const struct tree_file *files, size_t n);
void tree_write(const struct tree *tree, const char *path, const char *text);
void tree_write_bytes(const struct tree *tree, const char *path, const void *bytes, size_t size);
void tree_remove(struct tree *tree);

#endif
