/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What this machine can measure for this user, and what is in the way of the rest.
 *
 * Each check looks at one thing, says what it found and, unless all is well, the exact command or
 * setting that mends it. Where the kernel can be asked directly (may this event be opened?), it is: a
 * knob is only the explanation. Nothing is changed on the machine; events are opened on the calling
 * thread, disabled, and closed at once, and one empty cgroup is made and removed.
 */
#ifndef ASSAY_DIAGNOSE_DOCTOR_H
#define ASSAY_DIAGNOSE_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "base/sys.h"

enum doctor_state {
	DOCTOR_OK,
	DOCTOR_LIMITED, /* measuring works, but less well than it could */
	DOCTOR_BLOCKED  /* this cannot be measured */
};

struct doctor_check {
	const char *name; /* a word: scripts look for it */
	enum doctor_state state;
	char *text; /* what was found */
	char *fix;  /* "" when nothing is to be mended */
};

#define DOCTOR_CHECKS_MAX 64

struct doctor {
	struct doctor_check checks[DOCTOR_CHECKS_MAX];
	size_t n;
	char *command; /* the recommended recording command */
	char *why;     /* why that one */
	bool no_memory;
};

/* Where to look; NULL members take the running system's. */
struct doctor_roots {
	const char *proc; /* "/proc" */
	const char *sys;  /* "/sys" */
};

/* Fails only without memory. *doctor needs no init; doctor_release afterwards, also on failure. */
MUST_CHECK enum status doctor_examine(struct doctor *doctor, const struct sys *sys,
				      const struct doctor_roots *roots, struct error *error);
void doctor_release(struct doctor *doctor);

/* The check with this name, NULL if it was not made. */
const struct doctor_check *doctor_find(const struct doctor *doctor, const char *name);
enum doctor_state doctor_worst(const struct doctor *doctor);
const char *doctor_state_name(enum doctor_state state);

#endif
