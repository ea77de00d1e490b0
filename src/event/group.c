/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * On a hybrid CPU `{cycles,instructions}` stands for four events on two PMUs. perf_event_open refuses
 * a group that spans them, so each PMU gets a group of its own.
 */
#include "event/group.h"

#include <stdlib.h>
#include <string.h>

#define ANY_PMU 0u

/* The PMU that an event is bound to, by attr.type or by the upper half of config; ANY_PMU for events
 * that the kernel lets into any group, and for hardware events of a machine with one core PMU. */
static uint64_t pmu_of(const struct event *event)
{
	switch (event->attr.type) {
	case PERF_TYPE_HARDWARE:
	case PERF_TYPE_HW_CACHE: return event->attr.config >> 32;
	case PERF_TYPE_SOFTWARE:
	case PERF_TYPE_TRACEPOINT:
	case PERF_TYPE_BREAKPOINT: return ANY_PMU;
	default: return event->attr.type; /* PERF_TYPE_RAW too: cpu and cpu_core have its number */
	}
}

struct split {
	uint64_t *pmus; /* one group each, in order of appearance */
	size_t n;
};

static void split_note(struct split *split, uint64_t pmu)
{
	for (size_t i = 0; i < split->n; i++)
		if (split->pmus[i] == pmu)
			return;
	split->pmus[split->n++] = pmu;
}

/* The PMUs of members that became several events on different PMUs. */
static void split_find(struct split *split, const struct event_list *list, const size_t *members,
		       size_t n_members)
{
	for (size_t m = 0; m < n_members; m++) {
		const size_t end = m + 1 < n_members ? members[m + 1] : list->n;

		if (end - members[m] < 2)
			continue;
		for (size_t i = members[m]; i < end; i++)
			if (pmu_of(&list->events[i]) != ANY_PMU)
				split_note(split, pmu_of(&list->events[i]));
	}
}

static size_t group_of(const struct split *split, const struct event *event)
{
	for (size_t i = 0; i < split->n; i++)
		if (split->pmus[i] == pmu_of(event))
			return i;
	return 0;
}

enum status event_group_form(struct event_grammar *g, size_t first, const size_t *members,
			     size_t n_members)
{
	struct event_list *list = g->list;
	const size_t n = list->n - first;
	struct split split = { 0 };
	struct event *sorted;
	size_t done = 0;

	if (!n)
		return STATUS_OK;
	split.pmus = calloc(n, sizeof(*split.pmus));
	sorted = calloc(n, sizeof(*sorted));
	if (!split.pmus || !sorted) {
		free(split.pmus);
		free(sorted);
		return event_no_memory(g);
	}
	split_find(&split, list, members, n_members);
	for (size_t group = 0; group < (split.n ? split.n : 1); group++) {
		for (size_t i = first; i < list->n; i++)
			if (group_of(&split, &list->events[i]) == group) {
				list->events[i].group = list->n_groups;
				sorted[done++] = list->events[i];
			}
		list->n_groups++;
	}
	memcpy(&list->events[first], sorted, n * sizeof(*sorted));
	free(split.pmus);
	free(sorted);
	return STATUS_OK;
}
