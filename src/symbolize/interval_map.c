/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/interval_map.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "symbolize/key_sort.h"

struct sweep {
	struct interval_map *map;
	uint32_t *heap; /* intervals that hold the current address, the winner on top */
	size_t n_heap, heap_capacity;
};

bool interval_map_add(struct interval_map *map, struct interval interval)
{
	if (map->n_intervals >= INTERVAL_NONE ||
	    !array_reserve(&map->intervals, &map->intervals_capacity, map->n_intervals + 1))
		return false;
	map->intervals[map->n_intervals++] = interval;
	return true;
}

static bool wins(const struct sweep *sweep, uint32_t left, uint32_t right)
{
	const struct interval *a = &sweep->map->intervals[left];
	const struct interval *b = &sweep->map->intervals[right];

	if (a->rank != b->rank)
		return a->rank > b->rank;
	if (a->end - a->start != b->end - b->start)
		return a->end - a->start < b->end - b->start;
	return a->value > b->value;
}

static const struct interval *winner(const struct sweep *sweep)
{
	return sweep->n_heap ? &sweep->map->intervals[sweep->heap[0]] : NULL;
}

static bool heap_push(struct sweep *sweep, uint32_t interval)
{
	uint32_t *heap;
	size_t at = sweep->n_heap;

	if (!array_reserve(&sweep->heap, &sweep->heap_capacity, sweep->n_heap + 1))
		return false;
	heap = sweep->heap;
	sweep->n_heap++;
	for (; at && wins(sweep, interval, heap[(at - 1) / 2]); at = (at - 1) / 2)
		heap[at] = heap[(at - 1) / 2];
	heap[at] = interval;
	return true;
}

static void heap_pop(struct sweep *sweep)
{
	uint32_t *heap = sweep->heap;
	const uint32_t last = heap[--sweep->n_heap];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < sweep->n_heap) {
		if (child + 1 < sweep->n_heap && wins(sweep, heap[child + 1], heap[child]))
			child++;
		if (!wins(sweep, heap[child], last))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = last;
}

static bool span_add(struct interval_map *map, uint64_t start, uint32_t value)
{
	if (map->n_spans ? map->spans[map->n_spans - 1].value == value : value == INTERVAL_NONE)
		return true;
	if (!array_reserve(&map->spans, &map->spans_capacity, map->n_spans + 1))
		return false;
	map->spans[map->n_spans++] = (struct interval_span){ start, value };
	return true;
}

/* Stops at each address where the winner can change: where an interval starts or the winner ends. */
static bool intervals_sweep(struct sweep *sweep, const struct sort_key *order)
{
	struct interval_map *map = sweep->map;
	const size_t n = map->n_intervals;
	uint64_t address = 0;
	size_t at = 0;

	while (at < n || sweep->n_heap) {
		address = at < n ? order[at].key : UINT64_MAX;
		if (winner(sweep) && winner(sweep)->end < address)
			address = winner(sweep)->end;
		for (; at < n && order[at].key == address; at++)
			if (!heap_push(sweep, order[at].index))
				return false;
		while (winner(sweep) && winner(sweep)->end <= address)
			heap_pop(sweep);
		if (!span_add(map, address, winner(sweep) ? winner(sweep)->value : INTERVAL_NONE))
			return false;
	}
	return true;
}

bool interval_map_build(struct interval_map *map)
{
	const size_t n = map->n_intervals;
	struct sort_key *order = malloc((n + 1) * sizeof(*order));
	struct sweep sweep = { .map = map };
	bool good = order != NULL;

	for (size_t i = 0; i < n && good; i++)
		order[i] = (struct sort_key){ map->intervals[i].start, (uint32_t)i };
	good = good && key_sort(order, n) && intervals_sweep(&sweep, order);
	free(order);
	free(sweep.heap);
	free(map->intervals);
	map->intervals = NULL;
	map->n_intervals = map->intervals_capacity = 0;
	return good;
}

void interval_map_release(struct interval_map *map)
{
	free(map->intervals);
	free(map->spans);
	memset(map, 0, sizeof(*map));
}

uint32_t interval_map_at(const struct interval_map *map, uint64_t address)
{
	size_t low = 0, high = map->n_spans;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (map->spans[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? map->spans[low - 1].value : INTERVAL_NONE;
}
