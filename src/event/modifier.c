/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Modifiers u k h G H p P S D I W e b, with the meaning that perf 6.1 to 6.12 give them
 * (parse_events__modifier_event in tools/perf/util/parse-events.c, perf-list(1)).
 *
 * One side effect is perf's and is kept, so that equal words open equal events: an event's own
 * modifiers replace exclude_guest as well, so `cycles:k` counts guests while `cycles` and `cycles:u` do
 * not. `:G` and `:H` say it explicitly. `:b` chooses how perf stat counts; it is taken and changes
 * nothing, as in perf record.
 */
#include "event/modifier.h"

#include <string.h>

#define LETTERS "ukhGHpPSDIWeb"

bool event_modifiers_are(struct event_slice letters)
{
	for (size_t i = 0; i < letters.n; i++)
		if (!letters.at[i] || !strchr(LETTERS, letters.at[i]))
			return false;
	return letters.n > 0;
}

/* The flag of a letter other than p; NULL for letters that are no modifiers. */
static bool *flag_of(struct event_modifiers *m, char letter)
{
	switch (letter) {
	case 'u': return &m->user;
	case 'k': return &m->kernel;
	case 'h': return &m->hypervisor;
	case 'G': return &m->guest;
	case 'H': return &m->host;
	case 'P': return &m->precise_max;
	case 'S': return &m->group_read;
	case 'D': return &m->pinned;
	case 'W': return &m->weak;
	case 'I': return &m->exclude_idle;
	case 'e': return &m->exclusive;
	case 'b': return &m->bpf;
	default: return NULL;
	}
}

static enum status letter_refuse(struct event_grammar *g, struct event_slice at)
{
	struct event_shown shown;

	if (*at.at == 'R' || *at.at == 'X')
		return event_refuse(g, STATUS_UNSUPPORTED, at,
				    "modifier '%c' is for perf stat, not for sampling", *at.at);
	return event_refuse(
		g, STATUS_USAGE, at,
		"unknown modifier '%s': known are u k h (user, kernel, hypervisor), G H "
		"(guest, host), p pp ppp P (precise), S D I W e b",
		event_show(&shown, at));
}

enum status event_modifiers_parse(struct event_modifiers *modifiers, struct event_grammar *g,
				  struct event_slice letters)
{
	*modifiers = (struct event_modifiers){ .any = letters.n > 0 };
	for (size_t i = 0; i < letters.n; i++) {
		const struct event_slice at = { letters.at + i, 1 };
		bool *flag = flag_of(modifiers, *at.at);

		if (*at.at == 'p') {
			if (++modifiers->precise > 3)
				return event_refuse(g, STATUS_USAGE, at,
						    "at most ppp: precise_ip ends at 3");
			continue;
		}
		if (!flag)
			return letter_refuse(g, at);
		if (*flag)
			return event_refuse(g, STATUS_USAGE, at, "modifier '%c' is given twice",
					    *at.at);
		*flag = true;
	}
	return STATUS_OK;
}

/* u, k and h name what is counted: the first of them excludes the rest. */
static void privilege_apply(const struct event_modifiers *m, struct perf_event_attr *attr)
{
	if (!m->user && !m->kernel && !m->hypervisor)
		return;
	if (!attr->exclude_user && !attr->exclude_kernel && !attr->exclude_hv)
		attr->exclude_user = attr->exclude_kernel = attr->exclude_hv = 1;
	if (m->user)
		attr->exclude_user = 0;
	if (m->kernel)
		attr->exclude_kernel = 0;
	if (m->hypervisor)
		attr->exclude_hv = 0;
}

static void guest_apply(const struct event_modifiers *m, struct event *event)
{
	struct perf_event_attr *attr = &event->attr;

	if (m->guest || m->host) {
		if (!event->guest_typed)
			attr->exclude_guest = attr->exclude_host = 1;
		event->guest_typed = true;
		if (m->guest)
			attr->exclude_guest = 0;
		if (m->host)
			attr->exclude_host = 0;
	} else if (!event->guest_typed && (m->user || m->precise)) {
		attr->exclude_guest = 1;
	}
}

bool event_modifiers_apply(const struct event_modifiers *modifiers, struct event *event,
			   bool adding, bool leader)
{
	struct perf_event_attr *attr = &event->attr;

	if (!modifiers->any)
		return event_grant(event);
	if (!adding && !event->guest_typed)
		attr->exclude_guest = 0;
	privilege_apply(modifiers, attr);
	guest_apply(modifiers, event);
	if (modifiers->precise_max) {
		event->precise_max = true;
		attr->precise_ip = 3;
	} else if (modifiers->precise) {
		const unsigned int sum = attr->precise_ip + modifiers->precise;

		attr->precise_ip = sum < 3 ? sum & 3 : 3;
	}
	event->group_read |= modifiers->group_read;
	event->group_weak |= modifiers->weak;
	attr->exclude_idle |= modifiers->exclude_idle;
	attr->pinned |= modifiers->pinned && leader;
	attr->exclusive |= modifiers->exclusive && leader;
	return event_grant(event);
}
