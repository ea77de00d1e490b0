/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Cache events, CACHE[-OPERATION][-RESULT]: L1-dcache-load-misses, LLC-stores, dTLB-load-misses.
 *
 * attr.config is cache | operation << 8 | result << 16 (perf_event_open(2)).
 */
#ifndef ASSAY_EVENT_CACHE_H
#define ASSAY_EVENT_CACHE_H

#include "event/grammar.h"

enum event_cache_found {
	EVENT_CACHE_NONE,       /* not a cache event's name */
	EVENT_CACHE_IMPOSSIBLE, /* well formed, but that cache does no such thing */
	EVENT_CACHE_FOUND,
};

/* In any case of letters; operation and result in either order. Without an operation it is loads,
 * without a result all accesses. */
enum event_cache_found event_cache_find(uint64_t *config, struct event_slice word,
					const char **reason);

/* "L1-dcache-load-misses", "L1-dcache-loads": the names that perf list prints. */
bool event_cache_name(uint64_t config, char name[48]);

void event_cache_offer(struct event_near *near);

#endif
