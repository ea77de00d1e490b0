/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "record/incidents.h"

#include <stdlib.h>
#include <string.h>

static struct manifest_incident *incident_find(struct incidents *incidents, const char *code,
					       const char *unit)
{
	for (size_t i = 0; i < incidents->n; i++)
		if (!strcmp(incidents->items[i].code, code) &&
		    !strcmp(incidents->items[i].unit, unit))
			return &incidents->items[i];
	return NULL;
}

static void incident_release(struct manifest_incident *incident)
{
	free(incident->code);
	free(incident->unit);
	free(incident->text);
}

void incidents_note(struct incidents *incidents, const char *code, uint64_t start_ns,
		    uint64_t end_ns, double amount, const char *unit, const char *text)
{
	struct manifest_incident *incident = incident_find(incidents, code, unit);

	if (incident) {
		if (start_ns < incident->start_ns)
			incident->start_ns = start_ns;
		if (end_ns > incident->end_ns)
			incident->end_ns = end_ns;
		incident->amount += amount;
		return;
	}
	if (incidents->n == INCIDENTS_MAX)
		return;
	incident = &incidents->items[incidents->n];
	*incident = (struct manifest_incident){
		.code = strdup(code),
		.start_ns = start_ns,
		.end_ns = end_ns,
		.amount = amount,
		.unit = strdup(unit),
		.text = strdup(text),
	};
	if (incident->code && incident->unit && incident->text)
		incidents->n++;
	else
		incident_release(incident);
}

void incidents_clear(struct incidents *incidents)
{
	for (size_t i = 0; i < incidents->n; i++)
		incident_release(&incidents->items[i]);
	incidents->n = 0;
}
