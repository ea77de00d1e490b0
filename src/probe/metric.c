/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/metric.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "event/event.h"

#ifdef __aarch64__
#define CLOCK_NAME "cntvct"
#define CLOCK_TEXT "the generic timer"
#else
#define CLOCK_NAME "tsc"
#define CLOCK_TEXT "the time-stamp counter"
#endif

#define EVENT_LONG_AND_READABLE 3u /* config1 of armv8 PMUs: 64 bits, and readable from EL0 */
#define EVENT_READABLE          2u

static void clock_choose(struct metric *metric)
{
	snprintf(metric->name, sizeof(metric->name), "time");
	metric->attributes = (struct perf_event_attr){ .size = sizeof(metric->attributes),
						       .type = PERF_TYPE_SOFTWARE,
						       .config = PERF_COUNT_SW_DUMMY,
						       .exclude_kernel = 1,
						       .exclude_hv = 1 };
}

static enum status instead(struct error *error, const char *word, enum status status)
{
	error_prefix(error,
		     "-e %s cannot be read in the target (time by %s can: -e " CLOCK_NAME
		     ", the default)",
		     word, CLOCK_TEXT);
	return status;
}

static enum status open_error(struct error *error, const struct sys *sys, const struct event *event,
			      int reason)
{
	if (reason == ENOENT || reason == EOPNOTSUPP || reason == ENODEV || reason == ENXIO)
		return error_set_errno(error, STATUS_UNSUPPORTED, reason,
				       "no PMU here counts it (a virtual machine often has no PMU "
				       "at all)");
	return event_open_error(error, sys, event, reason);
}

static bool is_readable(const struct sys *sys, int fd, size_t page_bytes)
{
	struct perf_event_mmap_page *page =
		sys->mmap(sys->state, NULL, page_bytes, PROT_READ, MAP_SHARED, fd, 0);
	bool readable;

	if (page == MAP_FAILED)
		return false;
	readable = page->cap_user_rdpmc;
	sys->munmap(sys->state, page, page_bytes);
	return readable;
}

/* Opens it once, on this thread. */
static enum status event_try(struct metric *metric, const struct sys *sys, struct event *event,
			     struct error *error)
{
	int fd = -EINVAL;

	for (unsigned int attempt = 0; fd < 0 && attempt < 2; attempt++) {
#ifdef __aarch64__
		event->attr.config1 |= EVENT_READABLE;
		if (attempt == 0)
			event->attr.config1 |= EVENT_LONG_AND_READABLE;
		else
			event->attr.config1 &= ~(uint64_t)EVENT_LONG_AND_READABLE | EVENT_READABLE;
#endif
		fd = sys->perf_event_open(sys->state, &event->attr, 0, -1, -1,
					  PERF_FLAG_FD_CLOEXEC);
	}
	if (fd < 0)
		return open_error(error, sys, event, -fd);
	if (!is_readable(sys, fd, metric->page_bytes)) {
		sys->close(sys->state, fd);
		return error_set(error, STATUS_PERMISSION,
				 "the kernel lets no program read counters itself here (x86: "
				 "/sys/bus/event_source/devices/cpu/rdpmc must be 1 or 2; AArch64: "
				 "sysctl kernel.perf_user_access=1)");
	}
	sys->close(sys->state, fd);
	metric->attributes = event->attr;
	return STATUS_OK;
}

static enum status event_choose(struct metric *metric, const struct sys *sys, const char *word,
				struct error *error)
{
	struct event_list list;
	struct event *event;
	enum status status;

	event_list_init(&list);
	status = event_parse(&list, sys, NULL, word, error);
	event = list.events;
	if (status == STATUS_OK && list.n != 1) {
		status = error_set(error, STATUS_USAGE, "-e %s: one event is due", word);
	} else if (status == STATUS_OK && event->kind != EVENT_HARDWARE) {
		status = error_set(error, STATUS_UNSUPPORTED,
				   "it is counted by the kernel; only hardware counters can be "
				   "read from user space");
		status = instead(error, word, status);
	} else if (status == STATUS_OK) {
		const bool plain = !event->attr.exclude_kernel && !event->attr.exclude_user;

		if (plain) /* what the kernel does between two reads is not the function's */
			event->attr.exclude_kernel = event->attr.exclude_hv = 1;
		event->attr.freq = 0;
		event->attr.sample_period = 0;
		event->attr.precise_ip = 0;
		snprintf(metric->name, sizeof(metric->name), "%s%s",
			 event->granted ? event->granted : word, plain ? ":u" : "");
		status = event_try(metric, sys, event, error);
		if (status != STATUS_OK)
			status = instead(error, word, status);
	}
	event_list_release(&list);
	return status;
}

enum status metric_choose(struct metric *metric, const struct sys *sys, const char *word,
			  bool ordered, struct error *error)
{
	*metric = (struct metric){ .ordered = ordered,
				   .page_bytes = (uint32_t)sys->page_size(sys->state) };
	if (!word || !strcmp(word, CLOCK_NAME) || !strcmp(word, "time")) {
		clock_choose(metric);
		return STATUS_OK;
	}
	metric->by_event = true;
	return event_choose(metric, sys, word, error);
}

void metric_header_fill(struct agent_shared *shared, const struct metric *metric,
			double ticks_per_ns)
{
	_Static_assert(sizeof(metric->attributes) <= sizeof(shared->attributes), "layout.h");
	shared->counter = (metric->by_event ? (uint32_t)AGENT_EVENT : 0) |
			  (metric->ordered ? (uint32_t)AGENT_ORDERED : 0);
	shared->page_bytes = metric->page_bytes;
	shared->ticks_per_ns = (uint64_t)(ticks_per_ns * 4294967296.0);
	memcpy(shared->attributes, &metric->attributes, sizeof(metric->attributes));
}

bool metric_is_full(const struct metric *metric)
{
	return metric->by_event || metric->ordered;
}
