/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The events that the kernel's own ABI numbers: hardware, software and cache events
 * (include/uapi/linux/perf_event.h), under every spelling that perf takes.
 */
#ifndef ASSAY_EVENT_LEGACY_H
#define ASSAY_EVENT_LEGACY_H

#include "event/grammar.h"

struct event_legacy {
	uint32_t type; /* PERF_TYPE_HARDWARE, PERF_TYPE_SOFTWARE or PERF_TYPE_HW_CACHE */
	uint64_t config;
	char name[48]; /* canonical */
};

/* True when `word` names such an event, in any case of letters. */
bool event_legacy_find(struct event_legacy *legacy, struct event_slice word);

/* True when `word` begins like a cache event but asks for what no cache does, such as a store to the
 * iTLB; *reason then says so. */
bool event_legacy_cache_refused(struct event_slice word, const char **reason);

/* The canonical name of a numbered event; false for numbers that have none. */
bool event_legacy_name(uint32_t type, uint64_t config, char name[48]);

/* Offers every name, with all usual spellings of cache events. */
void event_legacy_offer(struct event_near *near);

#endif
