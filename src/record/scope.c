/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Opening the clocks in the best scope that is permitted:
 *
 *	SYSTEM   -a, -C: per CPU, everything that runs there
 *	CGROUP   launched: per CPU, within the cgroup made for the command
 *	CPU      per CPU, foreign samples dropped by the collector
 *	THREAD   own events for each thread and CPU, opened as threads appear
 *	INHERIT  events of the first threads, inherited, never redrawn
 *
 * Per-CPU clocks come first because clocks of threads are biased on short threads in both directions,
 * and because armed clocks of threads cost every context switch. Each attempt is all or nothing; why a
 * better scope was not to be had is kept.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/machine.h"
#include "record/recorder.h"
#include "target/process.h"

static bool scope_is_per_cpu(enum clock_scope scope)
{
	return scope == SCOPE_SYSTEM || scope == SCOPE_CGROUP || scope == SCOPE_CPU;
}

/* The knob in the way is the same as for the event that is to be sampled. */
static enum status refusal(const struct recorder *recorder, int reason, enum event_target target,
			   struct error *error)
{
	const enum status status = event_open_error_on(
		error, recorder->sys, &recorder->options->events->events[0], reason, target);

	if (error)
		error->os_errno = reason;
	return status;
}

enum status scope_sideband_open(struct recorder *recorder, uint32_t slot, pid_t pid,
				unsigned long flags, pid_t tid, bool inherit, uint32_t *chain,
				struct error *error)
{
	const struct sys *sys = recorder->sys;
	struct channel *channel = &recorder->channels.items[slot];
	struct perf_event_attr attr;
	enum status status;
	int fd;

	attribute_for_sideband(&attr);
	if (inherit) {
		/* It also counts: when an inheriting thread ends, its CPU time is reported. */
		attr.config = PERF_COUNT_SW_TASK_CLOCK;
		attr.sample_period = 0;
		attr.inherit = 1;
		attr.inherit_stat = 1;
	}
	fd = sys->perf_event_open(sys->state, &attr, pid, channel->cpu, -1,
				  flags | PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return refusal(recorder, -fd, counter_target(recorder->options, pid, flags), error);
	status = channel_attach_sideband(&recorder->channels, channel, sys, fd, error);
	if (status == STATUS_OK)
		status = counters_adopt(&recorder->counters, fd,
					recorder->attributes.sideband_first_id + slot, slot, tid,
					chain, error);
	if (status != STATUS_OK)
		sys->close(sys->state, fd);
	return status;
}

static enum status per_cpu_open(struct recorder *recorder, pid_t pid, unsigned long flags,
				struct error *error)
{
	enum status status = STATUS_OK;

	for (uint32_t slot = 0; status == STATUS_OK && slot < recorder->n_cpus; slot++) {
		const struct counter_place place = { slot, pid, flags, -1 };

		status = scope_sideband_open(recorder, slot, pid, flags, -1, false, NULL, error);
		if (status == STATUS_OK)
			status = counters_open(&recorder->counters, &place, NULL, error);
	}
	return status;
}

static enum status cgroup_open(struct recorder *recorder, struct error *error)
{
	enum status status = cgroup_create(&recorder->cgroup, recorder->sys, error);

	if (status == STATUS_OK)
		status = per_cpu_open(recorder, recorder->cgroup.fd, PERF_FLAG_PID_CGROUP, error);
	if (status == STATUS_OK)
		status = cgroup_add(&recorder->cgroup, recorder->sys, recorder->launch.pid, error);
	return status;
}

static enum status scope_open(struct recorder *recorder, enum clock_scope scope,
			      struct error *error)
{
	const bool inherit = scope == SCOPE_INHERIT;
	struct followed_task *task;
	enum status status;

	recorder->scope = scope;
	for (uint32_t c = 0; inherit && c < recorder->plan.n_clocks; c++)
		recorder->plan.clocks[c].redraw = REDRAW_NONE;
	recorder->cgroup.fd = recorder->cgroup.stat_fd = -1;
	followed_init(&recorder->followed);
	status = attributes_make(&recorder->attributes, &recorder->plan, recorder->options,
				 (uint32_t)recorder->n_cpus, inherit, error);
	if (status == STATUS_OK)
		status = channels_init(&recorder->channels, recorder->sys, recorder->cpus,
				       recorder->n_cpus, recorder->options->ring_pages, error);
	if (status == STATUS_OK)
		status = drawer_init(&recorder->drawer, recorder->seed, recorder->plan.n_clocks,
				     (uint32_t)recorder->n_cpus, error);
	if (status == STATUS_OK)
		status = counters_init(&recorder->counters, recorder->sys, recorder->options,
				       &recorder->plan, &recorder->attributes, &recorder->channels,
				       &recorder->drawer, error);
	if (status == STATUS_OK && recorder->options->target == RECORD_COMMAND)
		status = followed_add(&recorder->followed, recorder->launch.pid,
				      recorder->launch.pid, &task, error);
	if (status != STATUS_OK)
		return status;
	if (scope == SCOPE_CGROUP)
		return cgroup_open(recorder, error);
	if (scope_is_per_cpu(scope))
		return per_cpu_open(recorder, -1, 0, error);
	return scope_tasks_open(recorder, error);
}

void scope_close_clocks(struct recorder *recorder)
{
	counters_release(&recorder->counters);
	channels_release(&recorder->channels, recorder->sys);
	for (size_t i = 0; i < recorder->n_owner_fds; i++)
		recorder->sys->close(recorder->sys->state, recorder->owner_fds[i]);
	free(recorder->owner_fds);
	recorder->owner_fds = NULL;
	recorder->n_owner_fds = 0;
}

void scope_close(struct recorder *recorder)
{
	scope_close_clocks(recorder);
	drawer_release(&recorder->drawer);
	attributes_release(&recorder->attributes);
	followed_release(&recorder->followed);
	cgroup_remove(&recorder->cgroup, recorder->sys);
}

/* The scopes that suit a target, best first. */
static size_t scopes_for(enum record_target target, enum clock_scope scopes[4])
{
	size_t n = 0;

	if (target == RECORD_CPUS) {
		scopes[n++] = SCOPE_SYSTEM;
		return n;
	}
	if (target == RECORD_COMMAND)
		scopes[n++] = SCOPE_CGROUP;
	scopes[n++] = SCOPE_CPU;
	scopes[n++] = SCOPE_THREAD;
	scopes[n++] = SCOPE_INHERIT;
	return n;
}

static void why_add(struct recorder *recorder, enum clock_scope scope, const struct error *why)
{
	const size_t used = strlen(recorder->scope_why);

	snprintf(recorder->scope_why + used, sizeof(recorder->scope_why) - used, "%sno %s: %s",
		 used ? "; " : "", clock_scope_name(scope), why->text);
}

/* Said once: what a recording without privilege leaves out, and what would lift that. */
static void scope_notice(const struct recorder *recorder)
{
	if (recorder->options->scope_forced || scope_is_per_cpu(recorder->scope))
		return;
	if (geteuid() != 0)
		recorder_notice(
			recorder,
			"without privilege (kernel.perf_event_paranoid is %lld): %sclocks "
			"of threads instead of CPUs, which see less of threads that live for "
			"milliseconds. Root, CAP_PERFMON or sysctl "
			"kernel.perf_event_paranoid=0 lifts that",
			(long long)machine_sysctl(recorder->sys, "perf_event_paranoid"),
			recorder->options->events->events[0].attr.exclude_kernel
				? "user code only, and "
				: "");
	else
		recorder_notice(recorder,
				"%s clocks, which see less of threads that live for "
				"milliseconds: %s",
				clock_scope_name(recorder->scope), recorder->scope_why);
}

/* Lack of privilege, memory, descriptors or kernel support lead to the next scope; what no scope can
 * mend ends here. */
static bool next_may_do(enum status status)
{
	return status == STATUS_PERMISSION || status == STATUS_UNSUPPORTED || status == STATUS_IO ||
	       status == STATUS_NOT_FOUND || status == STATUS_LIMIT;
}

enum status scope_choose(struct recorder *recorder, struct error *error)
{
	const struct record_options *options = recorder->options;
	enum clock_scope scopes[4];
	size_t n = scopes_for(options->target, scopes);
	enum status status = STATUS_UNSUPPORTED;
	struct error why;

	if (options->scope_forced) {
		scopes[0] = options->scope;
		n = 1;
	}
	for (size_t i = 0; i < n; i++) {
		status = scope_open(recorder, scopes[i], &why);
		if (status == STATUS_OK) {
			scope_notice(recorder);
			return STATUS_OK;
		}
		scope_close(recorder);
		if (!next_may_do(status) || i + 1 == n)
			break;
		why_add(recorder, scopes[i], &why);
	}
	if (error)
		*error = why;
	return status;
}
