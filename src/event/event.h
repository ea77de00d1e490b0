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
 * vendors' names. docs/events.md tells users; sources: tools/perf/util/parse-events.y and
 * perf-list(1), compared with the perf that is installed by tests/end_to_end.
 *
 * Start reading the implementation at parse.c.
 */
#ifndef ASSAY_EVENT_EVENT_H
#define ASSAY_EVENT_EVENT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "base/sys.h"

/* No list may hold more: a glob such as `*:*` matches thousands of tracepoints, and each event costs
 * a descriptor per CPU or thread. */
#define EVENT_MAX 1024

enum event_kind {
	EVENT_CLOCK,    /* cpu-clock, task-clock: hrtimer, unit ns */
	EVENT_SOFTWARE, /* page-faults, context-switches, ... : counted by the kernel */
	EVENT_HARDWARE, /* a PMU counter */
	EVENT_TRACEPOINT,
	EVENT_BREAKPOINT,
	EVENT_DUMMY,
};

struct event {
	/* type, config*, bp_*, exclude_*, precise_ip, pinned, exclusive, size; sample_period or freq
	 * only when the text sets them. perf samples each occurrence (period 1) of a tracepoint, a
	 * breakpoint and bpf-output unless told otherwise; that choice is the caller's. */
	struct perf_event_attr attr;
	enum event_kind kind;
	char *asked;   /* as typed, this event's part */
	char *granted; /* canonical name of what attr opens, modifiers included */
	char *name;    /* the same without modifiers */
	char *label;   /* pmu/.../name=LABEL/: what the user wants it called; NULL */
	/* Why attr measures something else than was typed (a substitution, to be stored and shown);
	 * NULL when it measures what was typed. A mere other spelling of it is no substitution. */
	char *why;
	/* What event_weaken gave up so far; `why` is made of it. */
	struct {
		unsigned int precise_typed; /* precise_ip as typed, 0: not lowered */
		bool kernel;
		int paranoid; /* the level at which the kernel was left out */
		bool cycles;
		unsigned long long period; /* of cycles, typed */
	} weakened;
	const char *unit; /* "ns" for clocks, else the event's name */
	int group; /* events with the same number >= 0 form a group, its first is the leader; -1 */
	bool group_read; /* :S on the group or event */
	bool group_weak; /* :W: when the group cannot be opened, open its events alone */
	bool period_typed, freq_typed; /* pmu/.../period=,freq=/ */
	bool precise_max;              /* :P: the highest precise_ip that opens, no substitution */
	bool guest_typed;              /* :G or :H */
	bool by_default;               /* nobody typed it: event_default chose it */
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

/* Appends the events of one -e argument (comma-separated, groups in braces). One typed event may
 * become several: a glob, a PMU with several instances, a hybrid CPU (then groups are split so that
 * each stays on one PMU). On failure the list is as before and the error names the word that was not
 * understood, its position (error.offset, and in the text counted from 1), and near misses. */
MUST_CHECK enum status event_parse(struct event_list *list, const struct sys *sys,
				   const struct event_roots *roots, const char *text,
				   struct error *error);

/* The default: cycles where a hardware PMU can count them, else cpu-clock (then `why` is set and the
 * report carries the substitution only if the user asked for cycles, that is !by_default).
 * `user_only` adds :u. Opens and closes events on the calling thread to find out. */
MUST_CHECK enum status event_default(struct event_list *list, const struct sys *sys, bool user_only,
				     struct error *error);

/* What to fall back to when opening `event` failed with this errno (positive): lower precise_ip, drop
 * kernel (EACCES at paranoid 2), cycles -> cpu-clock, and exclude_guest that nobody typed on a PMU
 * that excludes nothing. True when `event` was changed: `granted`, and `why` unless what is measured
 * stayed as typed. Each call takes one step; call it again after the next failure until it says no. */
bool event_weaken(struct event *event, const struct sys *sys, int os_errno);

/* What an event was to be opened on: the kernel has other rules for each. */
enum event_target {
	EVENT_ON_SELF, /* the caller, or what it has started */
	EVENT_ON_TASK, /* another process or thread */
	EVENT_ON_CPU,  /* whole CPUs, or a cgroup on them */
};

/* Turns errno (positive) of perf_event_open into cause, the knob in the way, and what to try; the event
 * was for the caller's own processes. */
enum status event_open_error(struct error *error, const struct sys *sys, const struct event *event,
			     int os_errno);

/* The same, for any target. */
enum status event_open_error_on(struct error *error, const struct sys *sys,
				const struct event *event, int os_errno, enum event_target target);

#endif
