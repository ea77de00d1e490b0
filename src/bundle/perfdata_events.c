/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bundle/perfdata_events.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

void perfdata_events_init(struct perfdata_events *events, struct strings *strings)
{
	*events = (struct perfdata_events){ .strings = strings, .last_event = PERFDATA_NO_EVENT };
}

void perfdata_events_release(struct perfdata_events *events)
{
	for (size_t i = 0; i < events->n; i++)
		free((void *)(uintptr_t)events->items[i].ids);
	free(events->items);
	free(events->layouts);
	free(events->slots);
	perfdata_events_init(events, events->strings);
}

static struct perfdata_id_slot *slot_of(const struct perfdata_events *events, uint64_t id)
{
	const size_t mask = events->n_slots - 1;
	size_t i = hash_u64(id) & mask;

	while (events->slots[i].event != PERFDATA_NO_EVENT && events->slots[i].id != id)
		i = (i + 1) & mask;
	return &events->slots[i];
}

static bool slots_reserve(struct perfdata_events *events, size_t n_ids)
{
	struct perfdata_id_slot *old = events->slots;
	const size_t n_old = events->n_slots;
	size_t n = n_old ? n_old : 64;

	while (n < 2 * n_ids)
		n *= 2;
	if (n == n_old)
		return true;
	events->slots = malloc(n * sizeof(*events->slots));
	if (!events->slots) {
		events->slots = old;
		return false;
	}
	events->n_slots = n;
	for (size_t i = 0; i < n; i++)
		events->slots[i].event = PERFDATA_NO_EVENT;
	for (size_t i = 0; i < n_old; i++)
		if (old[i].event != PERFDATA_NO_EVENT)
			*slot_of(events, old[i].id) = old[i];
	free(old);
	return true;
}

/* The first event that claims an id keeps it. */
static void ids_enter(struct perfdata_events *events, uint32_t event)
{
	const struct perfdata_event *item = &events->items[event];

	for (size_t i = 0; i < item->n_ids; i++) {
		struct perfdata_id_slot *slot = slot_of(events, item->ids[i]);

		if (slot->event != PERFDATA_NO_EVENT)
			continue;
		*slot = (struct perfdata_id_slot){ item->ids[i], event };
		events->n_ids++;
	}
	events->last_event = PERFDATA_NO_EVENT;
}

static void place_add(uint16_t *places, size_t *n, uint16_t place)
{
	for (size_t i = 0; i < *n; i++)
		if (places[i] == place)
			return;
	if (place && *n < PERFDATA_ID_PLACES_MAX)
		places[(*n)++] = place;
}

static enum status name_make(struct perfdata_events *events, struct perfdata_event *event,
			     struct error *error)
{
	char name[128];
	uint32_t string;

	perfdata_attr_name(&event->attr, name, sizeof(name));
	string = strings_add(events->strings, name);
	if (string == STRINGS_NONE)
		return error_set(error, STATUS_NO_MEMORY, "no memory for event names");
	event->name = strings_get(events->strings, string);
	return STATUS_OK;
}

static enum status limits_check(const struct perfdata_events *events, size_t n_ids,
				struct error *error)
{
	if (events->n == PERFDATA_EVENTS_MAX)
		return error_set(error, STATUS_LIMIT, "more than %u events in one file",
				 PERFDATA_EVENTS_MAX);
	if (n_ids > PERFDATA_IDS_MAX - events->n_ids)
		return error_set(error, STATUS_LIMIT, "more than %u event ids in one file",
				 PERFDATA_IDS_MAX);
	return STATUS_OK;
}

enum status perfdata_events_add(struct perfdata_events *events, const uint8_t *attr, uint32_t size,
				bool swap, const uint8_t *ids, size_t n_ids, struct error *error)
{
	struct perfdata_event event = { .attr_size = size };
	struct perfdata_layout layout;
	uint64_t *copy = NULL;
	enum status status = limits_check(events, n_ids, error);

	if (status != STATUS_OK)
		return status;
	perfdata_attr_decode(&event.attr, attr, size, swap);
	perfdata_layout_init(&layout, &event.attr);
	status = name_make(events, &event, error);
	if (status != STATUS_OK)
		return status;
	copy = malloc(n_ids * sizeof(*copy) + 1);
	if (!copy || !array_reserve(&events->items, &events->capacity, events->n + 1) ||
	    !array_reserve(&events->layouts, &events->layouts_capacity, events->n + 1) ||
	    !slots_reserve(events, events->n_ids + n_ids + 1)) {
		free(copy);
		return error_set(error, STATUS_NO_MEMORY, "no memory for %zu events",
				 events->n + 1);
	}
	for (size_t i = 0; i < n_ids; i++) {
		memcpy(&copy[i], ids + 8 * i, sizeof(*copy));
		if (swap)
			copy[i] = __builtin_bswap64(copy[i]);
	}
	event.ids = copy;
	event.n_ids = n_ids;
	events->items[events->n] = event;
	events->layouts[events->n] = layout;
	ids_enter(events, (uint32_t)events->n++);
	place_add(events->sample_places, &events->n_sample_places, layout.id_at);
	place_add(events->trailer_places, &events->n_trailer_places, layout.trailer_id);
	events->without_id |= !layout.id_at;
	return STATUS_OK;
}

enum status perfdata_events_rename(struct perfdata_events *events, size_t event, const char *name,
				   size_t length, struct error *error)
{
	uint32_t string;

	length = strnlen(name, length);
	if (event >= events->n || !length)
		return STATUS_OK;
	string = strings_add_n(events->strings, name, length);
	if (string == STRINGS_NONE)
		return error_set(error, STATUS_NO_MEMORY, "no memory for event names");
	events->items[event].name = strings_get(events->strings, string);
	return STATUS_OK;
}

uint32_t perfdata_events_find(struct perfdata_events *events, uint64_t id)
{
	if (events->last_event != PERFDATA_NO_EVENT && events->last_id == id)
		return events->last_event;
	if (!events->n_slots)
		return PERFDATA_NO_EVENT;
	events->last_id = id;
	events->last_event = slot_of(events, id)->event;
	return events->last_event;
}

static uint64_t load64(const uint8_t *at, bool swap)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return swap ? __builtin_bswap64(value) : value;
}

/* One event needs no id (perf's rule, too: perf_evlist__id2evsel). */
uint32_t perfdata_events_of_sample(struct perfdata_events *events, const struct perfdata_raw *raw,
				   bool swap)
{
	if (events->n == 1)
		return 0;
	for (size_t i = 0; i < events->n_sample_places; i++) {
		const uint16_t place = events->sample_places[i];
		uint32_t event;

		if (raw->size < place + sizeof(uint64_t))
			continue;
		event = perfdata_events_find(events, load64(raw->data + place, swap));
		if (event != PERFDATA_NO_EVENT && events->layouts[event].id_at == place)
			return event;
	}
	/* No event keeps an id: all samples are the first one's, as perf has it. */
	return events->n && !events->n_sample_places ? 0 : PERFDATA_NO_EVENT;
}

uint32_t perfdata_events_of_other(struct perfdata_events *events, const struct perfdata_raw *raw,
				  bool swap)
{
	if (events->n <= 1)
		return 0;
	for (size_t i = 0; i < events->n_trailer_places; i++) {
		const uint16_t place = events->trailer_places[i];
		uint32_t event;

		if (raw->size < place + sizeof(struct perf_event_header))
			continue;
		event = perfdata_events_find(events, load64(raw->data + raw->size - place, swap));
		if (event != PERFDATA_NO_EVENT && events->layouts[event].trailer_id == place)
			return event;
	}
	return 0;
}
