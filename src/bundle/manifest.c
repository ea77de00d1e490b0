/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bundle/manifest.h"

#include <stdlib.h>
#include <string.h>

#include "bundle/manifest_fields.h"
#include "bundle/manifest_parts.h"

void manifest_init(struct manifest *manifest)
{
	memset(manifest, 0, sizeof(*manifest));
	manifest->machine.temperature_millidegree = INT64_MIN;
	manifest->end.period_weights = -1;
}

struct manifest_epoch_clock *manifest_clocks_take(struct manifest *manifest)
{
	struct manifest_clock_block *block = manifest->clock_blocks;
	const size_t n = manifest->n_clocks;

	if (!n)
		return NULL;
	if (!block || MANIFEST_BLOCK_CLOCKS - block->used < n) {
		block = calloc(1, sizeof(*block));
		if (!block)
			return NULL;
		block->next = manifest->clock_blocks;
		manifest->clock_blocks = block;
	}
	block->used += n;
	return block->clocks + block->used - n;
}

static void records_release(const struct field_table *table, void *records, size_t n, size_t size)
{
	for (size_t i = 0; i < n; i++)
		fields_release(table, (char *)records + i * size);
	free(records);
}

void manifest_release(struct manifest *manifest)
{
	struct manifest_clock_block *block = manifest->clock_blocks, *next;

	fields_release(&manifest_head_fields, manifest);
	fields_release(&manifest_machine_fields, &manifest->machine);
	fields_release(&manifest_end_fields, &manifest->end);
	for (size_t i = 0; i < manifest->n_command; i++)
		free(manifest->command[i]);
	free(manifest->command);
	free(manifest->pids);
	for (size_t i = 0; i < manifest->n_clocks; i++)
		free(manifest->clocks[i].ids);
	records_release(&manifest_event_fields, manifest->events, manifest->n_events,
			sizeof(*manifest->events));
	free(manifest->clocks);
	free(manifest->epochs);
	records_release(&manifest_incident_fields, manifest->incidents, manifest->n_incidents,
			sizeof(*manifest->incidents));
	records_release(&manifest_object_fields, manifest->objects, manifest->n_objects,
			sizeof(*manifest->objects));
	for (; block; block = next) {
		next = block->next;
		free(block);
	}
	manifest_init(manifest);
}
