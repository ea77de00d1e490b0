/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/placement.h"

#include "target/maps.h"

#define PAGE 0x1000u

bool placement_reaches(uint64_t region, uint64_t size, uint64_t low, uint64_t high, uint64_t reach)
{
	const uint64_t end = region + size;
	const uint64_t down = high > region ? high - region : 0;
	const uint64_t up = end > low ? end - low : 0;

	return down < reach && up < reach;
}

/* The place in [start, end) that is nearest to the code, as far from mappings that grow as can be. */
static uint64_t place_in(uint64_t start, uint64_t end, uint64_t low, uint64_t high, uint64_t size,
			 uint64_t reach)
{
	uint64_t at;

	if (end - start < size)
		return 0;
	if (end <= low || start < low) {
		/* below the code: at the upper end, next to it */
		at = ((end < low ? end : low) - size) & ~(uint64_t)(PAGE - 1);
		return at >= start && placement_reaches(at, size, low, high, reach) ? at : 0;
	}
	/* above: as high as reach allows, since a heap grows up from below */
	at = end - size;
	if (at + size - low >= reach)
		at = low + reach - size - PAGE;
	at &= ~(uint64_t)(PAGE - 1);
	if (at < start + (end - start > PLACEMENT_ABOVE_GAP + size ? PLACEMENT_ABOVE_GAP : 0))
		return 0;
	return at + size <= end && placement_reaches(at, size, low, high, reach) ? at : 0;
}

/* The same, clear of what is taken: each range that is in the way cuts the gap short. */
static uint64_t place_clear(const struct placement_range *taken, size_t n_taken, uint64_t start,
			    uint64_t end, uint64_t low, uint64_t high, uint64_t size,
			    uint64_t reach)
{
	for (size_t turn = 0; turn <= n_taken; turn++) {
		const uint64_t at = place_in(start, end, low, high, size, reach);
		bool clear = true;

		for (size_t i = 0; at && i < n_taken && clear; i++) {
			clear = at >= taken[i].start + taken[i].size || taken[i].start >= at + size;
			if (!clear)
				end = taken[i].start;
		}
		if (clear)
			return at;
		if (end <= start)
			break;
	}
	return 0;
}

static uint64_t away(uint64_t at, uint64_t size, uint64_t low, uint64_t high)
{
	return at < low ? low - at : at + size - high;
}

uint64_t placement_find(const char *maps, const struct placement_range *taken, size_t n_taken,
			uint64_t low, uint64_t high, uint64_t size, uint64_t reach)
{
	uint64_t best = 0, nearest = UINT64_MAX, previous = PLACEMENT_LOWEST;
	const char *at = maps;
	struct map map;
	bool more = true;

	while (more) {
		uint64_t found = 0;

		more = maps_next(&at, &map);
		if (!more)
			map.start = map.end = PLACEMENT_TOP;
		if (map.start > previous)
			found = place_clear(taken, n_taken, previous, map.start, low, high, size,
					    reach);
		if (found && away(found, size, low, high) < nearest) {
			best = found;
			nearest = away(found, size, low, high);
		}
		if (map.end > previous)
			previous = map.end;
	}
	return best;
}
