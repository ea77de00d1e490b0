/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * errno of perf_event_open(2) in words: the cause, the knob in the way, what to try. One errno has
 * several causes; those that the attribute or the machine's settings rule out are not told.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "event/grammar.h"
#include "event/paranoid.h"

static const char *shown_name(const struct event *event)
{
	return event->granted ? event->granted : event->asked ? event->asked : "event";
}

/* The highest perf_event_paranoid at which the kernel lets anybody open this, INT_MIN: it does not depend
 * on that. From kernel/events/core.c: perf_allow_tracepoint() wants -1, perf_allow_cpu() (no task) 0,
 * perf_allow_kernel() (kernel not excluded) 1, and Debian's patch 2 for anything. Tasks of others need
 * ptrace access or CAP_PERFMON, whatever the level is (perf_check_permission()). */
static int level_needed(const struct event *event, enum event_target target, int level)
{
	int needed = 2;

	if (!event->attr.exclude_kernel)
		needed = 1;
	if (target == EVENT_ON_CPU)
		needed = 0;
	if (event->kind == EVENT_TRACEPOINT)
		needed = -1;
	return level > needed ? needed : INT_MIN;
}

/* What the level in the way forbids, and what else than changing it would do. */
static const char *level_hint(const struct event *event, enum event_target target, int level)
{
	if (event->kind == EVENT_TRACEPOINT)
		return "; a tracepoint needs -1, and a user who may read tracefs";
	if (target == EVENT_ON_CPU)
		return "; whole CPUs (-a, -C, scopes per CPU) need 0 or less";
	if (level > 2)
		return "; anything at all needs 2 or less";
	return event->attr.exclude_user ? "; kernel code needs 1 or less"
					: "; kernel code needs 1 or less: add :u to measure user "
					  "space only";
}

static enum status permission_error(struct error *error, const struct sys *sys,
				    const struct event *event, int os_errno,
				    enum event_target target)
{
	const char *name = shown_name(event);
	int level, needed;

	if (!event_paranoid(sys, &level))
		return error_set_errno(
			error, STATUS_PERMISSION, os_errno,
			"cannot open %s: not permitted, and "
			"/proc/sys/kernel/perf_event_paranoid cannot be read (a container "
			"may filter perf_event_open by seccomp); run as root or give assay "
			"CAP_PERFMON",
			name);
	needed = level_needed(event, target, level);
	if (needed != INT_MIN)
		return error_set_errno(
			error, STATUS_PERMISSION, os_errno,
			"cannot open %s: /proc/sys/kernel/perf_event_paranoid is %d (%s)%s. Run as "
			"root, give assay CAP_PERFMON (setcap cap_perfmon+ep), or lower it: sysctl "
			"kernel.perf_event_paranoid=%d",
			name, level, event_paranoid_means(level), level_hint(event, target, level),
			needed);
	if (target == EVENT_ON_TASK)
		return error_set_errno(
			error, STATUS_PERMISSION, os_errno,
			"cannot open %s: the process is another user's (or may not be traced by "
			"this one), which no perf_event_paranoid lifts (it is %d). Run as its "
			"user, as root, or give assay CAP_PERFMON (setcap cap_perfmon+ep)",
			name, level);
	return error_set_errno(
		error, STATUS_PERMISSION, os_errno,
		"cannot open %s: /proc/sys/kernel/perf_event_paranoid is %d (%s); this level "
		"should allow it, so seccomp (containers) or a security module stands in the way. "
		"Run as root or give assay CAP_PERFMON (setcap cap_perfmon+ep)",
		name, level, event_paranoid_means(level));
}

static enum status no_counter_error(struct error *error, const struct event *event, int os_errno)
{
	const char *name = shown_name(event);

	switch (event->kind) {
	case EVENT_HARDWARE:
		if (event->attr.precise_ip)
			return error_set_errno(
				error, STATUS_UNSUPPORTED, os_errno,
				"cannot open %s: no PMU here counts it at precise_ip %u (a "
				"virtual machine often has no PMU at all); try fewer p, or "
				"-e cpu-clock",
				name, (unsigned int)event->attr.precise_ip);
		return error_set_errno(
			error, STATUS_UNSUPPORTED, os_errno,
			"cannot open %s: no PMU here counts it%s (a virtual machine often has "
			"no PMU at all); try -e cpu-clock",
			name, os_errno == EOPNOTSUPP ? ", or none can interrupt for it" : "");
	case EVENT_TRACEPOINT:
		return error_set_errno(
			error, STATUS_NOT_FOUND, os_errno,
			"cannot open %s: the running kernel has no tracepoint of id %llu", name,
			(unsigned long long)event->attr.config);
	case EVENT_BREAKPOINT:
		return error_set_errno(
			error, STATUS_UNSUPPORTED, os_errno,
			"cannot open %s: this CPU or kernel offers no such breakpoint (x86 "
			"has none for reads alone: try :rw)",
			name);
	default:
		return error_set_errno(error, STATUS_UNSUPPORTED, os_errno,
				       "cannot open %s: the running kernel does not have it", name);
	}
}

static enum status invalid_error(struct error *error, const struct event *event, int os_errno)
{
	const struct perf_event_attr *attr = &event->attr;
	const char *cause = "the kernel refuses this combination of event, target and options";

	if (event->kind == EVENT_BREAKPOINT)
		cause = "address, length and access do not go together (the address must be a "
			"multiple "
			"of the length, and a kernel address needs :k)";
	else if (event->group >= 0)
		cause = "the members of a group must be on one PMU and fit its counters together; "
			"try "
			"them without the braces";
	else if (attr->precise_ip)
		cause = "this PMU does not count it precisely with these options; try fewer p";
	else if (event->guest_typed || attr->exclude_idle)
		cause = "this PMU cannot exclude what G, H or I ask for";
	else if (attr->exclude_user || attr->exclude_kernel)
		cause = "this PMU may not tell user from kernel (msr and uncore PMUs do not), or "
			"cannot "
			"sample";
	else if (event->kind == EVENT_HARDWARE)
		cause = "the PMU does not know this encoding, or cannot sample (msr and uncore "
			"PMUs only "
			"count)";
	return error_set_errno(error, STATUS_UNSUPPORTED, os_errno, "cannot open %s: %s",
			       shown_name(event), cause);
}

/* The errnos with one cause each. */
static const struct {
	int os_errno;
	enum status status;
	const char *cause;
} causes[] = {
	{ EMFILE, STATUS_LIMIT,
	  "too many open files: each event needs one per CPU or thread; raise `ulimit -n`, or "
	  "sample "
	  "fewer events, threads or CPUs" },
	{ ENFILE, STATUS_LIMIT,
	  "the whole system has too many open files; raise sysctl fs.file-max" },
	{ EBUSY, STATUS_UNSUPPORTED,
	  "another event holds the counter exclusively (the NMI watchdog: sysctl "
	  "kernel.nmi_watchdog=0; or another profiler)" },
	{ ENOSPC, STATUS_LIMIT,
	  "all of this CPU's breakpoint registers are taken (4 on most); name fewer mem: events, "
	  "or "
	  "end the debugger that uses them" },
	{ E2BIG, STATUS_UNSUPPORTED,
	  "the running kernel knows fewer attributes than assay asked for: it is older than the "
	  "kernel headers assay was built with" },
	{ ENOMEM, STATUS_NO_MEMORY,
	  "the kernel has no memory for it: each event costs some on each CPU; sample fewer events "
	  "or CPUs" },
	{ ESRCH, STATUS_NOT_FOUND, "the process or thread has ended" },
	{ ENOSYS, STATUS_UNSUPPORTED,
	  "this kernel was built without perf events (CONFIG_PERF_EVENTS), or a container hides "
	  "them" },
	{ EOVERFLOW, STATUS_UNSUPPORTED,
	  "a sample would be larger than the kernel allows, or sysctl "
	  "kernel.perf_event_max_stack is below the stack depth asked for" },
	{ EINTR, STATUS_IO, "interrupted by a signal" },
};

enum status event_open_error_on(struct error *error, const struct sys *sys,
				const struct event *event, int os_errno, enum event_target target)
{
	for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++)
		if (causes[i].os_errno == os_errno)
			return error_set_errno(error, causes[i].status, os_errno,
					       "cannot open %s: %s", shown_name(event),
					       causes[i].cause);
	switch (os_errno) {
	case EACCES:
	case EPERM: return permission_error(error, sys, event, os_errno, target);
	case ENOENT:
	case ENODEV:
	case ENXIO:
	case EOPNOTSUPP: return no_counter_error(error, event, os_errno);
	case EINVAL: return invalid_error(error, event, os_errno);
	default:
		return error_set_errno(error, STATUS_IO, os_errno, "cannot open %s",
				       shown_name(event));
	}
}

enum status event_open_error(struct error *error, const struct sys *sys, const struct event *event,
			     int os_errno)
{
	return event_open_error_on(error, sys, event, os_errno, EVENT_ON_SELF);
}
