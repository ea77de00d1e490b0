/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Vendors' event names (INST_RETIRED:ANY, CPU_CYCLES, L2_RQSTS.MISS), through libpfm4.
 */
#ifndef ASSAY_EVENT_VENDOR_H
#define ASSAY_EVENT_VENDOR_H

#include "event/grammar.h"
#include "event/term.h"

/* Adds the event when libpfm4 knows it for this machine's CPU. libpfm4's own attributes (":u",
 * ":c=1") are part of the name; where it does not take the last ":LETTERS", and they are perf's
 * modifiers, *modifiers gets them, else it is empty.
 * STATUS_NOT_FOUND without text: libpfm4 does not know the word. STATUS_USAGE: it knows the event but
 * not what follows. libpfm4 keeps tables per process, filled at its first use; not thread-safe. */
MUST_CHECK enum status event_vendor_add(struct event_grammar *g, struct event_slice word,
					const struct event_terms *terms,
					struct event_slice *modifiers);

/* Offers the names of the PMUs that libpfm4 finds on this machine. */
void event_vendor_offer(struct event_near *near);

#endif
