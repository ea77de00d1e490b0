/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The events of one perf.data file with their layouts, and the way from a record to its event.
 *
 * A record names its event by an id whose place depends on the event's layout, so the place must be
 * known before the event is. Normally all events agree on it (perf requires that). Where they do not,
 * each place in use is tried and an id counts only if its own event keeps ids at that place.
 */
#ifndef ASSAY_BUNDLE_PERFDATA_EVENTS_H
#define ASSAY_BUNDLE_PERFDATA_EVENTS_H

#include "base/strings.h"
#include "bundle/perfdata_layout.h"
#include "bundle/perfdata_reader.h"
#include "bundle/perfdata_stream.h"

#define PERFDATA_ID_PLACES_MAX 8

struct perfdata_id_slot {
	uint64_t id;
	uint32_t event; /* PERFDATA_NO_EVENT: free */
};

struct perfdata_events {
	struct perfdata_event *items;
	struct perfdata_layout *layouts;
	size_t n, capacity, layouts_capacity;
	/* id -> event, open addressing, at most half full */
	struct perfdata_id_slot *slots;
	size_t n_slots, n_ids;
	uint64_t last_id; /* the id found last, and its event */
	uint32_t last_event;
	/* places at which samples and trailers keep an id, without duplicates; 0 means none */
	uint16_t sample_places[PERFDATA_ID_PLACES_MAX], trailer_places[PERFDATA_ID_PLACES_MAX];
	size_t n_sample_places, n_trailer_places;
	bool without_id; /* at least one event's samples carry no id */
	struct strings *strings;
};

/* `strings` holds the names and must live longer. */
void perfdata_events_init(struct perfdata_events *events, struct strings *strings);
void perfdata_events_release(struct perfdata_events *events);

/* Adds one event from `size` bytes of attribute. STATUS_LIMIT at a named maximum. */
MUST_CHECK enum status perfdata_events_add(struct perfdata_events *events, const uint8_t *attr,
					   uint32_t size, bool swap, const uint8_t *ids,
					   size_t n_ids, struct error *error);

MUST_CHECK enum status perfdata_events_rename(struct perfdata_events *events, size_t event,
					      const char *name, size_t length, struct error *error);

/* The event with this id, PERFDATA_NO_EVENT if none has it. */
uint32_t perfdata_events_find(struct perfdata_events *events, uint64_t id);

/* The event of a sample, and of another record (never none: the first event where it is unknown). */
uint32_t perfdata_events_of_sample(struct perfdata_events *events, const struct perfdata_raw *raw,
				   bool swap);
uint32_t perfdata_events_of_other(struct perfdata_events *events, const struct perfdata_raw *raw,
				  bool swap);

#endif
