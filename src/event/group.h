/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Groups: which events are scheduled together.
 */
#ifndef ASSAY_EVENT_GROUP_H
#define ASSAY_EVENT_GROUP_H

#include "event/grammar.h"

/* Makes the events of g->list from index `first` on one group, or, where typed members stand for one
 * event on each of several PMUs, one group per PMU: the kernel groups within a PMU only. Members of a
 * group are brought together, order otherwise kept; software events and those typed for one PMU go
 * with their PMU's group, else with the first. `members[i]` is the index at which typed member i
 * begins. */
MUST_CHECK enum status event_group_form(struct event_grammar *g, size_t first,
					const size_t *members, size_t n_members);

#endif
