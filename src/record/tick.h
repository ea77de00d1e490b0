/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What one sample of one open event says about intervals: which draw was in force, how long the
 * interval really was, and whether the sample is to be kept.
 *
 * The kernel restarts the interval whenever it is given a new period, and leaves the old value in the
 * PERIOD field (facts of Linux 6.18, cpu-clock). So the draw in force is found by time: the call that
 * put a new period in force lies between `before` and `after`, and the first sample under it cannot
 * come sooner than that period after `before`. A sample earlier than that belongs to the old draw.
 *
 * A clock that starts is armed with a *residual* interval (schedule_residual), which the kernel
 * repeats until it is given another. The first tick is kept, as the end of an interval of length `due`
 * that was under way when the clock was first looked at; until the next draw only those repeats are
 * kept that fall due again (`armed` is then the grid of `due`).
 *
 * A timer with exclusions (:u, idle), or of a CPU that sleeps (some of its ticks come to nothing while it
 * does), ticks on without leaving records; such ticks lie on the grid of its period and are taken out of
 * the realised interval of the next sample.
 *
 * Pure: no system calls, no allocation.
 */
#ifndef ASSAY_RECORD_TICK_H
#define ASSAY_RECORD_TICK_H

#include <stdbool.h>
#include <stdint.h>

struct tick_draw {
	uint64_t earliest_ns; /* no sample under this draw can be earlier */
	uint64_t armed;       /* the period that the kernel repeats */
	uint64_t due;         /* interval after which a sample is to be kept */
};

struct tick_state {
	struct tick_draw force, next; /* next: valid when has_next; takes over by time */
	bool has_next;
	bool cut;      /* the interval under way was restarted, or a record of it was lost */
	bool sampled;  /* a sample was seen since the last draw */
	bool first;    /* no tick was seen since the event was opened with a residual interval */
	uint64_t last; /* READ value of the previous record */
	uint64_t run;  /* of `armed`-long ticks since the last kept sample */
	uint64_t held; /* realised intervals of the ticks that were not kept since then */
};

struct tick {
	bool keep;
	bool whole; /* realised and intended may be compared */
	uint64_t intended, realised;
};

/* A new event, its count at zero, armed with `armed`; `due` as above, at least `armed`. */
void tick_start(struct tick_state *state, uint64_t armed, uint64_t due);

/* A draw put in force by a call that began at `before_ns`; no sample under it can come sooner than `lead_ns`
 * later: for timers the period itself, for events less, and at most what the call took. */
void tick_redraw(struct tick_state *state, uint64_t before_ns, uint64_t lead_ns, uint64_t period);

/* Accounts for one sample record, kept or not, in the order of the ring; `skips`: ticks can have passed
 * without one. */
struct tick tick_account(struct tick_state *state, uint64_t time_ns, uint64_t value, bool skips);

/* Records of this event were lost: the next interval is no longer known to be one. */
void tick_lost(struct tick_state *state);

#endif
