/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the rows of a report are about: functions, modules or source lines, and which of them a place
 * belongs to.
 *
 * A function is one of its module's function model: two functions of one name stay two, and a split
 * piece (.cold) belongs to its function. With inlines, a place has the chain of inlined functions
 * around it; these are subjects of their own ("name (inlined)", as perf shows them), and the last
 * subject of a place is always the real function whose code it is. Self goes to that one, so that a
 * row's self share is what a probe on the function would measure; the inlined ones appear in totals.
 *
 * With SUBJECT_STACK every stack of functions that occurred is one subject: its name is that of its frames,
 * innermost first ("leaf < caller < main"), its module the leaf's. It has a self share only.
 *
 * An address without a function is "[unknown]" of its module: one row, never a guessed name.
 */
#ifndef ASSAY_PROFILE_SUBJECTS_H
#define ASSAY_PROFILE_SUBJECTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "profile/keytable.h"
#include "profile/places.h"

#define SUBJECT_FUNCTION 1u
#define SUBJECT_MODULE   2u
#define SUBJECT_LINE     4u
#define SUBJECT_STACK    8u /* whole stacks of functions instead of one function */

struct subject {
	const char *name;   /* owned by the symbolizer; NULL when functions are not told apart */
	const char *symbol; /* raw name where it differs, else NULL */
	struct module *module;
	const char *module_name; /* "[unknown]", "[guest]", ... without a module */
	const char *file;        /* NULL: unknown, or lines are not told apart */
	uint32_t line;
	uint64_t start; /* of the function in its object, tells namesakes apart */
	bool inlined, named;
	enum symbol_miss miss;
	/* SUBJECT_STACK: subjects of its frames, innermost first; owned here, as the name then is */
	const uint32_t *stack;
	size_t n_stack;
};

struct subjects {
	unsigned int by; /* SUBJECT_* */
	struct subject *items;
	size_t n, capacity;
	struct keytable index;
	uint32_t *list; /* of places: list[place->subjects ...], innermost first */
	size_t n_list, list_capacity;
	uint32_t truncated; /* the subject "[truncated]", KEYTABLE_NONE until used */
};

/* `by`: SUBJECT_*, what tells rows apart. */
void subjects_init(struct subjects *subjects, unsigned int by);
void subjects_release(struct subjects *subjects);

/* Names the place, once: fills place->subjects, n_subjects (at least 1) and miss. */
MUST_CHECK enum status subjects_of_place(struct subjects *subjects, struct places *places,
					 struct place *place, struct error *error);

/* The subject of a whole stack whose frames are `n` subjects, innermost first. */
MUST_CHECK enum status subjects_of_stack(struct subjects *subjects, const uint32_t *frames,
					 size_t n, uint32_t *index, struct error *error);

/* The root under which all cut stacks are put. */
MUST_CHECK enum status subjects_truncated(struct subjects *subjects, uint32_t *index,
					  struct error *error);

#endif
