/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tracepoints by name and by glob.
 *
 * tracefs is mounted by most distributions and readable by root only; both obstacles have one command
 * that removes them, which the error names. assay mounts nothing itself.
 */
#include "event/tracepoint.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/directory.h"

#define NAME_MAX_BYTES 256

/* 0 when `root` has the folder events, else the positive errno. */
static int events_missing(struct event_grammar *g, const char *root)
{
	char path[EVENT_PATH_MAX];
	struct stat stat;

	snprintf(path, sizeof(path), "%s/events", root);
	return -g->sys->fstatat(g->sys->state, AT_FDCWD, path, &stat, 0);
}

/* Finds tracefs; the positive errno when there is none to read. */
static int tracefs_find(struct event_grammar *g, const char **tried)
{
	static const char *const places[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	int missing = ENOENT;

	*tried = g->tracefs ? g->tracefs : places[0];
	if (g->tracefs)
		return events_missing(g, g->tracefs);
	for (size_t i = 0; i < 2; i++) {
		const int one = events_missing(g, places[i]);

		if (!one) {
			g->tracefs = places[i];
			return 0;
		}
		if (one == EACCES || one == EPERM) {
			*tried = places[i];
			return one;
		}
	}
	return missing;
}

static enum status tracefs_refuse(struct event_grammar *g, struct event_slice at, int os_errno,
				  const char *root)
{
	struct event_shown shown;

	event_show(&shown, at);
	if (os_errno == EACCES || os_errno == EPERM)
		return event_refuse(
			g, STATUS_PERMISSION, at,
			"tracepoint '%s': %s may not be read by this user; run assay as root, "
			"or let root run: mount -o remount,mode=755 %s",
			shown.text, root, root);
	return event_refuse(
		g, STATUS_NOT_FOUND, at,
		"tracepoint '%s': tracefs is not mounted; let root run: mount -t tracefs "
		"nodev %s",
		shown.text, root);
}

bool event_tracepoint_has_system(struct event_grammar *g, struct event_slice system)
{
	char path[EVENT_PATH_MAX], name[NAME_MAX_BYTES];
	const char *tried;
	struct stat stat;

	if (event_slice_has_glob(system))
		return true;
	if (!event_slice_file_name(system, name, sizeof(name)) || tracefs_find(g, &tried))
		return false;
	snprintf(path, sizeof(path), "%s/events/%s", g->tracefs, name);
	return !g->sys->fstatat(g->sys->state, AT_FDCWD, path, &stat, 0) && S_ISDIR(stat.st_mode);
}

/* Lists <tracefs>/events[/system]. Files stand between the folders (enable): they and what has just
 * gone away have no names. */
static enum status names_list(struct event_grammar *g, struct directory *names, const char *system)
{
	char path[EVENT_PATH_MAX];
	struct error why = { 0 };
	enum status status;

	snprintf(path, sizeof(path), "%s/events%s%s", g->tracefs, system ? "/" : "",
		 system ? system : "");
	status = directory_list(names, g->sys, AT_FDCWD, path, EVENT_NAMES_MAX, &why);
	if (status == STATUS_OK || status == STATUS_NOT_FOUND || why.os_errno == ENOTDIR)
		return STATUS_OK;
	if (g->error)
		*g->error = why;
	return status;
}

/* STATUS_NOT_FOUND without text when there is no such tracepoint. */
static enum status one_add(struct event_grammar *g, const char *system, const char *name,
			   struct event_slice at, const struct event_terms *terms)
{
	char path[EVENT_PATH_MAX], *text;
	struct event *event;
	enum status status;
	struct error why = { 0 };
	uint64_t id;
	bool number;

	snprintf(path, sizeof(path), "%s/events/%s/%s/id", g->tracefs, system, name);
	status = sys_read_file(g->sys, AT_FDCWD, path, EVENT_FILE_MAX, &text, NULL, &why);
	if (status == STATUS_NOT_FOUND || why.os_errno == ENOTDIR)
		return STATUS_NOT_FOUND;
	if (status == STATUS_PERMISSION)
		return tracefs_refuse(g, at, EACCES, g->tracefs);
	if (status != STATUS_OK)
		return event_refuse(g, status, at, "%s", why.text);
	number = event_slice_number(event_slice_trim(event_slice_of(text)), &id);
	free(text);
	if (!number)
		return event_refuse(g, STATUS_CORRUPT, at, "%s holds no number", path);
	status = event_add(g, &event);
	if (status != STATUS_OK)
		return status;
	event->attr.type = PERF_TYPE_TRACEPOINT;
	event->attr.config = id;
	if (!event_name(event, "%s:%s", system, name))
		return event_no_memory(g);
	return event_terms_apply_own(terms, g, event);
}

/* All tracepoints of one system that the glob matches; *found counts them. */
static enum status system_add(struct event_grammar *g, const char *system, const char *pattern,
			      struct event_slice at, const struct event_terms *terms, size_t *found)
{
	struct directory names;
	enum status status = names_list(g, &names, system);

	for (size_t i = 0; i < names.n && status == STATUS_OK; i++) {
		if (fnmatch(pattern, names.names[i], FNM_PERIOD))
			continue;
		status = one_add(g, system, names.names[i], at, terms);
		*found += status == STATUS_OK;
		if (status == STATUS_NOT_FOUND)
			status = STATUS_OK; /* enable, filter: files beside the tracepoints */
	}
	directory_release(&names);
	return status;
}

static enum status glob_add(struct event_grammar *g, const char *system, const char *name,
			    struct event_slice at, const struct event_terms *terms)
{
	struct event_shown shown;
	struct directory systems;
	enum status status = names_list(g, &systems, NULL);
	size_t found = 0;

	for (size_t i = 0; i < systems.n && status == STATUS_OK; i++)
		if (!fnmatch(system, systems.names[i], FNM_PERIOD))
			status = system_add(g, systems.names[i], name, at, terms, &found);
	directory_release(&systems);
	if (status == STATUS_OK && !found)
		status = event_refuse(g, STATUS_NOT_FOUND, at, "no tracepoint matches '%s'",
				      event_show(&shown, at));
	return status;
}

static void names_offer(struct event_grammar *g, struct event_near *near, const char *system)
{
	struct error *const told = g->error;
	struct directory names;

	g->error = NULL;
	if (names_list(g, &names, system) == STATUS_OK) {
		for (size_t i = 0; i < names.n; i++)
			event_near_offer(near, names.names[i]);
		directory_release(&names);
	}
	g->error = told;
}

static enum status unknown_refuse(struct event_grammar *g, const char *system,
				  struct event_slice system_at, struct event_slice name_at)
{
	const bool known = event_tracepoint_has_system(g, system_at);
	const struct event_slice at = known ? name_at : system_at;
	struct event_shown shown, in;
	struct event_near near;
	enum status status;

	event_show(&shown, at);
	event_show(&in, system_at);
	if (known)
		status = event_refuse(g, STATUS_NOT_FOUND, at, "no tracepoint '%s' in '%s'",
				      shown.text, in.text);
	else
		status = event_refuse(g, STATUS_NOT_FOUND, at,
				      "unknown event, and no tracepoints '%s' in this kernel",
				      shown.text);
	event_near_init(&near, at);
	names_offer(g, &near, known ? system : NULL);
	event_near_tell(g, &near);
	if (!near.n)
		event_refuse_more(g, ": see %s/events%s%s", g->tracefs, known ? "/" : "",
				  known ? system : "");
	return status;
}

enum status event_tracepoint_add(struct event_grammar *g, struct event_slice system,
				 struct event_slice name, const struct event_terms *terms)
{
	const struct event_slice whole = { system.at, (size_t)(name.at - system.at) + name.n };
	char system_file[NAME_MAX_BYTES], name_file[NAME_MAX_BYTES];
	const char *tried;
	struct event_shown shown;
	const int missing = tracefs_find(g, &tried);
	enum status status;

	if (!event_slice_file_name(system, system_file, sizeof(system_file)) ||
	    !event_slice_file_name(name, name_file, sizeof(name_file)))
		return event_refuse(g, STATUS_USAGE, whole,
				    "'%s' is no event: a tracepoint is SYSTEM:NAME",
				    event_show(&shown, whole));
	if (missing)
		return tracefs_refuse(g, whole, missing, tried);
	status = event_terms_only_own(terms, g);
	if (status != STATUS_OK)
		return status;
	if (event_slice_has_glob(system) || event_slice_has_glob(name))
		return glob_add(g, system_file, name_file, whole, terms);
	status = one_add(g, system_file, name_file, whole, terms);
	if (status == STATUS_NOT_FOUND)
		status = unknown_refuse(g, system_file, system, name);
	return status;
}
