/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Hardware and software events by name. The first spelling of a number is its canonical one.
 * Source: enum perf_hw_id and perf_sw_ids; spellings of tools/perf/util/parse-events.c. Letters' case
 * is ignored, as perf does since 6.5.
 */
#include "event/legacy.h"

#include <stdio.h>
#include <string.h>

#include "event/cache.h"

static const struct {
	const char *name;
	uint32_t type, config;
} symbols[] = {
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES },
	{ "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	{ "branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
	{ "bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES },
	{ "stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND },
	{ "idle-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND },
	{ "stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND },
	{ "idle-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND },
	{ "ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES },
	{ "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
	{ "task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK },
	{ "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN },
	{ "major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ },
	{ "context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "alignment-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS },
	{ "emulation-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS },
	{ "cgroup-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CGROUP_SWITCHES },
	{ "bpf-output", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT },
	{ "dummy", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY },
};

#define N_SYMBOLS (sizeof(symbols) / sizeof(symbols[0]))

bool event_legacy_name(uint32_t type, uint64_t config, char name[48])
{
	for (size_t i = 0; i < N_SYMBOLS; i++)
		if (symbols[i].type == type && symbols[i].config == config) {
			snprintf(name, 48, "%s", symbols[i].name);
			return true;
		}
	return type == PERF_TYPE_HW_CACHE && event_cache_name(config, name);
}

bool event_legacy_find(struct event_legacy *legacy, struct event_slice word)
{
	const char *reason;

	for (size_t i = 0; i < N_SYMBOLS; i++)
		if (event_slice_is_folded(word, symbols[i].name)) {
			legacy->type = symbols[i].type;
			legacy->config = symbols[i].config;
			return event_legacy_name(legacy->type, legacy->config, legacy->name);
		}
	legacy->type = PERF_TYPE_HW_CACHE;
	return event_cache_find(&legacy->config, word, &reason) == EVENT_CACHE_FOUND &&
	       event_cache_name(legacy->config, legacy->name);
}

bool event_legacy_cache_refused(struct event_slice word, const char **reason)
{
	uint64_t config;

	return event_cache_find(&config, word, reason) == EVENT_CACHE_IMPOSSIBLE;
}

void event_legacy_offer(struct event_near *near)
{
	for (size_t i = 0; i < N_SYMBOLS; i++)
		event_near_offer(near, symbols[i].name);
	event_cache_offer(near);
}
