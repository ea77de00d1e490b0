/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How frames read the counter, and how they learn that their thread was switched out. Part of frames.c, which
 * is compiled twice: AGENT_FULL also for events and ordered reads.
 */
#ifndef ASSAY_AGENT_FRAMES_READ_H
#define ASSAY_AGENT_FRAMES_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/counter.h"
#include "agent/layout.h"
#include "agent/page.h"

#ifdef AGENT_FULL
#define FULL 1
#else
#define FULL 0
#endif

/* What the counter says: `good` when it could be read; `away`: agent/counter.h. */
struct reading {
	uint64_t value, away;
	bool good;
};

/* Does an event's counter measure, not the clock? */
static inline bool by_event(const struct agent_shared *shared)
{
	return FULL && (shared->counter & AGENT_EVENT);
}

/* The counter that measures, now. */
static inline struct reading counter_read(const struct agent_block *block,
					  const struct agent_shared *shared)
{
	struct reading reading = { .good = true };

	if (by_event(shared))
		reading.good = block->page &&
			       counter_event((const struct perf_event_mmap_page *)block->page,
					     counter_hardware, shared->counter & AGENT_ORDERED,
					     &reading.value, &reading.away);
	else if (FULL && (shared->counter & AGENT_ORDERED))
		reading.value = counter_ticks_ordered();
	else
		reading.value = counter_ticks();
	return reading;
}

/* The same where a thread that was switched out meanwhile, and had to read again, would find in its caller or in the call
 * that ends what that took. */
static inline struct reading undisturbed_read(const struct agent_block *block,
					      const struct agent_shared *shared)
{
	struct reading reading = { .good = true };

	if (!by_event(shared))
		return counter_read(block, shared);
	reading.good = block->page &&
		       counter_event_undisturbed((const struct perf_event_mmap_page *)block->page,
						 counter_hardware, shared->counter & AGENT_ORDERED,
						 &reading.value, &reading.away);
	return reading;
}

/* The thread has been switched out since this was asked last. */
static inline bool was_away(const struct agent_block *block)
{
	return __builtin_expect(
		__atomic_load_n((const uint32_t *)block->lock_at, __ATOMIC_RELAXED) != block->lock,
		0);
}

/* Before all else in the agent, by an event; the clock is read once only. */
static inline struct reading first_read(const struct agent_block *block,
					const struct agent_shared *shared)
{
	return by_event(shared) ? undisturbed_read(block, shared) : (struct reading){ 0 };
}

/* The clock went on while the thread was switched out: that is no call's. Returns what finding it out cost,
 * to become overhead behind what is measured up to `now`. */
static inline uint64_t away_cost(struct agent_block *block, const struct agent_shared *shared,
				 const struct reading *now)
{
	if (was_away(block) && !by_event(shared))
		return agent_page_look(block, shared, now->value);
	return 0;
}

/* The same at an entry. */
static inline void away_take(struct agent_block *block, const struct agent_shared *shared)
{
	if (was_away(block) && !by_event(shared))
		block->overhead += agent_page_look(block, shared, counter_ticks());
}

#endif
