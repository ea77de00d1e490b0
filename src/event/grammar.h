/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the parts of the event grammar share: the argument under way, slices of it, and the errors
 * that point into it.
 *
 * Private to event_*.c. A slice never owns its bytes; it points into the argument, or (terms of a
 * sysfs alias) into a file's text that outlives it.
 */
#ifndef ASSAY_EVENT_GRAMMAR_H
#define ASSAY_EVENT_GRAMMAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event.h"

#define EVENT_TEXT_MAX  65536u /* bytes of one -e argument */
#define EVENT_FILE_MAX  4096u  /* bytes of a file in sysfs or tracefs: sysfs gives one page */
#define EVENT_NAMES_MAX 65536u /* names in one directory of sysfs or tracefs */
#define EVENT_PATH_MAX  4096u

struct event_slice {
	const char *at;
	size_t n;
};

struct event_pmus;

struct event_grammar {
	const struct sys *sys;
	const char *sysfs;
	const char *tracefs;     /* NULL until event_tracefs found one */
	const char *text;        /* the whole argument */
	struct event_pmus *pmus; /* NULL until event_pmus_get read them */
	struct event_list *list; /* the events of this argument so far */
	struct error *error;
};

/* slices */

struct event_slice event_slice_of(const char *text);
bool event_slice_is(struct event_slice slice, const char *word);        /* byte for byte */
bool event_slice_is_folded(struct event_slice slice, const char *word); /* ASCII case ignored */
bool event_slice_has_glob(struct event_slice slice);
/* The bytes before the first `c`, and those after it; without `c`, all and an empty rest. */
bool event_slice_split(struct event_slice slice, char c, struct event_slice *head,
		       struct event_slice *rest);
struct event_slice event_slice_trim(struct event_slice slice); /* blanks at both ends */
/* Decimal, or hexadecimal after 0x; the whole slice, no sign. False also when it needs > 64 bits. */
bool event_slice_number(struct event_slice slice, uint64_t *value);
bool event_slice_hex(struct event_slice slice, uint64_t *value);
/* Copies into a buffer as a C string; false when it does not fit or holds '/' or begins with '.': such
 * a word must never become part of a path. */
bool event_slice_file_name(struct event_slice slice, char *name, size_t size);

/* errors that point at a word of the argument */

/* "<words> (character N of '<text>')"; error.offset = N - 1. Bytes that a terminal would act on are
 * shown as '?'. `at` must lie in g->text. */
enum status event_refuse(struct event_grammar *g, enum status status, struct event_slice at,
			 const char *format, ...) PRINTF_LIKE(4, 5);
/* Appends to the text of the error that is already there. */
void event_refuse_more(struct event_grammar *g, const char *format, ...) PRINTF_LIKE(2, 3);
enum status event_no_memory(struct event_grammar *g);
struct event_shown {
	char text[128];
};
/* A word for a message: bounded, harmless bytes, in the buffer given. */
const char *event_show(struct event_shown *shown, struct event_slice slice);

/* near misses */

#define EVENT_NEAR_MAX 3

struct event_near {
	struct event_slice word;
	struct {
		char name[64];
		size_t distance;
	} best[EVENT_NEAR_MAX];
	size_t n;
};

/* Starts a search for names near `word`, which must outlive it. */
void event_near_init(struct event_near *near, struct event_slice word);
/* Keeps `name` when it is near and among the nearest so far. */
void event_near_offer(struct event_near *near, const char *name);
/* Appends ": did you mean a, b or c?" to the error, if anything came near. */
void event_near_tell(struct event_grammar *g, const struct event_near *near);

/* events under construction */

/* A zeroed event with attr.size set and perf's default of not counting guests, at the end of g->list.
 * The pointer holds until the next call. */
MUST_CHECK enum status event_add(struct event_grammar *g, struct event **event);
/* Takes back the event that was added last. */
void event_take_back(struct event_grammar *g);
bool event_name(struct event *event, const char *format, ...) PRINTF_LIKE(2, 3);
void event_release(struct event *event);
/* `kind` and `unit` from attr.type and attr.config; needs event->name. */
void event_classify(struct event *event);
/* Rebuilds `granted` from name and attr. False: no memory, granted as before. */
bool event_grant(struct event *event);

#endif
