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

static uint64_t away(uint64_t at, uint64_t size, uint64_t low, uint64_t high)
{
	return at < low ? low - at : at + size - high;
}

uint64_t placement_find(const char *maps, uint64_t low, uint64_t high, uint64_t size,
			uint64_t reach, unsigned int skip)
{
	uint64_t floor = 0;

	/* the nearest first; each turn passes over those that are as near or nearer */
	for (unsigned int turn = 0;; turn++) {
		const char *at = maps;
		uint64_t best = 0, nearest = UINT64_MAX, previous = PLACEMENT_LOWEST;
		struct map map;
		bool more = true;

		while (more) {
			uint64_t found;

			more = maps_next(&at, &map);
			if (!more)
				map.start = map.end = PLACEMENT_TOP;
			found = map.start > previous
					? place_in(previous, map.start, low, high, size, reach)
					: 0;
			if (found && away(found, size, low, high) < nearest &&
			    away(found, size, low, high) >= floor) {
				best = found;
				nearest = away(found, size, low, high);
			}
			if (map.end > previous)
				previous = map.end;
		}
		if (!best || turn >= skip)
			return best;
		floor = nearest + 1;
	}
}
