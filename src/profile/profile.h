/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From a bundle to its distinct stacks, counted per cell (epoch by clock). The first half of every
 * analysis; table.h makes functions out of it.
 *
 *	pass 1	side records -> timeline (maps, names), losses, times of the first and last sample
 *	pass 2	samples -> filter -> generation, tag, chain -> stack -> count in its cell
 *
 * Samples are not sorted and not kept: memory grows with distinct stacks, mappings and tasks, never
 * with the length of the recording. Names are looked up only by whoever asks for them, later.
 */
#ifndef ASSAY_PROFILE_PROFILE_H
#define ASSAY_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/sys.h"
#include "bundle/bundle.h"
#include "profile/clocks.h"
#include "profile/epochs.h"
#include "profile/filter.h"
#include "profile/lives.h"
#include "profile/losses.h"
#include "profile/places.h"
#include "profile/stacks.h"
#include "profile/tags.h"
#include "profile/timeline.h"
#include "symbolize/symbolizer.h"

struct profile_options {
	const char *event;     /* name as the file has it, or its number; NULL: the first */
	struct filter *filter; /* NULL: all samples; its slices are resolved */
	unsigned int tags;     /* TAG_*: what to keep apart beside the stack */
};

/* One event of the file. */
struct profile_event {
	const char *name;
	uint64_t samples; /* all of them, filtered or not */
	double weight;    /* sum of their periods */
	double period;    /* what a sample stands for that does not say so itself (perf's rule) */
};

struct profile {
	struct bundle *bundle; /* borrowed, as is the symbolizer */
	struct timeline timeline;
	struct losses losses;
	struct lives lives;
	struct places places;
	struct epochs epochs;
	struct clocks clocks;
	struct tags tags;
	struct stacks stacks;
	struct profile_event *events;
	size_t n_events;
	uint32_t event;    /* the one that was counted */
	bool unit_is_ns;   /* its periods are nanoseconds of CPU time */
	bool fixed_period; /* all its samples stand for the same amount */
	bool timed;        /* samples carry times; else places in the file stand for them */
	bool has_chains;   /* some sample had a call chain */
	uint64_t samples;  /* counted: of randomised clocks, or of all clocks without one */
	uint64_t canary_samples;
	uint64_t filtered;          /* samples of the event that the filter left out */
	uint64_t foreign_clock;     /* samples of the event whose id belongs to no clock */
	double weight;              /* sum of the counted samples' periods */
	uint64_t first_ns, last_ns; /* of all samples of the file */
	uint64_t cut_depth, cut_dump, cut_unwind; /* counted samples whose stack is cut */
};

/* Reads the bundle's reader from where it stands (its beginning) to the end, twice. On failure
 * *profile needs no release. */
MUST_CHECK enum status profile_build(struct profile *profile, struct bundle *bundle,
				     struct symbolizer *symbolizer, const struct sys *sys,
				     const struct profile_options *options, struct error *error);
void profile_release(struct profile *profile);

/* Columns of a cell number: cell = epoch * columns + column. */
static inline uint32_t profile_columns(const struct profile *profile)
{
	return profile->clocks.n_clocks + profile->clocks.n_canaries;
}

/* Is every occurrence of the event a sample (a period of 1)? Then there is no clock that could be in step with
 * the program. */
bool profile_is_exact(const struct profile *profile);

struct profile_frames {
	uint32_t *places; /* numbers in profile->places, innermost first */
	size_t n, capacity;
};

/* Fills *frames (zeroed at first, reused after) with the places of a stack; the places are looked up in
 * the timeline, not named. */
MUST_CHECK enum status profile_frames(struct profile *profile, const struct stack *stack,
				      struct profile_frames *frames, struct error *error);
void profile_frames_release(struct profile_frames *frames);

#endif
