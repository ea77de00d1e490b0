/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The letters after an event or a group: what to exclude, how precise, how to schedule.
 */
#ifndef ASSAY_EVENT_MODIFIER_H
#define ASSAY_EVENT_MODIFIER_H

#include "event/grammar.h"

struct event_modifiers {
	bool user, kernel, hypervisor; /* u k h */
	bool guest, host;              /* G H */
	unsigned int precise;          /* p pp ppp */
	bool precise_max;              /* P */
	bool group_read;               /* S */
	bool pinned;                   /* D */
	bool weak;                     /* W */
	bool exclude_idle;             /* I */
	bool exclusive;                /* e */
	bool bpf;                      /* b */
	bool any;                      /* some letter was given */
};

/* Refuses a letter that perf's record does not know, or one given twice, at its position. */
MUST_CHECK enum status event_modifiers_parse(struct event_modifiers *modifiers,
					     struct event_grammar *g, struct event_slice letters);

/* True when every letter is a modifier: for deciding what a word is, without an error. */
bool event_modifiers_are(struct event_slice letters);

/* Applies them. `adding`: on top of the event's own ones (those of its group), as perf does.
 * `leader`: D and e mean something on the first event of a group only. Updates `granted`. */
bool event_modifiers_apply(const struct event_modifiers *modifiers, struct event *event,
			   bool adding, bool leader);

#endif
