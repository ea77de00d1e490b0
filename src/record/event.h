/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Events as users type them: perf's grammar, turned into attributes for perf_event_open.
 *
 *	cpu-clock  task-clock  page-faults  cycles:pp  instructions:uk  sched:sched_switch  r01c2
 *	cpu/event=0x3c,umask=0/u  '{cycles,instructions}:S'  mem:0x1000:rw  L1-dcache-load-misses
 *	dummy  and vendors' names (libpfm4)
 *
 * The grammar is own code over sysfs (PMU formats and aliases) and tracefs (tracepoint ids), because
 * libpfm4 knows neither modifiers like :pp and :uk nor tracepoints nor pmu/terms/; libpfm4 serves
 * vendors' names. Source: tools/perf/util/parse-events.y and perf-list(1).
 */
#ifndef ASSAY_RECORD_EVENT_H
#define ASSAY_RECORD_EVENT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "base/sys.h"

enum event_kind {
	EVENT_CLOCK,    /* cpu-clock, task-clock: hrtimer, unit ns */
	EVENT_SOFTWARE, /* page-faults, context-switches, ... : counted by the kernel */
	EVENT_HARDWARE, /* a PMU counter */
	EVENT_TRACEPOINT,
	EVENT_BREAKPOINT,
	EVENT_DUMMY,
};

struct event {
	struct perf_event_attr
		attr; /* type, config*, bp_*, exclude_*, precise_ip, pinned, exclusive;
				      * sample_period/freq only when the text sets them */
	enum event_kind kind;
	char *asked;      /* as typed, this event's part */
	char *granted;    /* canonical name of what attr opens */
	char *why;        /* reason when granted differs from asked, NULL otherwise */
	const char *unit; /* "ns" for clocks, else the event's name */
	int group; /* events with the same number >= 0 form a group, its first is the leader; -1 */
	bool group_read;               /* :S on the group */
	bool period_typed, freq_typed; /* pmu/.../period=,freq=/ */
	int *cpus; /* CPUs that this PMU counts on, from its sysfs `cpus`/`cpumask`; NULL: all */
	size_t n_cpus;
};

struct event_list {
	struct event *events;
	size_t n, capacity;
	int n_groups;
};

void event_list_init(struct event_list *list);
void event_list_release(struct event_list *list);

/* Where the grammar looks names up; NULL members take the running system's places. */
struct event_roots {
	const char *sysfs;   /* "/sys" */
	const char *tracefs; /* "/sys/kernel/tracing", else "/sys/kernel/debug/tracing" */
};

/* Appends the events of one -e argument (comma-separated, groups in braces). On failure the list is
 * as before and the error names the word that was not understood, its position, and near misses. */
MUST_CHECK enum status event_parse(struct event_list *list, const struct sys *sys,
				   const struct event_roots *roots, const char *text,
				   struct error *error);

/* The default: cycles where a hardware PMU can count them, else cpu-clock (then `why` is set and the
 * report carries the substitution only if the user asked for cycles). `user_only` adds :u. */
MUST_CHECK enum status event_default(struct event_list *list, const struct sys *sys, bool user_only,
				     struct error *error);

/* What to fall back to when opening `event` failed with this errno: lower precise_ip, drop kernel
 * (EACCES at paranoid 2), cycles -> cpu-clock. True when `event` was changed (with `why`). */
bool event_weaken(struct event *event, const struct sys *sys, int os_errno);

/* Turns errno of perf_event_open into cause, the knob in the way, and what to try. */
enum status event_open_error(struct error *error, const struct sys *sys, const struct event *event,
			     int os_errno);

#endif
