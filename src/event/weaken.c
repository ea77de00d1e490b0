/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What can be had instead, one step a call. Every step that changes what is measured is explained in
 * event->why, so that a substitution is stored and shown, never silent.
 *
 *	errno                                steps, the first that is left
 *	EINVAL                               exclude_guest off (untyped: no substitution);
 *	                                     precise_ip down by one
 *	ENOENT ENXIO ENODEV EOPNOTSUPP       precise_ip down by one; cycles -> cpu-clock
 *	EACCES at perf_event_paranoid >= 2   kernel left out
 *
 * Source: evsel__fallback and evsel__precise_ip_fallback of tools/perf/util/evsel.c; unlike perf, a
 * typed :pp is lowered too. A machine without any PMU answers ENOENT at every precision, so that
 * `cycles:pp` takes three calls to become cpu-clock.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/grammar.h"
#include "event/paranoid.h"

static bool no_such_counter(int os_errno)
{
	return os_errno == ENOENT || os_errno == ENXIO || os_errno == ENODEV ||
	       os_errno == EOPNOTSUPP;
}

/* Makes `why` of what was given up. A clock has no precision, so none is told of. */
static bool why_write(struct event *event)
{
	char clock[160] = "", period[80] = "", precise[80] = "", kernel[80] = "", *why = NULL;

	if (event->weakened.cycles)
		snprintf(clock, sizeof(clock),
			 "; this machine shows no PMU that can sample cycles, cpu-clock taken");
	if (event->weakened.period)
		snprintf(period, sizeof(period), "; its typed period of %llu cycles is dropped",
			 event->weakened.period);
	if (event->weakened.precise_typed && !event->weakened.cycles)
		snprintf(precise, sizeof(precise),
			 "; precise_ip %u is not supported here, %u taken",
			 event->weakened.precise_typed, (unsigned int)event->attr.precise_ip);
	if (event->weakened.kernel)
		snprintf(kernel, sizeof(kernel), "; perf_event_paranoid %d: user space only",
			 event->weakened.paranoid);
	if (asprintf(&why, "%s%s%s%s", clock, period, precise, kernel) < 0)
		return false;
	free(event->why);
	event->why = NULL;
	if (*why)
		event->why = strdup(why + 2); /* without the first "; " */
	if (*why && !event->why) {
		free(why);
		return false;
	}
	free(why);
	return event_grant(event);
}

static bool precise_lower(struct event *event)
{
	struct perf_event_attr *attr = &event->attr;

	/* :P asks for the highest that there is, whichever that is. */
	if (!event->precise_max && !event->weakened.precise_typed)
		event->weakened.precise_typed = attr->precise_ip;
	attr->precise_ip = (attr->precise_ip - 1u) & 3;
	if (!attr->precise_ip)
		event->precise_max = false;
	return why_write(event);
}

static bool is_cycles(const struct event *event)
{
	return event->attr.type == PERF_TYPE_HARDWARE &&
	       (event->attr.config & UINT32_MAX) == PERF_COUNT_HW_CPU_CYCLES;
}

static bool clock_take(struct event *event)
{
	if (!event_name(event, "cpu-clock"))
		return false;
	event->weakened.cycles = true;
	/* A count of cycles means nothing as nanoseconds; a frequency stays one. */
	if (event->period_typed) {
		event->weakened.period = event->attr.sample_period;
		event->attr.sample_period = 0;
		event->period_typed = false;
	}
	event->attr.type = PERF_TYPE_SOFTWARE;
	event->attr.config = PERF_COUNT_SW_CPU_CLOCK;
	event_classify(event);
	return why_write(event);
}

static bool kernel_leave_out(struct event *event, const struct sys *sys)
{
	int level;

	event_paranoid(sys, &level);
	if (level < 2 || event->attr.exclude_kernel || event->attr.exclude_user ||
	    event->kind == EVENT_TRACEPOINT)
		return false;
	event->weakened.kernel = true;
	event->weakened.paranoid = level;
	event->attr.exclude_kernel = event->attr.exclude_hv = 1;
	return why_write(event);
}

bool event_weaken(struct event *event, const struct sys *sys, int os_errno)
{
	struct perf_event_attr *attr = &event->attr;

	if (os_errno == EACCES)
		return kernel_leave_out(event, sys);
	if (os_errno == EINVAL && attr->exclude_guest && !event->guest_typed) {
		attr->exclude_guest = 0;
		return true;
	}
	if (attr->precise_ip && (os_errno == EINVAL || no_such_counter(os_errno)))
		return precise_lower(event);
	return no_such_counter(os_errno) && is_cycles(event) && clock_take(event);
}
