/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A bundle as a tree of files: removed, or given to its user. Symbolic links are never followed, and
 * depth and number of names are bounded.
 */
#ifndef ASSAY_BUNDLE_BUNDLE_TREE_H
#define ASSAY_BUNDLE_BUNDLE_TREE_H

#include <stdbool.h>

#include "base/status.h"
#include "base/sys.h"

/* Removes `name` in dir_fd and all below it. */
MUST_CHECK enum status bundle_tree_remove(const struct sys *sys, int dir_fd, const char *name,
					  struct error *error);

/* Gives `name` and all below it to (uid, gid). */
MUST_CHECK enum status bundle_tree_own(const struct sys *sys, int dir_fd, const char *name,
				       uid_t uid, gid_t gid, struct error *error);

enum bundle_place { BUNDLE_PLACE_FREE, BUNDLE_PLACE_BUNDLE, BUNDLE_PLACE_OTHER };

/* What stands at `name`; for OTHER, *what names its kind. A bundle is a directory with a manifest.json
 * in it. */
MUST_CHECK enum status bundle_place_find(const struct sys *sys, int dir_fd, const char *name,
					 enum bundle_place *place, const char **what,
					 struct error *error);

#endif
