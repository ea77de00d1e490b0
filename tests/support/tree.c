/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/tree.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void give_up(const char *what, const char *path)
{
	fprintf(stderr, "tree: cannot %s %s: %s\n", what, path, strerror(errno));
	exit(1);
}

static void parents_make(char *path, size_t from)
{
	for (char *p = path + from; (p = strchr(p, '/')); p++) {
		*p = '\0';
		if (*path && mkdir(path, 0755) && errno != EEXIST)
			give_up("make", path);
		*p = '/';
	}
}

void tree_write_bytes(const struct tree *tree, const char *path, const void *bytes, size_t size)
{
	char full[1024];
	FILE *file;

	snprintf(full, sizeof(full), "%s/%s", tree->root, path);
	parents_make(full, strlen(tree->root) + 1);
	if (full[strlen(full) - 1] == '/')
		return;
	file = fopen(full, "wb");
	if (!file || fwrite(bytes, 1, size, file) != size || fclose(file))
		give_up("write", full);
}

void tree_write(const struct tree *tree, const char *path, const char *text)
{
	tree_write_bytes(tree, path, text, text ? strlen(text) : 0);
}

void tree_make(struct tree *tree, const struct tree_file *files, size_t n)
{
	const char *place = getenv("TMPDIR");

	snprintf(tree->root, sizeof(tree->root), "%s/assay-tree-XXXXXX",
		 place && *place ? place : "/tmp");
	if (!mkdtemp(tree->root))
		give_up("make", tree->root);
	for (size_t i = 0; i < n; i++)
		tree_write(tree, files[i].path, files[i].text);
}

static int one_remove(const char *path, const struct stat *stat, int kind, struct FTW *where)
{
	(void)stat;
	(void)kind;
	(void)where;
	return remove(path);
}

void tree_remove(struct tree *tree)
{
	nftw(tree->root, one_remove, 16, FTW_DEPTH | FTW_PHYS);
	tree->root[0] = '\0';
}
