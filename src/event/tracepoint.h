/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tracepoints, SYSTEM:NAME, by their id in tracefs: <tracefs>/events/<system>/<name>/id.
 */
#ifndef ASSAY_EVENT_TRACEPOINT_H
#define ASSAY_EVENT_TRACEPOINT_H

#include "event/grammar.h"
#include "event/term.h"

/* True when tracefs can be read and has that system; a glob always may. Fills no error. */
bool event_tracepoint_has_system(struct event_grammar *g, struct event_slice system);

/* Adds the tracepoint, or all that a glob in either part matches (in byte order, at most EVENT_MAX).
 * Errors: tracefs not mounted or not readable (with the command that mends it), unknown system or
 * name (with near misses). */
MUST_CHECK enum status event_tracepoint_add(struct event_grammar *g, struct event_slice system,
					    struct event_slice name,
					    const struct event_terms *terms);

#endif
