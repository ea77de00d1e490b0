/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An event and a list of them: lifecycle, and the names that follow from the attribute.
 */
#include "event/event.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "event/grammar.h"

void event_list_init(struct event_list *list)
{
	memset(list, 0, sizeof(*list));
}

void event_release(struct event *event)
{
	free(event->asked);
	free(event->granted);
	free(event->name);
	free(event->label);
	free(event->why);
	free(event->cpus);
	memset(event, 0, sizeof(*event));
}

void event_list_release(struct event_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		event_release(&list->events[i]);
	free(list->events);
	event_list_init(list);
}

/* exclude_guest as perf 6.1 sets it on events without modifiers: a profile of a host that runs virtual
 * machines does not charge their time to the process that hosts them. */
enum status event_add(struct event_grammar *g, struct event **event)
{
	struct event_list *list = g->list;

	if (list->n >= EVENT_MAX)
		return error_set(g->error, STATUS_LIMIT,
				 "more than %d events: name fewer, or narrow the glob", EVENT_MAX);
	if (!array_reserve(&list->events, &list->capacity, list->n + 1))
		return event_no_memory(g);
	*event = &list->events[list->n++];
	memset(*event, 0, sizeof(**event));
	(*event)->attr.size = sizeof((*event)->attr);
	(*event)->attr.exclude_guest = 1;
	(*event)->group = -1;
	return STATUS_OK;
}

void event_take_back(struct event_grammar *g)
{
	event_release(&g->list->events[--g->list->n]);
}

bool event_name(struct event *event, const char *format, ...)
{
	char *name = NULL;
	va_list args;
	int n;

	va_start(args, format);
	n = vasprintf(&name, format, args);
	va_end(args);
	if (n < 0)
		return false;
	free(event->name);
	event->name = name;
	return true;
}

static enum event_kind software_kind(uint64_t config)
{
	switch (config) {
	case PERF_COUNT_SW_CPU_CLOCK:
	case PERF_COUNT_SW_TASK_CLOCK: return EVENT_CLOCK;
	case PERF_COUNT_SW_DUMMY: return EVENT_DUMMY;
	default: return EVENT_SOFTWARE;
	}
}

void event_classify(struct event *event)
{
	switch (event->attr.type) {
	case PERF_TYPE_SOFTWARE: event->kind = software_kind(event->attr.config); break;
	case PERF_TYPE_TRACEPOINT: event->kind = EVENT_TRACEPOINT; break;
	case PERF_TYPE_BREAKPOINT: event->kind = EVENT_BREAKPOINT; break;
	default: event->kind = EVENT_HARDWARE; break;
	}
	event->unit = event->kind == EVENT_CLOCK ? "ns" : event->name;
}

/* The modifiers that say what attr says, in perf's order. At most 3 + 2 + 3 + 6 letters. */
static void modifiers_write(const struct event *event, char letters[16])
{
	const struct perf_event_attr *attr = &event->attr;
	size_t n = 0;

	if (attr->exclude_user || attr->exclude_kernel || attr->exclude_hv) {
		if (!attr->exclude_user)
			letters[n++] = 'u';
		if (!attr->exclude_kernel)
			letters[n++] = 'k';
		if (!attr->exclude_hv)
			letters[n++] = 'h';
	}
	if (event->guest_typed && !attr->exclude_guest)
		letters[n++] = 'G';
	if (event->guest_typed && !attr->exclude_host)
		letters[n++] = 'H';
	if (event->precise_max)
		letters[n++] = 'P';
	for (unsigned int i = 0; i < attr->precise_ip && !event->precise_max; i++)
		letters[n++] = 'p';
	if (event->group_read)
		letters[n++] = 'S';
	if (attr->pinned)
		letters[n++] = 'D';
	if (attr->exclude_idle)
		letters[n++] = 'I';
	if (event->group_weak)
		letters[n++] = 'W';
	if (attr->exclusive)
		letters[n++] = 'e';
	letters[n] = '\0';
}

bool event_grant(struct event *event)
{
	const size_t n = strlen(event->name);
	const bool slash = n && event->name[n - 1] == '/';
	char letters[16], *granted = NULL;

	modifiers_write(event, letters);
	if (asprintf(&granted, "%s%s%s", event->name, *letters && !slash ? ":" : "", letters) < 0)
		return false;
	free(event->granted);
	event->granted = granted;
	return true;
}
