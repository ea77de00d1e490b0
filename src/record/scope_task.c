/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Clocks of threads, for users who may not open per-CPU events: rings owned by dummies of this
 * process, events per thread and CPU that share them.
 *
 * THREAD   threads are followed through the inherited sideband, whose every record wakes the
 *          collector; a new thread's clocks start with a residual interval, so that the moment of
 *          their start does not matter. What a thread does before its clocks are open is not seen.
 * INHERIT  the kernel clones the events into whatever the target starts. A new period would hit an
 *          arbitrary task of the family, so none is set: each event has one drawn period, and all are
 *          opened anew at epochs as long as descriptors suffice for every living thread.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "record/recorder.h"
#include "target/process.h"

/* Threads that there must be descriptors for before own events per thread are tried. */
#define THREADS_LEAST 256
#define LISTINGS_MOST 8

/* A dummy event of this process that does nothing but own a ring. */
static enum status owner_open(struct recorder *recorder, uint32_t slot, bool sideband,
			      struct error *error)
{
	const struct sys *sys = recorder->sys;
	struct channel *channel = &recorder->channels.items[slot];
	struct perf_event_attr attr;
	enum status status;
	int fd;

	attribute_for_sideband(&attr);
	attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = attr.task = 0;
	attr.disabled = 1;
	if (sideband) {
		/* Threads are to be followed at once: every record wakes the collector. */
		attr.watermark = 1;
		attr.wakeup_watermark = 1;
	}
	fd = sys->perf_event_open(sys->state, &attr, 0, channel->cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return error_set_errno(error, status_from_errno(-fd), -fd,
				       "the kernel refuses an event of this process itself");
	recorder->owner_fds[recorder->n_owner_fds++] = fd;
	status = sideband ? channel_attach_sideband(&recorder->channels, channel, sys, fd, error)
			  : channel_attach_samples(&recorder->channels, channel, sys, fd, error);
	return status;
}

static enum status owners_open(struct recorder *recorder, struct error *error)
{
	enum status status = STATUS_OK;

	recorder->owner_fds = calloc(2 * recorder->n_cpus, sizeof(*recorder->owner_fds));
	if (!recorder->owner_fds)
		return error_set(error, STATUS_NO_MEMORY, "no memory for the ring buffers");
	for (uint32_t slot = 0; status == STATUS_OK && slot < recorder->n_cpus; slot++) {
		status = owner_open(recorder, slot, false, error);
		if (status == STATUS_OK)
			status = owner_open(recorder, slot, true, error);
	}
	return status;
}

enum status scope_thread_open(struct recorder *recorder, struct followed_task *task, bool existed,
			      struct error *error)
{
	enum status status = STATUS_OK;
	struct error why;

	for (uint32_t slot = 0; status == STATUS_OK && slot < recorder->n_cpus; slot++) {
		const struct counter_place place = { slot, task->tid, 0, task->tid };

		if (existed)
			status = scope_sideband_open(recorder, slot, task->tid, 0, task->tid, true,
						     &task->sidebands, &why);
		if (status == STATUS_OK)
			status = counters_open(&recorder->counters, &place, &task->counters, &why);
	}
	if (status == STATUS_OK)
		return STATUS_OK;
	counters_close_chain(&recorder->counters, &task->counters);
	if (why.os_errno == ESRCH)
		return STATUS_OK; /* it has ended already and needs none */
	if (!existed && (why.os_errno == EMFILE || why.os_errno == ENFILE)) {
		const uint64_t now = sys_now_ns(recorder->sys);

		incidents_note(
			&recorder->incidents, "coverage", now, now, 1, "threads",
			"threads had no clocks because descriptors ran out: raise ulimit -n");
		return STATUS_OK;
	}
	if (error)
		*error = why;
	return status;
}

/* Threads of one process that are not followed yet; `only` > 0: no other than that one. */
static enum status process_open(struct recorder *recorder, pid_t pid, pid_t only, size_t *opened,
				struct error *error)
{
	enum status status = STATUS_OK;
	pid_t *tids;
	size_t n;

	if (process_threads(recorder->sys, pid, &tids, &n, NULL) != STATUS_OK)
		return STATUS_OK; /* it has ended */
	for (size_t t = 0; status == STATUS_OK && t < n; t++) {
		struct followed_task *task;

		if ((only > 0 && tids[t] != only) || followed_find(&recorder->followed, tids[t]))
			continue;
		++*opened;
		status = followed_add(&recorder->followed, pid, tids[t], &task, error);
		if (status == STATUS_OK)
			status = scope_thread_open(recorder, task, true, error);
	}
	free(tids);
	return status;
}

/* Every thread of the target that exists: listed again until no new one turns up, since a thread may
 * start others before its own events report that. */
static enum status threads_open(struct recorder *recorder, struct error *error)
{
	const struct record_options *options = recorder->options;
	const bool one = options->target == RECORD_THREADS;
	enum status status = STATUS_OK;
	size_t opened = 1;

	if (options->target == RECORD_COMMAND)
		return scope_thread_open(recorder,
					 followed_find(&recorder->followed, recorder->launch.pid),
					 true, error);
	for (int pass = 0; opened && pass < LISTINGS_MOST; pass++) {
		opened = 0;
		for (size_t i = 0; status == STATUS_OK && i < options->n_ids; i++) {
			const pid_t id = options->ids[i];
			const pid_t pid = one ? process_of_thread(recorder->sys, id) : id;

			if (pid > 0)
				status = process_open(recorder, pid, one ? id : 0, &opened, error);
		}
	}
	return status;
}

/* How many more threads could get their events. */
static size_t threads_affordable(const struct recorder *recorder)
{
	const size_t each = recorder->n_cpus * recorder->plan.n_clocks;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 0;
	if (limit.rlim_cur <= recorder->counters.n_open + 64)
		return 0;
	return (size_t)(limit.rlim_cur - recorder->counters.n_open - 64) / each;
}

enum status scope_tasks_open(struct recorder *recorder, struct error *error)
{
	enum status status = owners_open(recorder, error);

	if (status == STATUS_OK)
		status = threads_open(recorder, error);
	if (status == STATUS_OK && recorder->scope == SCOPE_THREAD &&
	    !recorder->options->scope_forced && threads_affordable(recorder) < THREADS_LEAST)
		return error_set(error, STATUS_LIMIT,
				 "descriptors for the clocks of %zu more threads only: raise "
				 "ulimit -n",
				 threads_affordable(recorder));
	return status;
}

enum status scope_inherit_reopen(struct recorder *recorder, struct error *error)
{
	struct followed *followed = &recorder->followed;
	enum status status = STATUS_OK;

	if (followed->n_living > threads_affordable(recorder) / 2)
		return STATUS_OK;
	for (size_t i = 0; i < followed->n; i++)
		if (followed->items[i].tid)
			counters_close_chain(&recorder->counters, &followed->items[i].counters);
	for (size_t i = 0; status == STATUS_OK && i < followed->n; i++)
		if (followed->items[i].tid && !followed->items[i].ended)
			status = scope_thread_open(recorder, &followed->items[i], false, error);
	return status;
}
