/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "record/tracing_data.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define FORMAT_MAX_BYTES (1024u * 1024)

struct bytes_out {
	char *data;
	size_t size, capacity;
	bool failed;
};

static void put(struct bytes_out *out, const void *data, size_t size)
{
	if (out->failed || !array_reserve(&out->data, &out->capacity, out->size + size)) {
		out->failed = true;
		return;
	}
	memcpy(out->data + out->size, data, size);
	out->size += size;
}

static void put_u32(struct bytes_out *out, uint32_t value)
{
	put(out, &value, sizeof(value));
}

static void put_u64(struct bytes_out *out, uint64_t value)
{
	put(out, &value, sizeof(value));
}

/* u64 size | text of <tracefs>/events/<name>; size 0 when it cannot be read. */
static void put_file(struct bytes_out *out, const struct sys *sys, const char *name)
{
	static const char *const places[] = { "/sys/kernel/tracing/events/",
					      "/sys/kernel/debug/tracing/events/" };

	for (int i = 0; i < 2; i++) {
		char path[512], *text;
		size_t size;

		if (snprintf(path, sizeof(path), "%s%s", places[i], name) >= (int)sizeof(path) ||
		    sys_read_file(sys, AT_FDCWD, path, FORMAT_MAX_BYTES, &text, &size, NULL) !=
			    STATUS_OK)
			continue;
		put_u64(out, size);
		put(out, text, size);
		free(text);
		return;
	}
	put_u64(out, 0);
}

/* "system:event" -> its parts; false for what is no tracepoint, or one that came before. */
static bool tracepoint_split(const struct event_list *events, size_t index, char system[128],
			     const char **name)
{
	const struct event *event = &events->events[index];
	const char *colon = strchr(event->name, ':');

	if (event->kind != EVENT_TRACEPOINT || !colon || colon - event->name >= 128)
		return false;
	for (size_t i = 0; i < index; i++)
		if (events->events[i].kind == EVENT_TRACEPOINT &&
		    events->events[i].attr.config == event->attr.config)
			return false;
	memcpy(system, event->name, (size_t)(colon - event->name));
	system[colon - event->name] = '\0';
	*name = colon + 1;
	return true;
}

/* Each event as a system of its own: perf puts them together again. */
static void put_events(struct bytes_out *out, const struct sys *sys,
		       const struct event_list *events)
{
	char system[128], path[384];
	const char *name;
	uint32_t n = 0;

	for (size_t i = 0; i < events->n; i++)
		n += tracepoint_split(events, i, system, &name);
	put_u32(out, n);
	for (size_t i = 0; i < events->n; i++) {
		if (!tracepoint_split(events, i, system, &name))
			continue;
		put(out, system, strlen(system) + 1);
		put_u32(out, 1);
		snprintf(path, sizeof(path), "%s/%.200s/format", system, name);
		put_file(out, sys, path);
	}
}

enum status tracing_data_make(void **data, size_t *size, const struct sys *sys,
			      const struct event_list *events, struct error *error)
{
	static const char magic[] = "\x17\x08\x44tracing";
	const unsigned char machine[] = { __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, sizeof(long) };
	struct bytes_out out = { 0 };
	bool any = false;

	*data = NULL;
	*size = 0;
	for (size_t i = 0; i < events->n; i++)
		any |= events->events[i].kind == EVENT_TRACEPOINT;
	if (!any)
		return STATUS_OK;
	put(&out, magic, strlen(magic));
	put(&out, "0.6", 4);
	put(&out, machine, sizeof(machine));
	put_u32(&out, (uint32_t)sys->page_size(sys->state));
	put(&out, "header_page", 12);
	put_file(&out, sys, "header_page");
	put(&out, "header_event", 13);
	put_file(&out, sys, "header_event");
	put_u32(&out, 0);
	put_events(&out, sys, events);
	put_u32(&out, 0);
	put_u32(&out, 0);
	put_u64(&out, 0);
	if (out.failed) {
		free(out.data);
		return error_set(error, STATUS_NO_MEMORY, "no memory for the tracepoints' formats");
	}
	*data = out.data;
	*size = out.size;
	return STATUS_OK;
}
