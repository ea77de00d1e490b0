/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Spellings and valid combinations: evsel__hw_cache, _op, _result and _stat of
 * tools/perf/util/evsel.c. First spelling = canonical.
 */
#include "event/cache.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define SPELLINGS 6

static const char *const caches[PERF_COUNT_HW_CACHE_MAX][SPELLINGS] = {
	[PERF_COUNT_HW_CACHE_L1D] = { "L1-dcache", "l1-d", "l1d", "L1-data" },
	[PERF_COUNT_HW_CACHE_L1I] = { "L1-icache", "l1-i", "l1i", "L1-instruction" },
	[PERF_COUNT_HW_CACHE_LL] = { "LLC", "L2" },
	[PERF_COUNT_HW_CACHE_DTLB] = { "dTLB", "d-tlb", "Data-TLB" },
	[PERF_COUNT_HW_CACHE_ITLB] = { "iTLB", "i-tlb", "Instruction-TLB" },
	[PERF_COUNT_HW_CACHE_BPU] = { "branch", "branches", "bpu", "btb", "bpc" },
	[PERF_COUNT_HW_CACHE_NODE] = { "node" },
};

static const char *const operations[PERF_COUNT_HW_CACHE_OP_MAX][SPELLINGS] = {
	[PERF_COUNT_HW_CACHE_OP_READ] = { "load", "loads", "read" },
	[PERF_COUNT_HW_CACHE_OP_WRITE] = { "store", "stores", "write" },
	[PERF_COUNT_HW_CACHE_OP_PREFETCH] = { "prefetch", "prefetches", "speculative-read",
					      "speculative-load" },
};

static const char *const results[PERF_COUNT_HW_CACHE_RESULT_MAX][SPELLINGS] = {
	[PERF_COUNT_HW_CACHE_RESULT_ACCESS] = { "refs", "Reference", "ops", "access" },
	[PERF_COUNT_HW_CACHE_RESULT_MISS] = { "misses", "miss" },
};

/* Instruction caches and the branch unit are only read, and only L1i is prefetched among them. */
static bool possible(int cache, int operation)
{
	switch (cache) {
	case PERF_COUNT_HW_CACHE_L1I: return operation != PERF_COUNT_HW_CACHE_OP_WRITE;
	case PERF_COUNT_HW_CACHE_ITLB:
	case PERF_COUNT_HW_CACHE_BPU: return operation == PERF_COUNT_HW_CACHE_OP_READ;
	default: return true;
	}
}

/* The row whose longest spelling begins `rest` and ends there or at a '-'; consumes both. */
static int take(struct event_slice *rest, const char *const (*rows)[SPELLINGS], int n_rows)
{
	size_t longest = 0;
	int found = -1;

	for (int row = 0; row < n_rows; row++)
		for (int i = 0; i < SPELLINGS && rows[row][i]; i++) {
			const size_t n = strlen(rows[row][i]);

			if (n > longest && n <= rest->n &&
			    !strncasecmp(rest->at, rows[row][i], n) &&
			    (n == rest->n || rest->at[n] == '-')) {
				longest = n;
				found = row;
			}
		}
	if (found >= 0) {
		longest += longest < rest->n;
		rest->at += longest;
		rest->n -= longest;
	}
	return found;
}

enum event_cache_found event_cache_find(uint64_t *config, struct event_slice word,
					const char **reason)
{
	int cache, operation = -1, result = -1;

	if (word.n && word.at[word.n - 1] == '-')
		return EVENT_CACHE_NONE;
	cache = take(&word, caches, PERF_COUNT_HW_CACHE_MAX);
	if (cache < 0)
		return EVENT_CACHE_NONE;
	for (int i = 0; i < 2 && word.n; i++) {
		if (operation < 0) {
			operation = take(&word, operations, PERF_COUNT_HW_CACHE_OP_MAX);
			if (operation >= 0)
				continue;
		}
		if (result < 0)
			result = take(&word, results, PERF_COUNT_HW_CACHE_RESULT_MAX);
	}
	if (word.n)
		return EVENT_CACHE_NONE;
	if (operation < 0)
		operation = PERF_COUNT_HW_CACHE_OP_READ;
	if (result < 0)
		result = PERF_COUNT_HW_CACHE_RESULT_ACCESS;
	if (!possible(cache, operation)) {
		*reason = operation == PERF_COUNT_HW_CACHE_OP_WRITE
				  ? "that cache is never stored to by a program"
				  : "that cache is never prefetched into";
		return EVENT_CACHE_IMPOSSIBLE;
	}
	*config = (uint64_t)cache | (uint64_t)operation << 8 | (uint64_t)result << 16;
	return EVENT_CACHE_FOUND;
}

bool event_cache_name(uint64_t config, char name[48])
{
	const uint64_t cache = config & 0xff, operation = config >> 8 & 0xff;
	const uint64_t result = config >> 16;

	if (cache >= PERF_COUNT_HW_CACHE_MAX || operation >= PERF_COUNT_HW_CACHE_OP_MAX ||
	    result >= PERF_COUNT_HW_CACHE_RESULT_MAX)
		return false;
	if (result == PERF_COUNT_HW_CACHE_RESULT_MISS)
		snprintf(name, 48, "%s-%s-misses", caches[cache][0], operations[operation][0]);
	else
		snprintf(name, 48, "%s-%s", caches[cache][0], operations[operation][1]);
	return true;
}

void event_cache_offer(struct event_near *near)
{
	for (uint64_t cache = 0; cache < PERF_COUNT_HW_CACHE_MAX; cache++)
		for (uint64_t operation = 0; operation < PERF_COUNT_HW_CACHE_OP_MAX; operation++)
			for (uint64_t result = 0; result < PERF_COUNT_HW_CACHE_RESULT_MAX;
			     result++) {
				char name[48];

				if (possible((int)cache, (int)operation) &&
				    event_cache_name(cache | operation << 8 | result << 16, name))
					event_near_offer(near, name);
			}
}
