/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The attributes of perf.data and the ids below them.
 *
 *	per event      one for its clocks (all randomised ones are ids of this one attribute, so that
 *	               other readers show one profile), one for its canaries if it has any
 *	per member     of a :S group, one each
 *	last           the sideband: a dummy event that carries mmap, comm, fork and exit records
 *
 * Ids in the file are ours, not the kernel's: they name (clock, slot) for the whole recording, while
 * the kernel events behind a slot come and go with threads. Every record is stored under these ids:
 *
 *	1 + clock * n_slots + slot, then the members', then the sideband's
 *
 * An attribute is also what its events are opened with, apart from the period.
 */
#ifndef ASSAY_RECORD_ATTRIBUTES_H
#define ASSAY_RECORD_ATTRIBUTES_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "record/plan.h"
#include "record/record.h"

struct attribute {
	struct perf_event_attr attr;
	char *name;
	uint32_t event; /* index in the event list; UINT32_MAX for the sideband */
	uint64_t *ids;
	size_t n_ids;
};

struct attributes {
	struct attribute *items;
	size_t n, capacity;
	uint32_t n_slots;  /* per clock: the CPUs of the recording */
	uint32_t sideband; /* index */
	uint64_t sideband_first_id;
};

/* `inherit`: the clocks are inherited by what the target starts, and cannot be read with samples.
 * Fills clock.attribute of the plan. */
MUST_CHECK enum status attributes_make(struct attributes *attributes, struct plan *plan,
				       const struct record_options *options, uint32_t n_slots,
				       bool inherit, struct error *error);
void attributes_release(struct attributes *attributes);

/* The attribute of member event `event` (index in the event list); NULL when it is none. */
const struct attribute *attributes_member(const struct attributes *attributes,
					  const struct event_list *events, size_t event);

uint64_t attributes_clock_id(const struct attributes *attributes, uint32_t clock, uint32_t slot);
/* Of the `n`th id of a member attribute: (clock of the leader, slot) in the same order as above. */
uint64_t attributes_member_id(const struct attribute *member, const struct attributes *attributes,
			      uint32_t leader_clock_number, uint32_t slot);

/* What a clock's event is opened with, but for the period. */
void attribute_for_event(struct perf_event_attr *attr, const struct event *event,
			 const struct record_options *options, bool inherit);
void attribute_for_sideband(struct perf_event_attr *attr);

#endif
