/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Hardware breakpoints: mem:ADDRESS[/LENGTH][:ACCESS][:MODIFIERS].
 */
#ifndef ASSAY_EVENT_BREAKPOINT_H
#define ASSAY_EVENT_BREAKPOINT_H

#include "event/grammar.h"

/* `text` is what follows `mem:`. Adds the event; *modifiers is what is left for the modifiers. ACCESS
 * is of r, w, x (default rw); LENGTH 1 to 8 (default 4, the size of a long for x); whether the CPU can
 * do it is found out when it is opened. */
MUST_CHECK enum status event_breakpoint_add(struct event_grammar *g, struct event_slice text,
					    struct event_slice *modifiers);

#endif
