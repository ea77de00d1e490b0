/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What can be had instead, one step a call. Every step that changes what is measured is explained in
 * event->why, so that a substitution is stored and shown, never silent.
 *
 *	errno                                  step
 *	ENOENT ENXIO ENODEV EOPNOTSUPP         precise_ip down by one (not for ENOENT: no PMU takes it)
 *	EINVAL                                 precise_ip down by one, then exclude_guest off (untyped)
 *	ENOENT ENXIO ENODEV EOPNOTSUPP         cycles -> cpu-clock
 *	EACCES at perf_event_paranoid >= 2     kernel left out
 *
 * Source: evsel__fallback and evsel__precise_ip_fallback of tools/perf/util/evsel.c; unlike perf, a
 * typed :pp is lowered too.
 */
#include <errno.h>
#include <stdlib.h>

#include "record/event_grammar.h"
#include "record/event_paranoid.h"

static bool no_such_counter(int os_errno)
{
	return os_errno == ENOENT || os_errno == ENXIO || os_errno == ENODEV ||
	       os_errno == EOPNOTSUPP;
}

static bool precise_lower(struct event *event)
{
	const unsigned int was = event->attr.precise_ip;

	event->attr.precise_ip = (was - 1) & 3;
	/* :P asks for the highest that there is: nothing to explain until none is left. */
	if (event->precise_max && was == 1)
		event->precise_max = false;
	else if (!event->precise_max &&
		 !event_explain(event, "precise_ip %u is not supported here, %u taken", was,
				was - 1))
		return false;
	return event_grant(event);
}

static bool is_cycles(const struct event *event)
{
	return event->attr.type == PERF_TYPE_HARDWARE &&
	       (event->attr.config & UINT32_MAX) == PERF_COUNT_HW_CPU_CYCLES;
}

static bool clock_take(struct event *event)
{
	if (!event_explain(event, "this machine shows no PMU that counts cycles, cpu-clock taken"))
		return false;
	/* A count of cycles means nothing as nanoseconds; a frequency stays one. */
	if (event->period_typed) {
		if (!event_explain(event, "its typed period of %llu cycles is dropped",
				   (unsigned long long)event->attr.sample_period))
			return false;
		event->attr.sample_period = 0;
		event->period_typed = false;
	}
	event->attr.type = PERF_TYPE_SOFTWARE;
	event->attr.config = PERF_COUNT_SW_CPU_CLOCK;
	event->attr.precise_ip = 0;
	event->precise_max = false;
	if (!event_name(event, "cpu-clock"))
		return false;
	event_classify(event);
	return event_grant(event);
}

static bool kernel_leave_out(struct event *event, const struct sys *sys)
{
	int level;

	event_paranoid(sys, &level);
	if (level < 2 || event->attr.exclude_kernel || event->attr.exclude_user ||
	    event->kind == EVENT_TRACEPOINT)
		return false;
	if (!event_explain(event, "perf_event_paranoid %d: user space only", level))
		return false;
	event->attr.exclude_kernel = event->attr.exclude_hv = 1;
	return event_grant(event);
}

bool event_weaken(struct event *event, const struct sys *sys, int os_errno)
{
	struct perf_event_attr *attr = &event->attr;

	if (os_errno == EACCES)
		return kernel_leave_out(event, sys);
	if (attr->precise_ip &&
	    (os_errno == EINVAL || (no_such_counter(os_errno) && os_errno != ENOENT)))
		return precise_lower(event);
	if (no_such_counter(os_errno) && is_cycles(event))
		return clock_take(event);
	if (os_errno == EINVAL && attr->exclude_guest && !event->guest_typed) {
		attr->exclude_guest = 0;
		return true;
	}
	return false;
}
