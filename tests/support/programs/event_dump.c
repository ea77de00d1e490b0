/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Prints what the event grammar makes of each argument, as one JSON document: an array with one object
 * per argument, {text, status, error, offset, events[...]}. Opens no event, unless `--default` asks
 * for the default one.
 *
 *	event_dump [--sysfs DIR] [--tracefs DIR] [--default | TEXT...]
 */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "event/event.h"

static json_t *text_or_null(const char *text)
{
	json_t *string = text ? json_string(text) : json_null();

	return string ? string : json_string("(not UTF-8)");
}

static void flags_add(json_t *object, const struct perf_event_attr *attr)
{
	json_object_set_new(object, "exclude_user", json_integer(attr->exclude_user));
	json_object_set_new(object, "exclude_kernel", json_integer(attr->exclude_kernel));
	json_object_set_new(object, "exclude_hv", json_integer(attr->exclude_hv));
	json_object_set_new(object, "exclude_idle", json_integer(attr->exclude_idle));
	json_object_set_new(object, "exclude_host", json_integer(attr->exclude_host));
	json_object_set_new(object, "exclude_guest", json_integer(attr->exclude_guest));
	json_object_set_new(object, "precise_ip", json_integer(attr->precise_ip));
	json_object_set_new(object, "pinned", json_integer(attr->pinned));
	json_object_set_new(object, "exclusive", json_integer(attr->exclusive));
	json_object_set_new(object, "freq", json_integer(attr->freq));
}

/* 64-bit numbers as hexadecimal strings: JSON readers may keep 53 bits only. */
static void number_add(json_t *object, const char *key, unsigned long long value)
{
	char text[32];

	snprintf(text, sizeof(text), "%#llx", value);
	json_object_set_new(object, key, json_string(text));
}

static json_t *event_json(const struct event *event)
{
	static const char *const kinds[] = { "clock",      "software",   "hardware",
					     "tracepoint", "breakpoint", "dummy" };
	json_t *object = json_object(), *cpus = event->cpus ? json_array() : json_null();

	json_object_set_new(object, "asked", text_or_null(event->asked));
	json_object_set_new(object, "granted", text_or_null(event->granted));
	json_object_set_new(object, "name", text_or_null(event->name));
	json_object_set_new(object, "label", text_or_null(event->label));
	json_object_set_new(object, "why", text_or_null(event->why));
	json_object_set_new(object, "unit", text_or_null(event->unit));
	json_object_set_new(object, "kind", json_string(kinds[event->kind]));
	number_add(object, "type", event->attr.type);
	number_add(object, "config", event->attr.config);
	number_add(object, "config1", event->attr.config1);
	number_add(object, "config2", event->attr.config2);
	number_add(object, "bp_type", event->attr.bp_type);
	number_add(object, "period", event->attr.sample_period);
	flags_add(object, &event->attr);
	json_object_set_new(object, "group", json_integer(event->group));
	json_object_set_new(object, "group_read", json_boolean(event->group_read));
	json_object_set_new(object, "precise_max", json_boolean(event->precise_max));
	for (size_t i = 0; event->cpus && i < event->n_cpus; i++)
		json_array_append_new(cpus, json_integer(event->cpus[i]));
	json_object_set_new(object, "cpus", cpus);
	return object;
}

static json_t *outcome_json(const char *text, enum status status, const struct error *error,
			    const struct event_list *list)
{
	json_t *object = json_object(), *events = json_array();

	json_object_set_new(object, "text", text_or_null(text));
	json_object_set_new(object, "status", json_integer(status));
	json_object_set_new(object, "error",
			    text_or_null(status == STATUS_OK ? NULL : error->text));
	json_object_set_new(object, "offset",
			    status == STATUS_OK || error->offset == ERROR_NO_OFFSET
				    ? json_null()
				    : json_integer((json_int_t)error->offset));
	for (size_t i = 0; i < list->n; i++)
		json_array_append_new(events, event_json(&list->events[i]));
	json_object_set_new(object, "events", events);
	return object;
}

static json_t *text_json(const struct event_roots *roots, const char *text)
{
	struct error error = { .offset = ERROR_NO_OFFSET };
	struct event_list list;
	enum status status;
	json_t *json;

	event_list_init(&list);
	status = text ? event_parse(&list, sys_real(), roots, text, &error)
		      : event_default(&list, sys_real(), false, &error);
	json = outcome_json(text, status, &error, &list);
	event_list_release(&list);
	return json;
}

int main(int argc, char **argv)
{
	struct event_roots roots = { 0 };
	json_t *all = json_array();
	int i = 1;

	for (; i + 1 < argc && !strncmp(argv[i], "--", 2); i += 2) {
		if (!strcmp(argv[i], "--sysfs"))
			roots.sysfs = argv[i + 1];
		else if (!strcmp(argv[i], "--tracefs"))
			roots.tracefs = argv[i + 1];
		else
			break;
	}
	if (i < argc && !strcmp(argv[i], "--default"))
		json_array_append_new(all, text_json(&roots, NULL));
	else
		for (; i < argc; i++)
			json_array_append_new(all, text_json(&roots, argv[i]));
	json_dumpf(all, stdout, JSON_INDENT(1));
	printf("\n");
	json_decref(all);
	return 0;
}
