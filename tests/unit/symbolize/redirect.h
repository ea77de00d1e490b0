/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A system-call table on which some absolute paths lead elsewhere: a procfs and sysfs of the test's own. */
#ifndef ASSAY_TESTS_UNIT_SYMBOLIZE_REDIRECT_H
#define ASSAY_TESTS_UNIT_SYMBOLIZE_REDIRECT_H

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/sys.h"

#define REDIRECT_MAX 8

struct redirect {
	struct sys table;
	const char *from[REDIRECT_MAX];
	char to[REDIRECT_MAX][600]; /* "": does not exist */
	size_t n;
	unsigned int opened[REDIRECT_MAX];
};

static int redirect_openat(void *state, int dir_fd, const char *path, int flags, mode_t mode)
{
	struct redirect *redirect = state;
	const struct sys *real = sys_real();

	for (size_t i = 0; i < redirect->n; i++) {
		if (strcmp(path, redirect->from[i]))
			continue;
		redirect->opened[i]++;
		if (!redirect->to[i][0])
			return -ENOENT;
		return real->openat(real->state, dir_fd, redirect->to[i], flags, mode);
	}
	return real->openat(real->state, dir_fd, path, flags, mode);
}

static void redirect_init(struct redirect *redirect)
{
	memset(redirect, 0, sizeof(*redirect));
	redirect->table = *sys_real();
	redirect->table.state = redirect;
	redirect->table.openat = redirect_openat;
}

static void redirect_add(struct redirect *redirect, const char *from, const char *to)
{
	redirect->from[redirect->n] = from;
	snprintf(redirect->to[redirect->n++], sizeof(redirect->to[0]), "%s", to);
}

#endif
