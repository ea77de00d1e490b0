/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a call is measured by: the machine's clock, or an event of the thread's own, read from user space.
 *
 * An event is read through its perf user page, which the kernel rewrites whenever the thread comes back to a
 * CPU: `index` - 1 is the hardware counter that holds it now, `offset` is to be added; 0: it is on no counter
 * (others have it, or this CPU's PMU is another). Source: perf_event_open(2), struct perf_event_mmap_page.
 *
 * Freestanding. The instructions are those of counter_x86_64.h and counter_aarch64.h.
 */
#ifndef ASSAY_AGENT_COUNTER_H
#define ASSAY_AGENT_COUNTER_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
#include "agent/counter_x86_64.h"
#elif defined(__aarch64__)
#include "agent/counter_aarch64.h"
#endif

#define COUNTER_TRIES \
	64u /* the page changes while it is read only when the thread is switched out */

/* Reads hardware counter `number`; false when there is no such counter. */
typedef bool (*counter_register)(uint32_t number, uint64_t *value);

/* The event's count so far in *value. *away: how long, in ns, it has been without a counter while the thread ran.
 * False when it has none now, or may not be read here. `ordered`: all earlier instructions have ended, and
 * no later one has begun. */
static inline __attribute__((always_inline)) bool
counter_event(const struct perf_event_mmap_page *page, counter_register look, bool ordered,
	      uint64_t *value, uint64_t *away)
{
	for (uint32_t i = 0; i < COUNTER_TRIES; i++) {
		const uint32_t lock = __atomic_load_n(&page->lock, __ATOMIC_ACQUIRE);
		const uint32_t index = __atomic_load_n(&page->index, __ATOMIC_RELAXED);
		const uint32_t unused_bits = (64u - page->pmc_width) & 63u;
		uint64_t now;

		if (!page->cap_user_rdpmc || !index)
			return false;
		if (ordered)
			counter_order();
		if (!look(index - 1, &now))
			return false;
		if (ordered)
			counter_order();
		now = (uint64_t)((int64_t)(now << unused_bits) >> unused_bits);
		*value = now + (uint64_t)page->offset;
		*away = page->time_enabled - page->time_running;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		if (__atomic_load_n(&page->lock, __ATOMIC_RELAXED) == lock)
			return true;
	}
	return false;
}

/* The clock, with everything before it done and nothing behind it begun. */
static inline uint64_t counter_ticks_ordered(void)
{
	uint64_t now;

	counter_order();
	now = counter_ticks();
	counter_order();
	return now;
}

#endif
