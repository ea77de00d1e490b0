/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a word of the grammar means on this machine.
 */
#ifndef ASSAY_EVENT_RESOLVE_H
#define ASSAY_EVENT_RESOLVE_H

#include "event/grammar.h"
#include "event/term.h"

/* Adds the events that WORD[:MODIFIERS] means and hands back the modifiers. */
MUST_CHECK enum status event_resolve(struct event_grammar *g, struct event_slice word,
				     struct event_slice *modifiers);

/* Adds the events that WORD/TERMS/ means. */
MUST_CHECK enum status event_resolve_with_terms(struct event_grammar *g, struct event_slice word,
						const struct event_terms *terms);

#endif
