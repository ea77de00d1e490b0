/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lint: seam because processes and their stops are real whatever the table is
 */
#include "probe/follow_births.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/layout.h"
#include "base/array.h"
#include "target/process.h"

#define ORPHAN_NS UINT64_C(50000000) /* a parent that lives tells of its child within this time */
#define KCMP_VM   1                  /* linux/kcmp.h */

/* What was written into the parent so far, shared by all children that come while it stays the same. */
static struct work_family *family_of(struct work *parent)
{
	struct work_family *family = parent->family;

	if (!parent->n_done) /* a child itself, or nothing was written */
		return family;
	if (!family || family->n != parent->n_done) {
		if (family && !--family->users)
			free(family);
		family = malloc(sizeof(*family) + parent->n_done * sizeof(*family->writes));
		parent->family = family;
		if (!family)
			return NULL;
		family->users = 1;
		family->n = parent->n_done;
		memcpy(family->writes, parent->done, parent->n_done * sizeof(*family->writes));
	}
	return family;
}

static struct work *child_make(struct follow *follow, struct work *parent, pid_t pid, bool vforked)
{
	struct work *child = follow_add(follow, pid);

	if (!child)
		return NULL;
	child->stage = WORK_UNBORN;
	child->parent = parent->pid;
	child->vforked = vforked;
	child->decided = parent->decided;
	child->complete = parent->complete;
	child->program = parent->program;
	child->owner = parent->owner;
	child->buffers = parent->buffers;
	child->buffers_bytes = parent->buffers_bytes;
	child->n_regions = parent->n_regions;
	memcpy(child->gadgets, parent->gadgets, sizeof(child->gadgets));
	memcpy(child->regions, parent->regions, sizeof(child->regions));
	child->family = family_of(parent);
	if (child->family)
		child->family->users++;
	return child;
}

static uint64_t control_magic(struct work *work)
{
	struct agent_control control = { 0 };
	struct error ignored;

	if (!work->n_regions || work_open(work, &ignored) != STATUS_OK ||
	    sys_pread_full(work->sys, work->memory_fd, &control, sizeof(control),
			   (off_t)(work->regions[0].address + AGENT_CONTROL_OFFSET)) !=
		    (ssize_t)sizeof(control))
		return 0;
	return control.magic;
}

/* vfork, posix_spawn, clone(CLONE_VM): what a forked child would read as zeros is there. */
static bool shares_memory(struct work *work)
{
	const long differ = syscall(SYS_kcmp, work->parent, work->pid, KCMP_VM, 0, 0);

	if (differ >= 0)
		return differ == 0;
	return work->vforked || control_magic(work);
}

static void inheritance_drop(struct work *work)
{
	work->n_regions = 0;
	work->program = 0;
	work->complete = false;
	work->buffers = 0;
}

static void shares_on(struct work *work)
{
	inheritance_drop(work);
	if (work->family && !--work->family->users)
		free(work->family);
	work->family = NULL;
	work->decided = true;
	work->stage = WORK_RUNS;
	follow_go_on(work, work->pid, 0);
}

/* Runs on with what it has, which is off; it is put right with the others. */
static void unable(struct follow *follow, struct work *work, const char *reason)
{
	follow_unable(follow, work, reason);
	inheritance_drop(work);
	follow_let_go(follow, work);
	follow_check(follow, work);
}

/* What its parent was being given when it was made: the child gets all of it by itself. */
static enum status unfinished_undo(struct work *work, struct error *error)
{
	enum status status = STATUS_OK;

	if (work->family) {
		status = work_restore_family(work, error);
		work->n_done = 0;
		free(work->held.threads);
		work->holding = false;
		if (status == STATUS_OK)
			status = work_hold(work, error);
		if (work->family && !--work->family->users)
			free(work->family);
		work->family = NULL;
	}
	inheritance_drop(work);
	return status;
}

/* It stands before its first instruction. */
static void born(struct follow *follow, struct work *work)
{
	struct error error;
	enum status status;

	if (shares_memory(work)) {
		shares_on(work);
		return;
	}
	work->stage = WORK_IS_HELD;
	status = work_hold(work, &error);
	if (status != STATUS_OK || follow->ending)
		return;
	if (work->complete && work->n_regions) {
		status = work_adopt(work, &error);
		if (status == STATUS_OK)
			follow_tell(follow, work, GUARDIAN_BORN, false);
	} else if (!work->decided) {
		status = unfinished_undo(work, &error);
		if (status == STATUS_OK)
			follow_tell(follow, work, GUARDIAN_READY, false);
	} else {
		inheritance_drop(work);
		follow_let_go(follow, work);
	}
	if (status != STATUS_OK)
		unable(follow, work, error.text);
}

void follow_birth(struct follow *follow, pid_t tid, bool vforked)
{
	unsigned long message = 0;
	struct work *parent;
	pid_t pid;

	if (ptrace(PTRACE_GETEVENTMSG, tid, NULL, &message) < 0)
		return;
	parent = follow_find(follow, process_of_thread(follow->sys, tid));
	/* a thread, or a process that has ended already */
	if (!parent || process_of_thread(follow->sys, (pid_t)message) != (pid_t)message ||
	    follow_find(follow, (pid_t)message))
		return;
	pid = (pid_t)message;
	if (!child_make(follow, parent, pid, vforked))
		return;
	for (size_t i = 0; i < follow->n_newborns; i++) {
		if (follow->newborns[i].pid == pid) {
			follow_newborn_drop(follow, pid);
			born(follow, follow_find(follow, pid));
			return;
		}
	}
}

static void detach(struct follow *follow, pid_t pid, const char *reason)
{
	const struct work stranger = { .pid = pid };

	follow_unable(follow, &stranger, reason);
	ptrace(PTRACE_DETACH, pid, NULL, NULL);
}

void follow_newborn(struct follow *follow, struct work *work, pid_t pid, int status)
{
	if (work) {
		born(follow, work);
	} else if (follow->n >= GUARDIAN_MAX_FOLLOWED) {
		detach(follow, pid, "too many processes at once");
	} else if (array_reserve(&follow->newborns, &follow->newborns_capacity,
				 follow->n_newborns + 1)) {
		follow->newborns[follow->n_newborns++] =
			(struct follow_newborn){ pid, status, sys_now_ns(follow->sys) };
	} else {
		detach(follow, pid, "out of memory");
	}
}

void follow_newborn_drop(struct follow *follow, pid_t pid)
{
	for (size_t i = 0; i < follow->n_newborns; i++) {
		if (follow->newborns[i].pid == pid)
			follow->newborns[i] = follow->newborns[--follow->n_newborns];
	}
}

/* Whose fork it is: its parent's, else that of one that has the same code at the same place. */
static struct work *parent_find(struct follow *follow, pid_t pid)
{
	struct work *parent = follow_find(follow, process_parent(follow->sys, pid));

	for (size_t i = 0; !parent && i < follow->n; i++) {
		struct work *work = follow->works[i];

		if (work->n_regions && work_has_region(work, pid))
			parent = work;
	}
	return parent;
}

bool follow_newborns_settle(struct follow *follow, uint64_t now_ns)
{
	for (size_t i = 0; i < follow->n_newborns;) {
		const struct follow_newborn newborn = follow->newborns[i];
		struct work *parent, *child;

		if (now_ns - newborn.since_ns < ORPHAN_NS) {
			i++;
			continue;
		}
		follow_newborn_drop(follow, newborn.pid);
		parent = parent_find(follow, newborn.pid);
		child = parent ? child_make(follow, parent, newborn.pid, false) : NULL;
		if (child)
			born(follow, child);
		else
			detach(follow, newborn.pid, "its parent was killed when it made it");
	}
	return follow->n_newborns;
}
