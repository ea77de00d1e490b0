/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The grammar itself, by recursive descent over one -e argument:
 *
 *	list      = item { "," item }
 *	item      = [NAME] "{" event { "," event } "}" [":" MODIFIERS]  |  event
 *	event     = "mem:" ADDRESS ["/" LENGTH] [":" ACCESS] [":" MODIFIERS]
 *	          | WORD "/" [TERMS] "/" [[":"] MODIFIERS]
 *	          | WORD [":" MODIFIERS]
 *	WORD      = one of, tried in this order (resolve.c):
 *	            PMU (before slashes only), numbered name, rHEX, TYPE:CONFIG, alias of a PMU,
 *	            SYSTEM:TRACEPOINT, vendor's name
 *
 * Events are parsed into a list of their own, which joins the caller's only when all went well.
 * Source: tools/perf/util/parse-events.l and .y.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "event/breakpoint.h"
#include "event/group.h"
#include "event/modifier.h"
#include "event/pmu.h"
#include "event/resolve.h"
#include "event/term.h"

struct parser {
	struct event_grammar g;
	const char *at;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void blanks_skip(struct parser *p)
{
	while (is_blank(*p->at))
		p->at++;
}

/* Bytes up to one of `stops`, a blank or the end. */
static struct event_slice take_until(struct parser *p, const char *stops)
{
	struct event_slice slice = { p->at, 0 };

	while (*p->at && !is_blank(*p->at) && !strchr(stops, *p->at))
		p->at++;
	slice.n = (size_t)(p->at - slice.at);
	return slice;
}

static struct event_slice here(const struct parser *p)
{
	return (struct event_slice){ p->at, *p->at ? 1 : 0 };
}

static enum status unexpected(struct parser *p, const char *wanted)
{
	struct event_shown shown;

	if (!*p->at)
		return event_refuse(&p->g, STATUS_USAGE, here(p),
				    "the text ends where %s is expected", wanted);
	return event_refuse(&p->g, STATUS_USAGE, here(p), "'%s' where %s is expected",
			    event_show(&shown, here(p)), wanted);
}

/* The text between slashes; p->at is behind the first and ends behind the second. Slashes in quotes
 * do not count. */
static enum status terms_take(struct parser *p, struct event_slice *terms)
{
	const char *open = p->at - 1;
	bool quoted = false;

	terms->at = p->at;
	for (; *p->at; p->at++) {
		if (*p->at == '\'')
			quoted = !quoted;
		if (*p->at == '/' && !quoted)
			break;
	}
	terms->n = (size_t)(p->at - terms->at);
	if (!*p->at)
		return event_refuse(&p->g, STATUS_USAGE, (struct event_slice){ open, 1 },
				    "the terms have no closing '/'");
	p->at++;
	return STATUS_OK;
}

/* Gives the events from `first` on what was typed for them, and the modifiers. */
static enum status finish(struct parser *p, size_t first, struct event_slice asked,
			  struct event_slice letters)
{
	struct event_modifiers modifiers;
	enum status status = event_modifiers_parse(&modifiers, &p->g, letters);

	for (size_t i = first; i < p->g.list->n && status == STATUS_OK; i++) {
		struct event *event = &p->g.list->events[i];

		event_classify(event);
		event->asked = strndup(asked.at, asked.n);
		if (!event->asked || !event_modifiers_apply(&modifiers, event, false, true))
			status = event_no_memory(&p->g);
	}
	return status;
}

static enum status event_take(struct parser *p)
{
	const size_t first = p->g.list->n;
	struct event_slice asked = { p->at, 0 }, word, letters, inside;
	struct event_terms terms = { .n = 0 };
	enum status status = STATUS_OK;

	if (!strncmp(p->at, "mem:", 4)) {
		p->at += 4;
		status = event_breakpoint_add(&p->g, take_until(p, ",{}"), &letters);
	} else {
		word = take_until(p, ",{}/");
		if (!word.n)
			return unexpected(p, "an event");
		if (*p->at == '/') {
			p->at++;
			status = terms_take(p, &inside);
			if (status == STATUS_OK)
				status = event_terms_parse(&terms, &p->g, inside);
			if (status != STATUS_OK)
				return status;
			letters = take_until(p, ",{}/");
			if (letters.n > 1 && *letters.at == ':')
				letters = (struct event_slice){ letters.at + 1, letters.n - 1 };
			status = event_resolve_with_terms(&p->g, word, &terms);
		} else {
			status = event_resolve(&p->g, word, &letters);
		}
	}
	asked.n = (size_t)(p->at - asked.at);
	return status == STATUS_OK ? finish(p, first, asked, letters) : status;
}

static enum status group_finish(struct parser *p, size_t first, const size_t *members,
				size_t n_members)
{
	struct event_slice letters = here(p);
	struct event_modifiers modifiers;
	enum status status;

	letters.n = 0;
	if (*p->at == ':') {
		p->at++;
		letters = take_until(p, ",{}/");
		if (!letters.n)
			return unexpected(p, "a modifier");
	}
	status = event_modifiers_parse(&modifiers, &p->g, letters);
	if (status == STATUS_OK)
		status = event_group_form(&p->g, first, members, n_members);
	for (size_t i = first; i < p->g.list->n && status == STATUS_OK; i++) {
		struct event *event = &p->g.list->events[i];
		const bool leader = i == first || event->group != event[-1].group;

		if (!leader)
			event->attr.pinned = event->attr.exclusive = 0;
		if (!event_modifiers_apply(&modifiers, event, true, leader))
			status = event_no_memory(&p->g);
	}
	return status;
}

/* p->at is behind the opening brace. */
static enum status group_take(struct parser *p)
{
	const char *open = p->at - 1;
	const size_t first = p->g.list->n;
	size_t *members = NULL, n_members = 0, capacity = 0;
	enum status status;

	for (;;) {
		if (!array_reserve(&members, &capacity, n_members + 1)) {
			status = event_no_memory(&p->g);
			break;
		}
		members[n_members++] = p->g.list->n;
		blanks_skip(p);
		status = event_take(p);
		blanks_skip(p);
		if (status != STATUS_OK || *p->at != ',')
			break;
		p->at++;
	}
	if (status == STATUS_OK && !*p->at)
		status = event_refuse(&p->g, STATUS_USAGE, (struct event_slice){ open, 1 },
				      "the group has no closing '}'");
	else if (status == STATUS_OK && *p->at != '}')
		status = unexpected(p, "',' or '}'");
	if (status == STATUS_OK) {
		p->at++;
		status = group_finish(p, first, members, n_members);
	}
	free(members);
	return status;
}

/* A group may have a name in front, which perf shows nowhere that matters; it is passed over. */
static enum status item_take(struct parser *p)
{
	const char *start = p->at;

	blanks_skip(p);
	take_until(p, ",{}/:");
	if (*p->at == '{') {
		p->at++;
		return group_take(p);
	}
	p->at = start;
	blanks_skip(p);
	return event_take(p);
}

static enum status list_take(struct parser *p)
{
	for (;;) {
		enum status status = item_take(p);

		if (status != STATUS_OK)
			return status;
		blanks_skip(p);
		if (!*p->at)
			return STATUS_OK;
		if (*p->at != ',')
			return unexpected(p, "','");
		p->at++;
	}
}

/* Moves what was parsed behind what the caller has, group numbers shifted. */
static enum status list_join(struct event_list *list, struct event_list *parsed,
			     struct event_grammar *g)
{
	if (list->n + parsed->n > EVENT_MAX)
		return error_set(g->error, STATUS_LIMIT,
				 "more than %d events: name fewer, or narrow the glob", EVENT_MAX);
	if (!array_reserve(&list->events, &list->capacity, list->n + parsed->n))
		return event_no_memory(g);
	for (size_t i = 0; i < parsed->n; i++) {
		if (parsed->events[i].group >= 0)
			parsed->events[i].group += list->n_groups;
		list->events[list->n++] = parsed->events[i];
	}
	list->n_groups += parsed->n_groups;
	parsed->n = 0;
	return STATUS_OK;
}

enum status event_parse(struct event_list *list, const struct sys *sys,
			const struct event_roots *roots, const char *text, struct error *error)
{
	struct event_list parsed;
	struct parser p = {
		.g = { .sys = sys,
		       .sysfs = roots && roots->sysfs ? roots->sysfs : "/sys",
		       .tracefs = roots ? roots->tracefs : NULL,
		       .text = text,
		       .list = &parsed,
		       .error = error },
		.at = text,
	};
	enum status status;

	event_list_init(&parsed);
	if (strnlen(text, EVENT_TEXT_MAX + 1) > EVENT_TEXT_MAX)
		return error_set(error, STATUS_LIMIT, "an event list of more than %u bytes",
				 EVENT_TEXT_MAX);
	status = list_take(&p);
	if (status == STATUS_OK)
		status = list_join(list, &parsed, &p.g);
	event_list_release(&parsed);
	event_pmus_free(p.g.pmus);
	return status;
}
