/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The event that is sampled when nobody names one: found out by opening it, since sysfs shows PMUs
 * that a hypervisor does not let count, and machines without one.
 */
#include <stdlib.h>

#include "event/grammar.h"

/* precise_ip takes three steps, kernel, guest and clock one each. */
#define STEPS_MAX 8

/* 0, or the positive errno. On the calling thread, on any CPU, never enabled. */
static int trial_open(const struct sys *sys, const struct event *event)
{
	struct perf_event_attr attr = event->attr;
	int fd;

	attr.disabled = 1;
	/* A sampling event needs the interrupt that a counting one does not. The period is long, and
	 * the event never runs. */
	attr.freq = 0;
	attr.sample_period = 1ull << 30;
	attr.sample_type = PERF_SAMPLE_IP;
	fd = sys->perf_event_open(sys->state, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -fd;
	sys->close(sys->state, fd);
	return 0;
}

static enum status settle(struct event *event, const struct sys *sys, struct error *error)
{
	int os_errno = trial_open(sys, event);

	for (int step = 0; os_errno && step < STEPS_MAX; step++) {
		if (!event_weaken(event, sys, os_errno))
			break;
		os_errno = trial_open(sys, event);
	}
	return os_errno ? event_open_error(error, sys, event, os_errno) : STATUS_OK;
}

/* On a hybrid machine whose PMUs cannot count, one clock replaces the events of all PMUs. */
static void clocks_merge(struct event_list *list, size_t first)
{
	size_t kept = first + 1;

	for (size_t i = first; i < list->n; i++)
		if (list->events[i].kind != EVENT_CLOCK)
			return;
	while (list->n > kept)
		event_release(&list->events[--list->n]);
	free(list->events[first].cpus);
	list->events[first].cpus = NULL;
	list->events[first].n_cpus = 0;
}

enum status event_default(struct event_list *list, const struct sys *sys, bool user_only,
			  struct error *error)
{
	const size_t first = list->n;
	enum status status =
		event_parse(list, sys, NULL, user_only ? "cycles:Pu" : "cycles:P", error);

	for (size_t i = first; i < list->n && status == STATUS_OK; i++) {
		list->events[i].by_default = true;
		status = settle(&list->events[i], sys, error);
	}
	if (status == STATUS_OK)
		clocks_merge(list, first);
	while (status != STATUS_OK && list->n > first)
		event_release(&list->events[--list->n]);
	return status;
}
