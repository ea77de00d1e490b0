/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/readings.h"

#include <stdlib.h>
#include <string.h>

enum status readings_init(struct readings *readings, const struct perfdata_event *events,
			  size_t n_events, struct error *error)
{
	size_t n = 0;

	memset(readings, 0, sizeof(*readings));
	for (size_t i = 0; i < n_events; i++)
		n += events[i].n_ids;
	readings->items = calloc(n + 1, sizeof(*readings->items));
	if (!readings->items)
		return error_set(error, STATUS_NO_MEMORY, "no memory for counter readings");
	for (size_t i = 0; i < n_events; i++)
		for (size_t k = 0; k < events[i].n_ids; k++) {
			if (!keytable_set(&readings->index, events[i].ids[k],
					  (uint32_t)readings->n)) {
				readings_release(readings);
				return error_set(error, STATUS_NO_MEMORY,
						 "no memory for counter readings");
			}
			readings->items[readings->n++].event = (uint32_t)i;
		}
	return STATUS_OK;
}

void readings_release(struct readings *readings)
{
	free(readings->items);
	keytable_release(&readings->index);
	memset(readings, 0, sizeof(*readings));
}

bool readings_take(struct readings *readings, const struct perfdata_read_value *value,
		   uint32_t *event, uint64_t *growth)
{
	const uint32_t at = keytable_get(&readings->index, value->id);
	struct reading *reading;

	if (at == KEYTABLE_NONE)
		return false;
	reading = &readings->items[at];
	*event = reading->event;
	*growth = value->value - reading->last;
	reading->last = value->value;
	return *growth != 0;
}
