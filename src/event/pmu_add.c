/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which PMUs a name means, and one event on each.
 *
 * A name means, in this order: the PMU of exactly that name; with a glob, all that match; else all
 * numbered instances, with or without the prefix uncore_ (`uncore_imc/.../`, `imc/.../`:
 * uncore_imc_0, uncore_imc_1 ...). Where a name means several, those that lack a term are passed over
 * as long as one has them all, as in perf (event_pmu of parse-events.y).
 */
#include <ctype.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/directory.h"
#include "event/pmu.h"
#include "event/pmu_terms.h"

#define NAME_MAX_BYTES 256

/* base, or base_<digits> */
static bool instance_of(const char *pmu, struct event_slice base)
{
	if (strncmp(pmu, base.at, base.n) || strlen(pmu) < base.n + 2 || pmu[base.n] != '_')
		return false;
	for (const char *p = pmu + base.n + 1; *p; p++)
		if (!isdigit((unsigned char)*p))
			return false;
	return true;
}

static bool meant(struct event_grammar *g, const char *pmu, struct event_slice name)
{
	static const char prefix[] = "uncore_";
	const char *rest = !strncmp(pmu, prefix, strlen(prefix)) ? pmu + strlen(prefix) : pmu;
	char pattern[NAME_MAX_BYTES];

	(void)g;
	if (!event_slice_has_glob(name))
		return instance_of(pmu, name) || instance_of(rest, name) ||
		       event_slice_is(name, rest);
	return event_slice_file_name(name, pattern, sizeof(pattern)) &&
	       (!fnmatch(pattern, pmu, 0) || !fnmatch(pattern, rest, 0));
}

static enum status pmu_check(struct event_grammar *g, const struct event_pmu *pmu,
			     struct event_slice at)
{
	struct event_shown name;

	event_show(&name, event_slice_of(pmu->name));
	if (!pmu->type_known)
		return event_refuse(g, STATUS_CORRUPT, at,
				    "PMU %s has no number in %s/bus/event_source/devices/%s/type",
				    name.text, g->sysfs, name.text);
	if (pmu->has_cpus && !pmu->n_cpus)
		return event_refuse(g, STATUS_UNSUPPORTED, at, "PMU %s has no CPU that is online",
				    name.text);
	return STATUS_OK;
}

static enum status one_add(struct event_grammar *g, const struct event_pmus *pmus,
			   const struct event_pmu *pmu, struct event_slice at,
			   const struct event_terms *terms)
{
	enum status status = pmu_check(g, pmu, at);
	struct event *event;

	if (status != STATUS_OK)
		return status;
	status = event_add(g, &event);
	if (status != STATUS_OK)
		return status;
	status = event_pmu_encode(g, pmu, terms, event);
	if (status == STATUS_OK && !event_pmu_lend_cpus(event, pmus, pmu))
		status = event_no_memory(g);
	if (status != STATUS_OK)
		event_take_back(g);
	return status;
}

/* Failures that only say "not on this PMU". */
static bool passable(enum status status)
{
	return status == STATUS_USAGE || status == STATUS_CORRUPT || status == STATUS_UNSUPPORTED;
}

/* One event on each PMU that `chosen` picks; the first reason when it works on none. */
static enum status each_add(struct event_grammar *g, const struct event_pmus *pmus,
			    bool (*chosen)(struct event_grammar *g, const char *pmu,
					   struct event_slice name),
			    struct event_slice name, const struct event_terms *terms)
{
	enum status status = STATUS_NOT_FOUND;
	struct error *const told = g->error;
	struct error first = { 0 }, later = { 0 };
	bool added = false;

	for (size_t i = 0; i < pmus->n; i++) {
		enum status one;

		if (!chosen(g, pmus->at[i].name, name))
			continue;
		g->error = first.status == STATUS_OK ? &first : &later;
		one = one_add(g, pmus, &pmus->at[i], name, terms);
		added |= one == STATUS_OK;
		if (status == STATUS_NOT_FOUND || (one != STATUS_OK && !passable(one)))
			status = one;
		if (one != STATUS_OK && !passable(one)) {
			added = false;
			first = *g->error;
			break;
		}
	}
	g->error = told;
	if (!added && status != STATUS_NOT_FOUND && told)
		*told = first;
	return added ? STATUS_OK : status;
}

enum status event_pmu_add(struct event_grammar *g, struct event_slice name,
			  const struct event_terms *terms)
{
	const struct event_pmus *pmus = event_pmus_get(g);
	const struct event_pmu *exact;

	if (!pmus)
		return STATUS_NO_MEMORY;
	exact = event_pmus_find(pmus, name);
	if (exact)
		return one_add(g, pmus, exact, name, terms);
	return each_add(g, pmus, meant, name, terms);
}

bool event_pmu_is_alias(const char *name)
{
	static const char *const attributes[] = { ".scale", ".unit", ".per-pkg", ".snapshot" };
	const size_t n = strlen(name);

	for (size_t i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++) {
		const size_t suffix = strlen(attributes[i]);

		if (n > suffix && !strcmp(name + n - suffix, attributes[i]))
			return false;
	}
	return name[0] != '.';
}

static bool has_alias(struct event_grammar *g, const char *pmu, struct event_slice name)
{
	char file[NAME_MAX_BYTES], *text;
	bool found;

	if (!event_slice_file_name(name, file, sizeof(file)) || !event_pmu_is_alias(file))
		return false;
	text = event_pmu_file(g, pmu, "events", file);
	found = text;
	free(text);
	return found;
}

enum status event_pmu_add_alias(struct event_grammar *g, struct event_slice name,
				const struct event_terms *terms)
{
	const struct event_pmus *pmus = event_pmus_get(g);
	struct event_terms all = { .n = 1 };

	if (!pmus)
		return STATUS_NO_MEMORY;
	all.at[0] = (struct event_term){ .name = name, .is_number = true, .number = 1 };
	if (terms->n == EVENT_TERMS_MAX)
		return STATUS_NOT_FOUND;
	for (size_t i = 0; i < terms->n; i++)
		all.at[all.n++] = terms->at[i];
	return each_add(g, pmus, has_alias, name, &all);
}

void event_pmu_offer(struct event_grammar *g, struct event_near *near)
{
	const struct event_pmus *pmus = event_pmus_get(g);

	for (size_t i = 0; pmus && i < pmus->n; i++) {
		struct directory aliases;
		char path[EVENT_PATH_MAX];

		snprintf(path, sizeof(path), "%s/bus/event_source/devices/%s/events", g->sysfs,
			 pmus->at[i].name);
		if (directory_list(&aliases, g->sys, AT_FDCWD, path, EVENT_NAMES_MAX, NULL) !=
		    STATUS_OK)
			continue;
		for (size_t k = 0; k < aliases.n; k++)
			if (event_pmu_is_alias(aliases.names[k]))
				event_near_offer(near, aliases.names[k]);
		directory_release(&aliases);
	}
}
