/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "record/counters.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/array.h"

#define START_LEAST_PART 16

enum status counters_init(struct counters *counters, const struct sys *sys,
			  const struct record_options *options, struct plan *plan,
			  const struct attributes *attributes, struct channels *channels,
			  struct drawer *drawer, struct error *error)
{
	*counters = (struct counters){
		.sys = sys,
		.options = options,
		.plan = plan,
		.attributes = attributes,
		.channels = channels,
		.drawer = drawer,
		.free_list = ID_MAP_NONE,
		.inherited = attributes->items[0].attr.inherit,
	};
	/* The sideband's ids are the last. */
	counters->read_totals = calloc((size_t)attributes->sideband_first_id + attributes->n_slots,
				       sizeof(*counters->read_totals));
	if (!counters->read_totals)
		return error_set(error, STATUS_NO_MEMORY, "no memory for the clocks");
	return STATUS_OK;
}

void counters_release(struct counters *counters)
{
	for (size_t i = 0; i < counters->n; i++)
		if (counters->items[i].fd >= 0)
			counters->sys->close(counters->sys->state, counters->items[i].fd);
	free(counters->items);
	free(counters->read_totals);
	id_map_release(&counters->by_kernel_id);
	*counters = (struct counters){ .free_list = ID_MAP_NONE };
}

/* A place for a new counter, whose id is known to the map afterwards. */
static enum status place_take(struct counters *counters, uint64_t kernel_id, uint32_t *index,
			      struct error *error)
{
	if (counters->free_list != ID_MAP_NONE) {
		*index = counters->free_list;
	} else {
		if (!array_reserve(&counters->items, &counters->capacity, counters->n + 1))
			return error_set(error, STATUS_NO_MEMORY, "no memory for an event");
		*index = (uint32_t)counters->n;
	}
	if (!id_map_put(&counters->by_kernel_id, kernel_id, *index))
		return error_set(error, STATUS_NO_MEMORY, "no memory for an event");
	if (*index == counters->free_list)
		counters->free_list = counters->items[*index].next;
	else
		counters->n++;
	return STATUS_OK;
}

enum status counters_adopt(struct counters *counters, int fd, uint64_t stable_id, uint32_t slot,
			   pid_t tid, uint32_t *chain, struct error *error)
{
	const struct sys *sys = counters->sys;
	uint64_t kernel_id = 0;
	uint32_t index = 0;
	enum status status;
	int result = sys->ioctl(sys->state, fd, PERF_EVENT_IOC_ID, &kernel_id);

	if (result < 0)
		return error_set_errno(error, STATUS_IO, -result, "an event has no id");
	status = place_take(counters, kernel_id, &index, error);
	if (status != STATUS_OK)
		return status;
	counters->items[index] = (struct counter){
		.fd = fd,
		.kernel_id = kernel_id,
		.stable_id = stable_id,
		.clock = COUNTER_NO_CLOCK,
		.slot = slot,
		.tid = tid,
		.next = chain ? *chain : ID_MAP_NONE,
	};
	if (chain)
		*chain = index;
	counters->n_open++;
	return STATUS_OK;
}

void counters_close_chain(struct counters *counters, uint32_t *chain)
{
	while (*chain != ID_MAP_NONE) {
		struct counter *counter = &counters->items[*chain];
		const uint32_t index = *chain;

		*chain = counter->next;
		id_map_remove(&counters->by_kernel_id, counter->kernel_id);
		counters->sys->close(counters->sys->state, counter->fd);
		counter->fd = -1;
		counter->next = counters->free_list;
		counters->free_list = index;
		counters->n_open--;
	}
}

struct counter *counters_find(struct counters *counters, uint64_t kernel_id)
{
	const uint32_t index = id_map_get(&counters->by_kernel_id, kernel_id);

	return index == ID_MAP_NONE ? NULL : &counters->items[index];
}

/* Below which no clock starts. It must not lie below the safety bound, and must not depend on what the
 * calibration measured, or a seed would not give the same start: a part of the mean, or 1 ms of a timer, up
 * to the least that the schedule draws (which the plan keeps above the safety bound). Where a sample costs
 * more than 100 us, and for counters, it is that least. */
static double start_least(const struct clock *clock)
{
	const double drawn = clock->schedule.low * clock->mean;

	if (!clock->timed || clock->least > PLAN_LEAST_NS)
		return drawn;
	return fmin(drawn, fmax(PLAN_LEAST_NS, clock->mean / START_LEAST_PART));
}

/* With what a clock starts: a residual interval, unless it is a conventional clock. A short one is
 * lengthened by a whole interval, as if its first tick had been missed: the kernel would repeat it. */
static void start_draw(struct counters *counters, uint32_t clock_index, uint32_t slot,
		       uint64_t *armed, uint64_t *due)
{
	const struct clock *clock = &counters->plan->clocks[clock_index];

	/* An inherited event starts anew in each task, with the same period. */
	if (!clock->randomised || counters->inherited) {
		*armed = *due = drawer_next(counters->drawer, clock, clock_index, slot);
		return;
	}
	*armed = drawer_residual(counters->drawer, clock, clock_index, slot);
	*due = drawer_next(counters->drawer, clock, clock_index, slot);
	if ((double)*armed < start_least(clock))
		*armed += *due;
	if (*due < *armed)
		*due = *armed;
}

enum event_target counter_target(const struct record_options *options, pid_t pid,
				 unsigned long flags)
{
	if (pid == -1 || flags & PERF_FLAG_PID_CGROUP)
		return EVENT_ON_CPU;
	return options->target == RECORD_COMMAND ? EVENT_ON_SELF : EVENT_ON_TASK;
}

static enum status event_open(struct counters *counters, struct perf_event_attr *attr,
			      const struct counter_place *place, int group_fd,
			      const struct event *event, int *fd, struct error *error)
{
	const struct sys *sys = counters->sys;
	const int cpu = counters->channels->items[place->slot].cpu;

	*fd = sys->perf_event_open(sys->state, attr, place->pid, cpu, group_fd,
				   place->flags | PERF_FLAG_FD_CLOEXEC);
	if (*fd >= 0)
		return STATUS_OK;
	const int reason = -*fd;
	const enum status status =
		event_open_error_on(error, sys, event, reason,
				    counter_target(counters->options, place->pid, place->flags));

	if (error)
		error->os_errno = reason;
	return status;
}

/* Attaches an open event to its channel and takes it into the table; closes it on failure. */
static enum status event_enter(struct counters *counters, int fd, uint64_t stable_id,
			       const struct counter_place *place, uint32_t *chain,
			       struct error *error)
{
	struct channel *channel = &counters->channels->items[place->slot];
	enum status status =
		channel_attach_samples(counters->channels, channel, counters->sys, fd, error);

	if (status == STATUS_OK)
		status = counters_adopt(counters, fd, stable_id, place->slot, place->tid, chain,
					error);
	if (status != STATUS_OK)
		counters->sys->close(counters->sys->state, fd);
	return status;
}

/* Opens the event of one clock, with the draw that starts it. */
static enum status clock_open(struct counters *counters, uint32_t clock_index,
			      const struct counter_place *place, int group_fd, uint32_t *chain,
			      int *fd, struct error *error)
{
	const struct clock *clock = &counters->plan->clocks[clock_index];
	const struct event *event = &counters->options->events->events[clock->event];
	struct perf_event_attr attr = counters->attributes->items[clock->attribute].attr;
	uint64_t armed = 0, due = 0, before;
	enum status status;

	if (!clock->steered) {
		start_draw(counters, clock_index, place->slot, &armed, &due);
		attr.freq = 0;
		attr.sample_period = armed;
	}
	if (clock->redraw == REDRAW_SAMPLE)
		attr.wakeup_events = 1;
	before = sys_now_ns(counters->sys);
	status = event_open(counters, &attr, place, group_fd, event, fd, error);
	if (status == STATUS_OK)
		status = event_enter(
			counters, *fd,
			attributes_clock_id(counters->attributes, clock_index, place->slot), place,
			chain, error);
	if (status != STATUS_OK)
		return status;
	counters->items[*chain].clock = clock_index;
	tick_start(&counters->items[*chain].tick, armed, due);
	if (clock->steered)
		return STATUS_OK;
	return drawer_log(counters->drawer, before, sys_now_ns(counters->sys), armed, clock_index,
			  place->slot, error);
}

/* The members of a :S group beside the leader that was just opened; `number`: how many clocks of
 * this leader came before. */
static enum status members_open(struct counters *counters, const struct event *leader,
				uint32_t number, const struct counter_place *place, int group_fd,
				uint32_t *chain, struct error *error)
{
	const struct event_list *events = counters->options->events;
	enum status status = STATUS_OK;

	for (size_t e = 0; status == STATUS_OK && e < events->n; e++) {
		const struct attribute *member = attributes_member(counters->attributes, events, e);
		struct perf_event_attr attr;
		int fd;

		if (!member || events->events[e].group != leader->group)
			continue;
		attr = member->attr;
		status = event_open(counters, &attr, place, group_fd, &events->events[e], &fd,
				    error);
		if (status == STATUS_OK)
			status = event_enter(counters, fd,
					     attributes_member_id(member, counters->attributes,
								  number, place->slot),
					     place, chain, error);
	}
	return status;
}

/* On hybrid machines a core PMU counts on its own kind of CPU only. */
static bool event_is_on(const struct event *event, int cpu)
{
	if (!event->cpus || event->kind != EVENT_HARDWARE)
		return true;
	for (size_t i = 0; i < event->n_cpus; i++)
		if (event->cpus[i] == cpu)
			return true;
	return false;
}

/* Clock number k of an event in a plain group joins clock number k of the group's leader. */
struct group_leaders {
	int group;
	uint32_t event, n;
	int fds[MANIFEST_MAX_CLOCKS];
};

static enum status clock_and_members_open(struct counters *counters, uint32_t clock_index,
					  uint32_t number, struct group_leaders *leaders,
					  const struct counter_place *place, uint32_t *chain,
					  struct error *error)
{
	const struct clock *clock = &counters->plan->clocks[clock_index];
	const struct event *event = &counters->options->events->events[clock->event];
	const bool joins = event->group >= 0 && leaders->group == event->group &&
			   leaders->event != clock->event && number < leaders->n;
	enum status status;
	int fd;

	status = clock_open(counters, clock_index, place, joins ? leaders->fds[number] : -1, chain,
			    &fd, error);
	if (status != STATUS_OK || event->group < 0)
		return status;
	if (event->group_read)
		return members_open(counters, event, number, place, fd, chain, error);
	if (leaders->group != event->group)
		*leaders = (struct group_leaders){ event->group, clock->event, 0, { 0 } };
	if (leaders->event == clock->event)
		leaders->fds[leaders->n++] = fd;
	return status;
}

enum status counters_open(struct counters *counters, const struct counter_place *place,
			  uint32_t *chain, struct error *error)
{
	struct group_leaders leaders = { .group = -1 };
	const int cpu = counters->channels->items[place->slot].cpu;
	uint32_t opened = ID_MAP_NONE, number = 0;
	enum status status = STATUS_OK;

	for (uint32_t c = 0; status == STATUS_OK && c < counters->plan->n_clocks; c++) {
		const struct clock *clock = &counters->plan->clocks[c];

		number = c && clock[-1].event == clock->event ? number + 1 : 0;
		if (!event_is_on(&counters->options->events->events[clock->event], cpu))
			continue;
		status = clock_and_members_open(counters, c, number, &leaders, place, &opened,
						error);
	}
	if (status != STATUS_OK) {
		counters_close_chain(counters, &opened);
		return status;
	}
	/* The new events in front of those that the chain had. */
	for (uint32_t at = opened; chain && at != ID_MAP_NONE; at = counters->items[at].next)
		if (counters->items[at].next == ID_MAP_NONE) {
			counters->items[at].next = *chain;
			*chain = opened;
			break;
		}
	return STATUS_OK;
}

/* Least time in ns that `period` can take: a timer takes it to the ns; an event may come several
 * times as fast as it was planned. */
static uint64_t lead_of(const struct clock *clock, uint64_t period)
{
	if (clock->timed)
		return period;
	return clock->hz > 0 ? (uint64_t)(1e9 / clock->hz * (double)period / clock->mean / 4) : 0;
}

enum status counters_redraw(struct counters *counters, struct counter *counter, struct error *error)
{
	const struct clock *clock = &counters->plan->clocks[counter->clock];
	const struct sys *sys = counters->sys;
	uint64_t period = drawer_next(counters->drawer, clock, counter->clock, counter->slot);
	const uint64_t before = sys_now_ns(sys);
	const int result = sys->ioctl(sys->state, counter->fd, PERF_EVENT_IOC_PERIOD, &period);
	uint64_t after, lead;

	if (result < 0)
		return error_set_errno(error, STATUS_IO, -result,
				       "the kernel refused a sampling period of %llu",
				       (unsigned long long)period);
	after = sys_now_ns(sys);
	lead = lead_of(clock, period);
	/* Events may come faster than anything planned; what comes after the call is under the new period. */
	if (!clock->timed && lead > after - before)
		lead = after - before;
	tick_redraw(&counter->tick, before, lead, period);
	return drawer_log(counters->drawer, before, after, period, counter->clock, counter->slot,
			  error);
}

/* Clocks that the kernel steers, and those that count every occurrence, have no period to be drawn;
 * a conventional clock keeps its own until the rate changes. */
static bool redraw_is_due(const struct clock *clock, const struct counter *counter, bool all)
{
	if (clock->steered || (!clock->timed && clock->mean == 1))
		return false;
	return all || (clock->randomised && counter->tick.sampled);
}

enum status counters_redraw_sampled(struct counters *counters, bool all, uint64_t *redrawn,
				    struct error *error)
{
	enum status status = STATUS_OK;

	if (counters->inherited)
		return STATUS_OK;
	for (size_t i = 0; status == STATUS_OK && i < counters->n; i++) {
		struct counter *counter = &counters->items[i];

		if (counter->fd < 0 || counter->clock == COUNTER_NO_CLOCK ||
		    !redraw_is_due(&counters->plan->clocks[counter->clock], counter, all))
			continue;
		status = counters_redraw(counters, counter, error);
		redrawn[counter->clock]++;
	}
	return status;
}
