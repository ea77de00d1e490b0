/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Terms of one PMU, in three layers: config= and rNNN set whole fields; aliases, which are files of
 * terms, replace the bits they own; typed format terms replace theirs.
 *
 * perf ORs the last two layers instead, so that `mem-loads,ldlat=30` over an alias with ldlat=3 asks
 * the PMU for 31. A typed value is what the user wants: it replaces.
 */
#include "event/pmu_terms.h"

#include <stdlib.h>
#include <string.h>

#include "base/directory.h"
#include "event/format.h"

#include <fcntl.h>
#include <stdio.h>

#define NAME_MAX_BYTES 256

struct encoding {
	struct event_grammar *g;
	const struct event_pmu *pmu;
	const struct event_terms *terms;
	struct event *event;
	bool legacy;       /* a term named a numbered event */
	size_t n_own_bits; /* terms that set bits */
};

/* The file of a term in a folder of the PMU; NULL when the PMU has none. */
static char *term_file(const struct encoding *e, const struct event_term *term, const char *folder)
{
	char file[NAME_MAX_BYTES];

	if (!event_slice_file_name(term->name, file, sizeof(file)))
		return NULL;
	return event_pmu_file(e->g, e->pmu->name, folder, file);
}

static enum status config3_refuse(const struct encoding *e, struct event_slice at)
{
	return event_refuse(
		e->g, STATUS_UNSUPPORTED, at,
		"this build of assay cannot set config3: it was compiled against kernel "
		"headers before 6.3");
}

static enum status whole_fields_apply(struct encoding *e)
{
	for (size_t i = 0; i < e->terms->n; i++) {
		const struct event_term *term = &e->terms->at[i];
		const int field = event_term_field(term);
		struct event_shown shown;

		if (field < 0)
			continue;
		if (!term->has_value || !term->is_number)
			return event_refuse(e->g, STATUS_USAGE, term->name, "%s needs a number",
					    event_show(&shown, term->name));
		if (!event_field_set(&e->event->attr, (unsigned int)field, ~0ull, term->number))
			return config3_refuse(e, term->name);
		e->n_own_bits++;
	}
	return STATUS_OK;
}

/* A format's term; `at` is where the user's text led to it. */
static enum status format_apply(const struct encoding *e, const char *text,
				const struct event_term *term, struct event_slice at)
{
	struct event_shown shown, name;
	struct event_format format;

	event_show(&name, term->name);
	if (!event_format_parse(&format, event_slice_of(text)))
		return event_refuse(
			e->g, STATUS_CORRUPT, at,
			"PMU %s describes its term %s as '%s', which is no format known here",
			e->pmu->name, name.text,
			event_show(&shown, event_slice_trim(event_slice_of(text))));
	if (!term->is_number)
		return event_refuse(e->g, STATUS_USAGE, at, "%s needs a number, not '%s'",
				    name.text, event_show(&shown, term->value));
	switch (event_format_store(&format, term->number, &e->event->attr)) {
	case STATUS_OK: return STATUS_OK;
	case STATUS_UNSUPPORTED: return config3_refuse(e, at);
	default:
		return event_refuse(e->g, STATUS_USAGE, at, "%s=%#llx is too large: at most %#llx",
				    name.text, (unsigned long long)term->number,
				    (unsigned long long)event_format_maximum(&format));
	}
}

static bool typed(const struct encoding *e, struct event_slice name)
{
	for (size_t i = 0; i < e->terms->n; i++)
		if (e->terms->at[i].has_value && e->terms->at[i].name.n == name.n &&
		    !memcmp(e->terms->at[i].name.at, name.at, name.n))
			return true;
	return false;
}

static enum status alias_term_apply(const struct encoding *e, const struct event_term *term,
				    struct event_slice at)
{
	const int field = event_term_field(term);
	struct event_shown alias, name;
	enum status status;
	char *format;

	event_show(&alias, at);
	event_show(&name, term->name);
	if (event_slice_is(term->value, "?")) {
		if (typed(e, term->name))
			return STATUS_OK;
		return event_refuse(e->g, STATUS_USAGE, at, "%s/%s/ needs %s=VALUE as well",
				    e->pmu->name, alias.text, name.text);
	}
	if (field >= 0 && term->is_number)
		return event_field_set(&e->event->attr, (unsigned int)field, ~0ull, term->number)
			       ? STATUS_OK
			       : config3_refuse(e, at);
	format = term_file(e, term, "format");
	if (!format)
		return event_refuse(e->g, STATUS_CORRUPT, at,
				    "PMU %s: its alias %s uses the term %s, which it does not have",
				    e->pmu->name, alias.text, name.text);
	status = format_apply(e, format, term, at);
	free(format);
	return status;
}

static enum status alias_apply(const struct encoding *e, const char *text, struct event_slice at)
{
	struct event_terms terms;
	struct event_shown shown;

	if (!event_terms_parse_file(&terms, event_slice_of(text)))
		return event_refuse(e->g, STATUS_CORRUPT, at,
				    "PMU %s: its alias %s is not a list of terms", e->pmu->name,
				    event_show(&shown, at));
	for (size_t i = 0; i < terms.n; i++) {
		enum status status = alias_term_apply(e, &terms.at[i], at);

		if (status != STATUS_OK)
			return status;
	}
	return STATUS_OK;
}

/* cpu_core/cycles/, software/cpu-clock/: the kernel's own numbers on one PMU. */
static bool legacy_apply(struct encoding *e, const struct event_term *term)
{
	struct perf_event_attr *attr = &e->event->attr;
	struct event_legacy legacy;

	if (term->has_value || !event_legacy_find(&legacy, term->name))
		return false;
	if (legacy.type == PERF_TYPE_SOFTWARE ? e->pmu->type != PERF_TYPE_SOFTWARE : !e->pmu->core)
		return false;
	attr->type = legacy.type;
	attr->config = legacy.config;
	if (e->pmu->core && event_pmus_get(e->g)->n_core > 1)
		attr->config |= (uint64_t)e->pmu->type << 32;
	e->legacy = true;
	return true;
}

static void folder_offer(const struct encoding *e, const char *folder, struct event_near *near)
{
	struct directory names;
	char path[EVENT_PATH_MAX];

	snprintf(path, sizeof(path), "%s/bus/event_source/devices/%s/%s", e->g->sysfs, e->pmu->name,
		 folder);
	if (directory_list(&names, e->g->sys, AT_FDCWD, path, EVENT_NAMES_MAX, NULL) != STATUS_OK)
		return;
	for (size_t i = 0; i < names.n; i++)
		if (event_pmu_is_alias(names.names[i]))
			event_near_offer(near, names.names[i]);
	directory_release(&names);
}

static enum status term_unknown(const struct encoding *e, const struct event_term *term)
{
	struct event_near near;
	struct event_shown shown;
	const char *use;
	enum status status;

	if (event_term_role(term, &use) == EVENT_TERM_WHOLE)
		return event_refuse(e->g, STATUS_UNSUPPORTED, term->name,
				    "'%s' cannot be set for one event: %s",
				    event_show(&shown, term->name), use);
	event_near_init(&near, term->name);
	folder_offer(e, "format", &near);
	folder_offer(e, "events", &near);
	for (int i = 0; i < 6; i++)
		event_near_offer(&near, (const char *const[]){ "config", "config1", "config2",
							       "period", "freq", "name" }[i]);
	status = event_refuse(e->g, STATUS_USAGE, term->name, "PMU %s knows no term or event '%s'",
			      e->pmu->name, event_show(&shown, term->name));
	event_near_tell(e->g, &near);
	if (!near.n)
		event_refuse_more(e->g, ": see %s/bus/event_source/devices/%s/format and events",
				  e->g->sysfs, e->pmu->name);
	return status;
}

/* The layer of aliases, numbered events and rNNN. */
static enum status named_apply(struct encoding *e, const struct event_term *term)
{
	const struct event_slice digits = { term->name.at + 1, term->name.n - 1 };
	uint64_t raw;
	char *alias = term_file(e, term, "events");

	e->n_own_bits++;
	if (alias && !term->has_value && !event_slice_has_glob(term->name)) {
		enum status status = alias_apply(e, alias, term->name);

		free(alias);
		return status;
	}
	free(alias);
	if (!term->has_value && term->name.at[0] == 'r' && event_slice_hex(digits, &raw)) {
		e->event->attr.config = raw;
		return STATUS_OK;
	}
	return legacy_apply(e, term) ? STATUS_OK : term_unknown(e, term);
}

static enum status layer_apply(struct encoding *e, bool formats)
{
	for (size_t i = 0; i < e->terms->n; i++) {
		const struct event_term *term = &e->terms->at[i];
		enum status status = STATUS_OK;
		const char *use;
		char *format;

		if (event_term_role(term, &use) == EVENT_TERM_OWN)
			continue;
		format = term_file(e, term, "format");
		if (formats && format) {
			status = format_apply(e, format, term, term->name);
			e->n_own_bits++;
		} else if (!formats && !format) {
			status = named_apply(e, term);
		}
		free(format);
		if (status != STATUS_OK)
			return status;
	}
	return STATUS_OK;
}

static enum status repeats_refuse(const struct encoding *e)
{
	for (size_t i = 1; i < e->terms->n; i++)
		for (size_t k = 0; k < i; k++) {
			const struct event_slice a = e->terms->at[i].name, b = e->terms->at[k].name;
			struct event_shown shown;

			if (a.n == b.n && !memcmp(a.at, b.at, a.n))
				return event_refuse(e->g, STATUS_USAGE, a, "'%s' is given twice",
						    event_show(&shown, a));
		}
	return STATUS_OK;
}

/* "pmu/event=0x3c,umask=0x1/": the terms as typed, without those that are about the rate or the
 * label. */
static bool encoding_name(const struct encoding *e)
{
	char *terms = calloc(1, 1);
	bool ok = terms;

	for (size_t i = 0; ok && i < e->terms->n; i++) {
		const struct event_term *term = &e->terms->at[i];
		const char *use;
		char *longer = NULL;

		if (event_term_role(term, &use) == EVENT_TERM_OWN && event_term_field(term) < 0)
			continue;
		ok = asprintf(&longer, "%s%s%.*s%s%.*s", terms, *terms ? "," : "",
			      (int)term->name.n, term->name.at, term->has_value ? "=" : "",
			      (int)term->value.n, term->has_value ? term->value.at : "") >= 0;
		if (ok) {
			free(terms);
			terms = longer;
		}
	}
	ok = ok && event_name(e->event, "%s/%s/", e->pmu->name, terms);
	free(terms);
	return ok;
}

enum status event_pmu_encode(struct event_grammar *g, const struct event_pmu *pmu,
			     const struct event_terms *terms, struct event *event)
{
	struct encoding e = { .g = g, .pmu = pmu, .terms = terms, .event = event };
	enum status status = repeats_refuse(&e);

	event->attr.type = pmu->type;
	if (status == STATUS_OK)
		status = whole_fields_apply(&e);
	if (status == STATUS_OK)
		status = layer_apply(&e, false);
	if (status == STATUS_OK)
		status = layer_apply(&e, true);
	if (status == STATUS_OK)
		status = event_terms_apply_own(terms, g, event);
	if (status == STATUS_OK && e.legacy && e.n_own_bits > 1)
		status = event_refuse(
			g, STATUS_USAGE, terms->at[0].name,
			"a numbered event of PMU %s takes no further terms but period=, "
			"freq= and name=",
			pmu->name);
	if (status == STATUS_OK && !encoding_name(&e))
		status = event_no_memory(g);
	return status;
}
