/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/clocks.h"

#include <string.h>

static enum status column_add(struct clocks *clocks, const struct manifest *manifest,
			      uint32_t clock, struct error *error)
{
	const uint32_t column = clocks->n_clocks + clocks->n_canaries;

	clocks->clock_of[column] = clock;
	for (size_t i = 0; i < manifest->clocks[clock].n_ids; i++)
		if (!keytable_set(&clocks->columns, manifest->clocks[clock].ids[i], column))
			return error_set(error, STATUS_NO_MEMORY, "no memory for the clocks");
	return STATUS_OK;
}

/* The event whose canary a clock is: its own attribute stands behind that of the event's clocks. Of a clock
 * that is randomised, or in a recording without any, its own; likewise of an event of which every occurrence
 * was recorded (marks beside a clock). */
static uint32_t event_of(const struct manifest *manifest, size_t n, uint32_t clock)
{
	const uint32_t own = manifest->clocks[clock].event;
	uint32_t owner = UINT32_MAX;

	if (manifest->clocks[clock].randomised || manifest->clocks[clock].mean_period <= 1)
		return own;
	for (size_t i = 0; i < n; i++)
		if (manifest->clocks[i].randomised && manifest->clocks[i].event <= own &&
		    (owner == UINT32_MAX || manifest->clocks[i].event > owner))
			owner = manifest->clocks[i].event;
	return owner == UINT32_MAX ? own : owner;
}

enum status clocks_init(struct clocks *clocks, const struct manifest *manifest, uint32_t event,
			struct error *error)
{
	const size_t n = manifest && manifest->n_clocks < MANIFEST_MAX_CLOCKS ? manifest->n_clocks
			 : manifest                                           ? MANIFEST_MAX_CLOCKS
									      : 0;
	enum status status = STATUS_OK;

	memset(clocks, 0, sizeof(*clocks));
	clocks->event = event;
	for (uint32_t i = 0; i < n && status == STATUS_OK; i++)
		if (manifest->clocks[i].event == event && manifest->clocks[i].randomised) {
			clocks->randomised = true;
			status = column_add(clocks, manifest, i, error);
			clocks->n_clocks++;
		}
	for (uint32_t i = 0; i < n && status == STATUS_OK; i++)
		if (event_of(manifest, n, i) == event && !manifest->clocks[i].randomised) {
			status = column_add(clocks, manifest, i, error);
			if (clocks->randomised)
				clocks->n_canaries++;
			else
				clocks->n_clocks++;
		}
	clocks->by_id = clocks->n_clocks > 0;
	if (!clocks->n_clocks)
		clocks->n_clocks = 1;
	if (status != STATUS_OK)
		clocks_release(clocks);
	return status;
}

void clocks_release(struct clocks *clocks)
{
	keytable_release(&clocks->columns);
}

uint32_t clocks_column(const struct clocks *clocks, uint32_t event, uint64_t id)
{
	if (clocks->by_id)
		return keytable_get(&clocks->columns, id);
	return event == clocks->event ? 0 : CLOCKS_NO_COLUMN;
}
