/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The perf events that are open: each belongs to one slot of one clock (or is a member of such an
 * event's group, or carries the sideband), and is found by the id that the kernel puts into records.
 *
 * Events come and go with threads in some scopes; what is stored of them (ids, draws, intervals)
 * belongs to the slot.
 */
#ifndef ASSAY_RECORD_COUNTERS_H
#define ASSAY_RECORD_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"
#include "base/sys.h"
#include "record/attributes.h"
#include "record/channel.h"
#include "record/drawer.h"
#include "record/id_map.h"
#include "record/tick.h"

#define COUNTER_NO_CLOCK UINT32_MAX

struct counter {
	int fd; /* -1: this place is free */
	uint64_t kernel_id, stable_id;
	uint32_t clock, slot; /* clock COUNTER_NO_CLOCK: a member or the sideband */
	pid_t tid;            /* that it follows; -1 in per-CPU scopes */
	uint32_t next;        /* of the same thread, or free places; ID_MAP_NONE ends */
	struct tick_state tick;
	uint64_t steered_period; /* frequency clocks: PERIOD of the last sample */
	uint64_t throttled_at_ns;
};

struct counters {
	const struct sys *sys;
	const struct record_options *options;
	struct plan *plan;
	const struct attributes *attributes;
	struct channels *channels;
	struct drawer *drawer;
	struct counter *items;
	size_t n, capacity;
	uint32_t free_list;
	struct id_map by_kernel_id;
	uint64_t *read_totals; /* per stable id: realised intervals of the stored samples */
	size_t n_open;
	bool inherited; /* the clocks are inherited: no period is ever set on them */
};

/* Where an event is to be opened: arguments of perf_event_open. */
struct counter_place {
	uint32_t slot; /* index of the channel */
	pid_t pid;     /* thread, -1, or the cgroup's descriptor */
	unsigned long flags;
	pid_t tid; /* to remember; -1 */
};

/* For the words of a refusal: what an event with these arguments was to be opened on. */
enum event_target counter_target(const struct record_options *options, pid_t pid,
				 unsigned long flags);

/* Opens nothing yet. Borrows everything but the memory of its own tables. */
MUST_CHECK enum status counters_init(struct counters *counters, const struct sys *sys,
				     const struct record_options *options, struct plan *plan,
				     const struct attributes *attributes, struct channels *channels,
				     struct drawer *drawer, struct error *error);
void counters_release(struct counters *counters);

/* Opens one event for every clock in this place, groups included, attached to the place's channel.
 * `chain`: the list of this thread's events, to which they are added (NULL in per-CPU scopes). All
 * or nothing. error->os_errno tells running out of descriptors (EMFILE) from a thread that ended
 * (ESRCH). */
MUST_CHECK enum status counters_open(struct counters *counters, const struct counter_place *place,
				     uint32_t *chain, struct error *error);

/* Adds an event that was opened elsewhere (the sideband) and its stable id. */
MUST_CHECK enum status counters_adopt(struct counters *counters, int fd, uint64_t stable_id,
				      uint32_t slot, pid_t tid, uint32_t *chain,
				      struct error *error);

/* Closes every event of a chain and empties it. */
void counters_close_chain(struct counters *counters, uint32_t *chain);

/* The event with this kernel id, NULL for one that was closed or never ours. */
struct counter *counters_find(struct counters *counters, uint64_t kernel_id);

/* Puts a newly drawn period in force on this event and logs it. An event whose thread has ended is
 * left alone. */
MUST_CHECK enum status counters_redraw(struct counters *counters, struct counter *counter,
				       struct error *error);

/* Redraws every event of a randomised clock that saw a sample since its last draw; with `all` (the
 * rate has changed) every event. `redrawn` counts per clock. */
MUST_CHECK enum status counters_redraw_sampled(struct counters *counters, bool all,
					       uint64_t *redrawn, struct error *error);

#endif
