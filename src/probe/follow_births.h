/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How followed processes get children (follow.h): for the files that following is made of.
 *
 *	the parent's stop	says the child's id: the child is known from here on, with what it inherits (WORK_UNBORN)
 *	the child's own stop	before its first instruction: it is adopted, handed to assay, or runs on
 *
 * Either may come first.
 */
#ifndef ASSAY_PROBE_FOLLOW_BIRTHS_H
#define ASSAY_PROBE_FOLLOW_BIRTHS_H

#include "probe/follow.h"

/* Thread `tid` stands at the event of a clone of any kind. */
void follow_birth(struct follow *follow, pid_t tid, bool vforked);

/* The first stop of process `pid`. `work`: what its parent's stop has said of it, NULL: nothing yet. */
void follow_newborn(struct follow *follow, struct work *work, pid_t pid, int status);

/* One that was waiting for its parent's stop has ended. */
void follow_newborn_drop(struct follow *follow, pid_t pid);

/* Newborns whose parent's stop does not come: it was killed. True when others are waiting. */
bool follow_newborns_settle(struct follow *follow, uint64_t now_ns);

/* A process that is followed from now on; NULL: too many. */
struct work *follow_add(struct follow *follow, pid_t pid);

/* An event for assay. */
void follow_tell(struct follow *follow, struct work *work, enum guardian_event_kind kind,
		 bool by_exec);

/* Lists a process that is not probed, and why. */
void follow_unable(struct follow *follow, const struct work *work, const char *reason);

/* Lets one thread go on; `work`: its process, if it is known. */
void follow_go_on(const struct work *work, pid_t tid, int signal);

#endif
