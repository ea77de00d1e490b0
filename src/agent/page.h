/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A thread's page of its own event (perf_event_open(2), "MMAP layout"): the counter to read, or, for an event that
 * counts nothing, only the word that the kernel changes each time the thread comes back to a CPU.
 *
 * Time off the CPU is taken out of calls by it: while the word stays the same the thread was never switched
 * out, at the price of one load. When it has changed, the clock has gone on by more than the thread's CPU time
 * has: the difference, at most the time since the last timed hit (the rest is interrupts and stolen time,
 * which are nobody's in particular), becomes overhead, and so is part of no open call.
 */
#ifndef ASSAY_AGENT_PAGE_H
#define ASSAY_AGENT_PAGE_H

#include <stdbool.h>

#include "agent/frames.h"

/* Opens the calling thread's event and keeps its page only: a mapping holds the event, and no descriptor stays.
 * Without one, block->page_errno says why, and block->lock_at is a word that never changes. */
void agent_page_open(struct agent_block *block, const struct agent_shared *shared, bool no_calls);

/* The thread was switched out. Adds that time to the overhead, and returns what finding out has cost;
 * `now` is the clock at the hit. */
AGENT_SAVES_ALL uint64_t agent_page_look(struct agent_block *block,
					 const struct agent_shared *shared, uint64_t now);

/* The arithmetic of it: how long the thread was off the CPU, given its CPU time at clock `ticks`. */
uint64_t agent_page_off(struct agent_block *block, const struct agent_shared *shared, uint64_t now,
			uint64_t cpu_ns, uint64_t ticks);

#endif
