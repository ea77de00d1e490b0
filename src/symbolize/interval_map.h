/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which of many overlapping intervals owns an address. Functions, compilation units, inlined calls and
 * entries of a perf map are all looked up so; they differ in who wins where they overlap.
 *
 * Built once from all intervals, by a sweep that keeps those which hold the current address in a heap:
 * O(n log n) whatever the overlaps. Looking up is a binary search over disjoint spans.
 */
#ifndef ASSAY_SYMBOLIZE_INTERVAL_MAP_H
#define ASSAY_SYMBOLIZE_INTERVAL_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INTERVAL_NONE UINT32_MAX

struct interval {
	uint64_t start, end; /* [start, end); an empty one owns nothing */
	uint64_t rank;       /* the higher wins; then the shorter; then the higher value */
	uint32_t value;      /* not INTERVAL_NONE */
};

struct interval_span {
	uint64_t start; /* up to the start of the next span */
	uint32_t value; /* INTERVAL_NONE: nobody's */
};

struct interval_map {
	struct interval *intervals; /* collected, gone after the build */
	size_t n_intervals, intervals_capacity;
	struct interval_span *spans; /* sorted; neighbours differ in value */
	size_t n_spans, spans_capacity;
};

/* False when memory was short. */
bool interval_map_add(struct interval_map *map, struct interval interval);
bool interval_map_build(struct interval_map *map);
void interval_map_release(struct interval_map *map);

/* The owner of the address, or INTERVAL_NONE. */
uint32_t interval_map_at(const struct interval_map *map, uint64_t address);

#endif
