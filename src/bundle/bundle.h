/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The bundle directory: perf.data, manifest.json, draws.data, objects/ and maps/.
 *
 * bundle_create makes the directory under a temporary name beside the wanted path and moves it into
 * place (an older bundle becomes PATH.old) when recording really starts, so that a recording that
 * fails before its first sample leaves the previous one untouched. bundle_open reads a bundle or a
 * plain perf.data file (then there is no manifest).
 */
#ifndef ASSAY_BUNDLE_BUNDLE_H
#define ASSAY_BUNDLE_BUNDLE_H

#include <stdbool.h>

#include "base/status.h"
#include "base/sys.h"
#include "bundle/manifest.h"
#include "bundle/perfdata_reader.h"

#define BUNDLE_DEFAULT_PATH "out.assay"

/* What is being written. */
struct bundle_output;

/* Mode 0700. Refuses a path at which something stands that is no bundle (a file, a directory without
 * a manifest.json), naming it. Owned by SUDO_UID/SUDO_GID when those are set and we are root. */
MUST_CHECK enum status bundle_create(struct bundle_output **output, const struct sys *sys,
				     const char *path, struct error *error);
int bundle_output_dir_fd(const struct bundle_output *output);
/* Moves the directory to its path, an older bundle there to PATH.old (replacing one). Once. */
MUST_CHECK enum status bundle_output_publish(struct bundle_output *output, struct error *error);
/* Unpublished: removes everything. Published: gives the files to the invoking user and closes. */
void bundle_output_close(struct bundle_output *output);

/* What is being read. */
struct bundle {
	char *path;
	int dir_fd; /* -1 for a plain perf.data */
	bool has_manifest;
	struct manifest manifest; /* valid when has_manifest */
	struct perfdata_reader *reader;
	const struct sys *sys;
};

/* `path` is a bundle, a perf.data file, or "-" for a perf.data on standard input. For a bundle that
 * was not closed, the reader is limited to its last finished epoch. */
MUST_CHECK enum status bundle_open(struct bundle *bundle, const struct sys *sys, const char *path,
				   struct error *error);
void bundle_close(struct bundle *bundle);

#endif
