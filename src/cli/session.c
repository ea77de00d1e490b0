/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/session.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

void session_release(struct session *session)
{
	if (session->has_profile)
		profile_release(&session->profile);
	symbolizer_free(session->symbolizer);
	if (session->has_bundle)
		bundle_close(&session->bundle);
	free(session->map_dir);
	*session = (struct session){ .sys = session->sys };
}

/* The bundle that was named; else out.assay; else, as perf users expect, perf.data. */
static const char *bundle_path(const struct sys *sys, const char *path)
{
	struct stat stat;

	if (path)
		return path;
	if (sys->fstatat(sys->state, AT_FDCWD, BUNDLE_DEFAULT_PATH, &stat, 0) < 0 &&
	    sys->fstatat(sys->state, AT_FDCWD, "perf.data", &stat, 0) == 0)
		return "perf.data";
	return BUNDLE_DEFAULT_PATH;
}

/* A file that the user names must be there: a fall-back would answer another question. */
static enum status named_check(const struct sys *sys, const char *option, const char *path,
			       struct error *error)
{
	int fd;

	if (!path)
		return STATUS_OK;
	fd = sys->openat(sys->state, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return error_set_errno(error, status_from_errno(-fd), -fd,
				       "cannot read %s, given with %s", path, option);
	sys->close(sys->state, fd);
	return STATUS_OK;
}

static enum status symbol_files_check(const struct sys *sys, const struct session_options *options,
				      struct error *error)
{
	enum status status = named_check(sys, "--symfs", options->symfs, error);

	if (status == STATUS_OK)
		status = named_check(sys, "--kallsyms", options->kallsyms, error);
	if (status == STATUS_OK)
		status = named_check(sys, "--vmlinux", options->vmlinux, error);
	return status;
}

static enum status symbolizer_make(struct session *session, const struct session_options *from,
				   struct error *error)
{
	struct symbolizer_options options = { .debuginfod = from->debuginfod,
					      .symfs = from->symfs,
					      .kallsyms_path = from->kallsyms,
					      .vmlinux = from->vmlinux,
					      .inlines = from->inlines,
					      .demangle = from->demangle };

	if (session->bundle.has_manifest) {
		if (asprintf(&session->map_dir, "%s/maps", session->bundle.path) < 0) {
			session->map_dir = NULL;
			return error_set(error, STATUS_NO_MEMORY, "no memory for a path");
		}
		options.map_dir = session->map_dir;
	}
	return symbolizer_new(&session->symbolizer, session->sys, &options, error);
}

enum status session_open(struct session *session, const struct sys *sys,
			 const struct session_options *options, struct error *error)
{
	const struct profile_options profile_options = { .event = options->event,
							 .filter = options->filter,
							 .tags = options->tags };
	enum status status;

	*session = (struct session){ .sys = sys };
	status = symbol_files_check(sys, options, error);
	if (status != STATUS_OK)
		return status;
	status = bundle_open(&session->bundle, sys, bundle_path(sys, options->path), error);
	session->has_bundle = status == STATUS_OK;
	if (status == STATUS_OK)
		status = symbolizer_make(session, options, error);
	if (status == STATUS_OK) {
		status = profile_build(&session->profile, &session->bundle, session->symbolizer,
				       sys, &profile_options, error);
		session->has_profile = status == STATUS_OK;
	}
	return status;
}

enum status session_diagnose(struct session *session, struct diagnosis *diagnosis,
			     const struct filter *filter, size_t samples, bool answers,
			     struct error *error)
{
	const struct diagnosis_options options = { .filter = filter && !filter_is_empty(filter)
								     ? filter
								     : NULL,
						   .samples = samples,
						   .answers = answers };
	struct table table;
	enum status status = table_build(&table, &session->profile, SUBJECT_FUNCTION, false, error);

	if (status != STATUS_OK)
		return status;
	status = diagnosis_make(diagnosis, &session->profile, &table, &options, error);
	table_release(&table);
	return status;
}
