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

/* One look: the event's count so far, and how long, in ns, it has been without a counter while the thread ran.
 * False when it has none now, or may not be read here. *changed: 0 when all of it belongs together. */
static inline __attribute__((always_inline)) bool
counter_look(const struct perf_event_mmap_page *page, counter_register look, bool ordered,
	     uint64_t *value, uint64_t *away, uint32_t *changed)
{
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
	*changed = __atomic_load_n(&page->lock, __ATOMIC_RELAXED) ^ lock;
	return true;
}

/* The event's count so far in *value. *away: how long, in ns, it has been without a counter while the thread ran.
 * False when it has none now, or may not be read here. `ordered`: all earlier instructions have ended, and
 * no later one has begun. */
static inline __attribute__((always_inline)) bool
counter_event(const struct perf_event_mmap_page *page, counter_register look, bool ordered,
	      uint64_t *value, uint64_t *away)
{
	uint32_t changed = 1;

	for (uint32_t i = 0; i < COUNTER_TRIES; i++) {
		if (!counter_look(page, look, ordered, value, away, &changed))
			return false;
		if (!changed)
			return true;
	}
	return false;
}

/* The same as if nothing had disturbed it: the count at which the first look would have found the counter. After a
 * look that a switch made worthless it looks until two in a row are good. What the counter went on by
 * between these is what each took: whatever a look finds, the loop runs through the same instructions. */
static inline __attribute__((always_inline)) bool
counter_event_undisturbed(const struct perf_event_mmap_page *page, counter_register look,
			  bool ordered, uint64_t *value, uint64_t *away)
{
	uint64_t before, now = 0;
	uint32_t good = 0, wanted = 1, changed = 1;

	for (uint64_t i = 0; i < COUNTER_TRIES; i++) {
		/* no iteration is to be compiled differently because the compiler knows it is the first */
		__asm__ volatile("" : "+r"(i), "+r"(good), "+r"(wanted));
		before = now;
		if (!counter_look(page, look, ordered, &now, away, &changed))
			return false;
		__asm__ volatile("" : "+r"(changed));
		good = (good + 1) & -(uint32_t)(((uint64_t)changed - 1) >> 63);
		if (good >= wanted) {
			*value = now - i * (now - before);
			return true;
		}
		wanted = 2;
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
