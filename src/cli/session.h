/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What commands that read a recording have in common: the bundle is opened, its samples are counted, and
 * functions are named; then the whole is diagnosed.
 */
#ifndef ASSAY_CLI_SESSION_H
#define ASSAY_CLI_SESSION_H

#include <stdbool.h>

#include "base/sys.h"
#include "bundle/bundle.h"
#include "diagnose/diagnosis.h"
#include "profile/profile.h"
#include "profile/table.h"

struct session_options {
	const char *path; /* NULL: out.assay, else perf.data */
	const char *event, *symfs, *kallsyms, *vmlinux;
	bool debuginfod, inlines, demangle;
	struct filter *filter;
	unsigned int tags; /* TAG_* of the profile */
};

struct session {
	const struct sys *sys;
	struct bundle bundle;
	struct symbolizer *symbolizer;
	struct profile profile;
	char *map_dir;
	bool has_bundle, has_profile;
};

/* Opens and counts. session_release afterwards in any case, also of one that was only zeroed. */
MUST_CHECK enum status session_open(struct session *session, const struct sys *sys,
				    const struct session_options *options, struct error *error);
void session_release(struct session *session);

/* The diagnosis of the session's profile. Makes a table of its own and drops it: call it before the table
 * of the report is built. `answers`: with the five lines. */
MUST_CHECK enum status session_diagnose(struct session *session, struct diagnosis *diagnosis,
					const struct filter *filter, size_t samples, bool answers,
					struct error *error);

#endif
