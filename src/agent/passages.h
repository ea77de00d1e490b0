/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Regions of the program: from where one place is passed to where another is, in the same thread. Part of frames.c,
 * which is compiled twice: AGENT_FULL also for events and ordered reads.
 *
 *	begin	a passage that was open is given up (restarted): the innermost counts; a new one is open
 *	end	the open passage ends; with none open: alone
 *
 * No stack pointer is compared, since the places may lie in different functions; but when the thread has been seen on
 * another stack meanwhile the passage is kept apart, like a call. What the hooks of regions that overlap cost is
 * charged half at either end.
 */
#ifndef ASSAY_AGENT_PASSAGES_H
#define ASSAY_AGENT_PASSAGES_H

#ifdef AGENT_FULL
#define agent_passage_begin agent_full_passage_begin
#define agent_passage_end   agent_full_passage_end
#endif

#define PASSAGE_OPEN   1u
#define PASSAGE_UNREAD 2u
#define PASSAGE_SHIFT  2u

static inline struct agent_passages *passages_at(struct agent_block *block,
						 const struct agent_shared *shared, uint64_t index)
{
	return (struct agent_passages *)(void *)function_at(block, shared, index);
}

AGENT_SAVES_ALL void agent_passage_begin(struct agent_block *block, struct agent_shared *shared,
					 uint64_t sp, uint64_t region)
{
	const struct reading first = first_read(block, shared);
	struct agent_passages *passages = passages_at(block, shared, region);
	struct reading now;

	count(&passages->begun);
	if (passages->open) {
		count(&passages->restarted);
		STORE(passages->open, 0);
	}
	if (!agent_take(block, sp)) {
		count(&passages->dropped);
		return;
	}
	away_take(block, shared);
	(void)region_of(block, shared, sp);
	now = counter_read(block, shared);
	if (by_event(shared))
		block->overhead += now.good && first.good ? now.value - first.value : 0;
	passages->away = now.away;
	passages->start = now.value - block->overhead;
	block->last = now.value;
	block->overhead += shared->begin_ticks;
	FENCE();
	STORE(passages->open,
	      block->switches << PASSAGE_SHIFT | PASSAGE_OPEN | (now.good ? 0 : PASSAGE_UNREAD));
	agent_give(block);
}

/* A passage that took `spent`. */
static inline void passage_sum(struct agent_passages *passages, int64_t spent)
{
	const uint64_t shown = spent > 0 ? (uint64_t)spent : 0;
	const unsigned __int128 square = (unsigned __int128)shown * shown;
	const uint64_t low = (uint64_t)square;

	passages->timed++;
	passages->inclusive += (uint64_t)spent;
	passages->squares_low += low;
	passages->squares_high += (uint64_t)(square >> 64) + (passages->squares_low < low);
	passages->buckets[shown ? 64 - __builtin_clzll(shown) : 0]++;
}

static inline bool passage_counted(struct agent_block *block, const struct agent_shared *shared,
				   const struct agent_passages *passages, const struct reading *now)
{
	const struct agent_frame as_call = {
		.away = passages->away,
		.flags = passages->open & PASSAGE_UNREAD ? AGENT_FRAME_UNREAD : 0,
	};

	return was_counted(block, shared, &as_call, now);
}

static inline void passage_close(struct agent_block *block, struct agent_shared *shared,
				 struct agent_passages *passages, const struct reading *now)
{
	const int64_t spent = (int64_t)(now->value - block->overhead - passages->start +
					shared->begin_ticks - shared->passage_ticks);
	const uint64_t open = passages->open;
	const bool counted = passage_counted(block, shared, passages, now);

	STORE(passages->open, 0);
	if (!counted) {
		passages->unread++;
	} else if (open >> PASSAGE_SHIFT != (block->switches << PASSAGE_SHIFT) >> PASSAGE_SHIFT) {
		passages->interrupted++;
		passages->interrupted_ticks += (uint64_t)spent;
	} else {
		passage_sum(passages, spent);
	}
}

AGENT_SAVES_ALL void agent_passage_end(struct agent_block *block, struct agent_shared *shared,
				       uint64_t sp, uint64_t region)
{
	const struct reading now = counter_read(block, shared);
	struct agent_passages *passages = passages_at(block, shared, region);
	uint64_t cost;

	if (!agent_take(block, sp)) {
		/* whenever it ended: not at the next end that is passed */
		STORE(passages->open, 0);
		return;
	}
	cost = away_cost(block, shared, &now);
	(void)region_of(block, shared, sp);
	if (passages->open)
		passage_close(block, shared, passages, &now);
	else
		passages->alone++;
	block->last = now.value;
	block->overhead += shared->end_ticks + cost;
	last_read(block, shared, &now);
	agent_give(block);
}

#ifndef AGENT_FULL

/* The thread is gone: what it had open ends nowhere. */
static inline void passages_abandon(struct agent_block *block, const struct agent_shared *shared)
{
	for (uint32_t i = 0; i < shared->n_passages; i++)
		passages_at(block, shared, i)->open = 0;
}

#endif

#endif
