/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The comma-separated terms between slashes: `event=0x3c,umask=1,name='my, name',period=100003`.
 */
#ifndef ASSAY_EVENT_TERM_H
#define ASSAY_EVENT_TERM_H

#include "event/grammar.h"

#define EVENT_TERMS_MAX 64

struct event_term {
	struct event_slice name;
	struct event_slice value; /* without its quotes; empty when none was given */
	bool has_value;
	bool is_number;
	uint64_t number; /* 1 when no value was given: a flag */
};

struct event_terms {
	struct event_term at[EVENT_TERMS_MAX];
	size_t n;
};

enum event_term_role {
	EVENT_TERM_OWN,        /* config, config1..3, period, freq, name */
	EVENT_TERM_WHOLE,      /* perf's, but a matter of the whole recording: *use says of what */
	EVENT_TERM_OF_THE_PMU, /* anything else */
};

/* Splits; says what is wrong through event_refuse, so the slice must lie in g->text. An empty list
 * is fine (`cycles//u`). */
MUST_CHECK enum status event_terms_parse(struct event_terms *terms, struct event_grammar *g,
					 struct event_slice text);

/* The same over an alias file, which is not the user's text: false when it is malformed. */
bool event_terms_parse_file(struct event_terms *terms, struct event_slice text);

enum event_term_role event_term_role(const struct event_term *term, const char **use);

/* period=, freq=, name= of an event; config terms are left to the caller. */
MUST_CHECK enum status event_terms_apply_own(const struct event_terms *terms,
					     struct event_grammar *g, struct event *event);

/* Refuses all but period=, freq= and name=: for events that are not a PMU's terms. */
MUST_CHECK enum status event_terms_only_own(const struct event_terms *terms,
					    struct event_grammar *g);

/* The field that config, config1, ... name, as in event_field_set; -1 for other names. */
int event_term_field(const struct event_term *term);

#endif
