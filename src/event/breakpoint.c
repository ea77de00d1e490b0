/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Defaults as parse_events_add_breakpoint of tools/perf/util/parse-events.c.
 */
#include "event/breakpoint.h"

#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <string.h>

static bool is_access(struct event_slice letters)
{
	for (size_t i = 0; i < letters.n; i++)
		if (letters.at[i] != 'r' && letters.at[i] != 'w' && letters.at[i] != 'x')
			return false;
	return letters.n > 0;
}

static enum status access_read(struct event_grammar *g, struct event_slice letters, uint32_t *type)
{
	*type = 0;
	for (size_t i = 0; i < letters.n; i++) {
		const uint32_t one = letters.at[i] == 'r'   ? HW_BREAKPOINT_R
				     : letters.at[i] == 'w' ? HW_BREAKPOINT_W
							    : HW_BREAKPOINT_X;

		if (*type & one)
			return event_refuse(g, STATUS_USAGE,
					    (struct event_slice){ letters.at + i, 1 },
					    "access '%c' is given twice", letters.at[i]);
		*type |= one;
	}
	return STATUS_OK;
}

static enum status length_read(struct event_grammar *g, struct event_slice text, uint64_t *length)
{
	struct event_shown shown;

	if (event_slice_number(text, length) && *length >= 1 && *length <= 8)
		return STATUS_OK;
	return event_refuse(g, STATUS_USAGE, text,
			    "'%s' is no length of a breakpoint: 1 to 8 bytes",
			    event_show(&shown, text));
}

static bool breakpoint_name(struct event *event, bool length_typed)
{
	const uint32_t type = event->attr.bp_type;
	char length[16] = "";

	if (length_typed)
		snprintf(length, sizeof(length), "/%u", (unsigned int)event->attr.bp_len);
	return event_name(event, "mem:%#llx%s:%s%s%s", (unsigned long long)event->attr.bp_addr,
			  length, type & HW_BREAKPOINT_R ? "r" : "",
			  type & HW_BREAKPOINT_W ? "w" : "", type & HW_BREAKPOINT_X ? "x" : "");
}

/* Consumes the access letters at the front of *rest, if that is what stands there. */
static enum status access_take(struct event_grammar *g, struct event_slice *rest, uint32_t *type)
{
	struct event_slice access, after;

	*type = HW_BREAKPOINT_R | HW_BREAKPOINT_W;
	event_slice_split(*rest, ':', &access, &after);
	if (!is_access(access))
		return STATUS_OK;
	*rest = after;
	return access_read(g, access, type);
}

enum status event_breakpoint_add(struct event_grammar *g, struct event_slice text,
				 struct event_slice *modifiers)
{
	struct event_slice where, address_text, length_text;
	uint64_t address, length = HW_BREAKPOINT_LEN_4;
	struct event_shown shown;
	struct event *event;
	enum status status;
	uint32_t type;
	bool length_typed;

	event_slice_split(text, ':', &where, modifiers);
	length_typed = event_slice_split(where, '/', &address_text, &length_text);
	if (!event_slice_number(address_text, &address))
		return event_refuse(
			g, STATUS_USAGE, address_text,
			"'%s' is no address: mem:ADDRESS[/LENGTH][:rwx], 0x for hexadecimal",
			event_show(&shown, address_text));
	status = access_take(g, modifiers, &type);
	if (status == STATUS_OK && length_typed)
		status = length_read(g, length_text, &length);
	else if (type == HW_BREAKPOINT_X)
		length = sizeof(long);
	if (status == STATUS_OK)
		status = event_add(g, &event);
	if (status != STATUS_OK)
		return status;
	event->attr.type = PERF_TYPE_BREAKPOINT;
	event->attr.bp_type = type;
	event->attr.bp_addr = address;
	event->attr.bp_len = length;
	return breakpoint_name(event, length_typed) ? STATUS_OK : event_no_memory(g);
}
