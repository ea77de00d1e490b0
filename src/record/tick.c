/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "record/tick.h"

void tick_start(struct tick_state *state, uint64_t armed, uint64_t due)
{
	*state = (struct tick_state){
		.force = { 0, armed, due },
		.first = due > armed,
		.run = due > armed ? due - armed : 0,
	};
}

/* Rings are drained before each redraw, so only samples under the newest draw before it can still
 * come: a `next` that nobody has met yet is that one. */
void tick_redraw(struct tick_state *state, uint64_t before_ns, uint64_t lead_ns, uint64_t period)
{
	if (state->has_next)
		state->force = state->next;
	state->next = (struct tick_draw){ before_ns + lead_ns, period, period };
	state->has_next = true;
	state->sampled = false;
}

/* `ticks` whole periods lie in `gap`; all but the last left no record. The repeats of a timer keep to
 * the grid of its first expiry, so rounding to the nearest is right up to half a period of latency. */
static uint64_t skipped_of(uint64_t gap, uint64_t period)
{
	const uint64_t ticks = (gap + period / 2) / period;

	return ticks > 1 ? (ticks - 1) * period : 0;
}

/*
 * Of an interval that a redraw cut, with ticks that left no record on either side of it:
 *
 *	last record      t t      restart       t       t      this record
 *	    |----old-----|-|--rest---|----armed----|---armed----|
 *
 * stand the last period and what the restart threw away. `since` is the time since the restart. A clock
 * that does not run all the time has less of `gap` than time; where that leaves the restart unplaced, a
 * gap that two periods explain is taken as it is, and of a longer one the last period is known.
 */
static uint64_t cut_interval(uint64_t gap, uint64_t since, uint64_t old_period, uint64_t armed)
{
	const uint64_t ticks = (since + armed / 2) / armed;

	if (since < gap && ticks * armed <= gap && old_period > 0)
		return armed + (gap - (ticks > 1 ? ticks : 1) * armed) % old_period;
	return gap > old_period + armed ? armed : gap;
}

struct tick tick_account(struct tick_state *state, uint64_t time_ns, uint64_t value, bool skips)
{
	const uint64_t gap = value > state->last ? value - state->last : 0;
	struct tick tick = { .realised = gap };
	bool cut = state->cut;

	state->last = value;
	state->cut = false;
	if (state->has_next && time_ns >= state->next.earliest_ns) {
		const uint64_t since = time_ns - state->next.earliest_ns + state->next.armed;

		if (skips)
			tick.realised =
				cut_interval(gap, since, state->force.armed, state->next.armed);
		state->force = state->next;
		state->has_next = false;
		state->run = 0;
		state->first = false;
		cut = true;
	} else if (skips) {
		tick.realised = gap - skipped_of(gap, state->force.armed);
	}
	state->sampled = true;
	state->run += state->force.armed;
	tick.keep = state->run >= state->force.due;
	tick.intended = state->run;
	tick.whole = !cut && state->force.due == state->force.armed;
	tick.realised = state->first ? tick.intended : tick.realised + state->held;
	state->first = false;
	state->held = tick.keep ? 0 : tick.realised;
	if (tick.keep)
		state->run = 0;
	return tick;
}

void tick_lost(struct tick_state *state)
{
	state->cut = true;
}
