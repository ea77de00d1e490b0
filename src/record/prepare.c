/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Everything that can be refused before anything runs: targets, CPUs, events; then what a sample
 * costs here, and the plan that follows from it.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "record/calibrate.h"
#include "record/machine.h"
#include "record/recorder.h"
#include "target/process.h"

#define EPOCHS_PER_SECOND 5

void recorder_notice(const struct recorder *recorder, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (recorder->hooks->notice)
		recorder->hooks->notice(recorder->hooks->data, text);
}

/* Threads cost descriptors: as many as the hard limit gives. A launched command gets back what it
 * would have had. */
static void descriptors_raise(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static enum status targets_check(const struct recorder *recorder, struct error *error)
{
	const struct record_options *options = recorder->options;
	enum status status = STATUS_OK;

	for (size_t i = 0; status == STATUS_OK && i < options->n_ids; i++)
		status = process_check(recorder->sys, options->ids[i], error);
	return status;
}

static enum status cpus_choose(struct recorder *recorder, struct error *error)
{
	const struct record_options *options = recorder->options;
	enum status status =
		machine_cpus_online(recorder->sys, &recorder->cpus, &recorder->n_cpus, error);

	if (status != STATUS_OK || !options->n_cpus)
		return status;
	for (size_t i = 0; i < options->n_cpus; i++) {
		bool online = false;

		for (size_t c = 0; c < recorder->n_cpus; c++)
			online |= recorder->cpus[c] == options->cpus[i];
		if (!online)
			return error_set(error, STATUS_NOT_FOUND,
					 "CPU %d is not online (see "
					 "/sys/devices/system/cpu/online)",
					 options->cpus[i]);
	}
	/* Every CPU asked for is online, so there are not more of them (duplicates were refused). */
	recorder->n_cpus = options->n_cpus;
	memcpy(recorder->cpus, options->cpus, options->n_cpus * sizeof(*recorder->cpus));
	return STATUS_OK;
}

/* Opens the event on this process (or, for PMUs that know no tasks, on a CPU) and weakens it until the
 * kernel takes it. */
static enum status event_settle(const struct recorder *recorder, struct event *event,
				struct error *error)
{
	const struct sys *sys = recorder->sys;
	const bool cpus_only = event->n_cpus && event->kind == EVENT_HARDWARE;

	for (;;) {
		struct perf_event_attr attr;
		int fd;

		attribute_for_event(&attr, event, recorder->options, false);
		attr.sample_period = 1u << 30;
		attr.disabled = 1;
		fd = sys->perf_event_open(sys->state, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
		if (fd == -EINVAL && cpus_only)
			fd = sys->perf_event_open(sys->state, &attr, -1, event->cpus[0], -1,
						  PERF_FLAG_FD_CLOEXEC);
		if (fd >= 0) {
			sys->close(sys->state, fd);
			return STATUS_OK;
		}
		if (!event_weaken(event, sys, -fd))
			return event_open_error(error, sys, event, -fd);
	}
}

static enum status events_settle(struct recorder *recorder, struct error *error)
{
	struct event_list *events = recorder->options->events;

	for (size_t i = 0; i < events->n; i++) {
		struct event *event = &events->events[i];
		const enum status status = event_settle(recorder, event, error);

		if (status != STATUS_OK)
			return status;
		if (event->why && !event->by_default)
			recorder_notice(recorder, "%s: %s", event->asked, event->why);
	}
	return STATUS_OK;
}

/* The cost of the first event that has a period, the pace of every one. */
static void costs_measure(struct recorder *recorder)
{
	const struct event_list *events = recorder->options->events;
	bool measured = false;

	recorder->cost = calibrate_default();
	if (recorder->options->known_cost) {
		recorder->cost = *recorder->options->known_cost;
		measured = true;
	}
	for (size_t i = 0; i < events->n; i++) {
		const struct event *event = &events->events[i];
		const bool timed = event->kind == EVENT_CLOCK;
		struct event_pace *pace = &recorder->paces[i];
		struct perf_event_attr attr;

		*pace = (struct event_pace){ timed ? 1e9 : 0, 0 };
		if (!event_is_period_like(event) || event_is_read_only(events, i))
			continue;
		attribute_for_event(&attr, event, recorder->options, false);
		attr.read_format &= ~(uint64_t)PERF_FORMAT_GROUP;
		if (!measured)
			calibrate(&recorder->cost, pace, recorder->sys, &attr, timed);
		else if (!timed)
			pace->per_second = calibrate_pace(recorder->sys, &attr);
		pace->least_period =
			(double)rate_least_period_ns(&recorder->cost) * pace->per_second / 1e9;
		measured = true;
	}
}

static enum status seed_choose(struct recorder *recorder, struct error *error)
{
	const struct sys *sys = recorder->sys;
	ssize_t n;

	if (recorder->options->seed_given) {
		recorder->seed = recorder->options->seed;
		return STATUS_OK;
	}
	n = sys->getrandom(sys->state, &recorder->seed, sizeof(recorder->seed), 0);
	if (n != sizeof(recorder->seed))
		return error_set_errno(error, STATUS_IO, n < 0 ? (int)-n : EIO,
				       "cannot draw a seed");
	/* Seeds are written as decimal numbers in JSON, exact below 2^53. */
	recorder->seed &= (UINT64_C(1) << 53) - 1;
	return STATUS_OK;
}

enum status recorder_prepare(struct recorder *recorder, struct error *error)
{
	const struct record_options *options = recorder->options;
	const double fixed_share = EPOCHS_PER_SECOND * calibrate_default().epoch / 1e9;
	enum status status;

	descriptors_raise();
	status = targets_check(recorder, error);
	if (status == STATUS_OK)
		status = cpus_choose(recorder, error);
	if (status == STATUS_OK)
		status = seed_choose(recorder, error);
	if (status == STATUS_OK)
		status = events_settle(recorder, error);
	if (status != STATUS_OK)
		return status;
	recorder->paces = calloc(options->events->n, sizeof(*recorder->paces));
	if (!recorder->paces)
		return error_set(error, STATUS_NO_MEMORY, "no memory for the events");
	costs_measure(recorder);
	status = plan_make(&recorder->plan, options, &recorder->cost, recorder->paces, fixed_share,
			   error);
	if (status == STATUS_OK && recorder->plan.schedule_notice[0])
		recorder_notice(recorder, "%s", recorder->plan.schedule_notice);
	if (status == STATUS_OK && recorder->plan.rate_notice[0])
		recorder_notice(recorder, "%s", recorder->plan.rate_notice);
	return status;
}
