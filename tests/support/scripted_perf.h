/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A scripted kernel for perf events: a clock run by hand, timers per CPU, rings in memory.
 *
 * Time passes in ppoll (as long as it was told to wait) and by a little with every reading of the
 * clock. As it passes, every open sampling event fires when its period is over, exactly like the
 * kernel's cpu-clock: the interval restarts with PERF_EVENT_IOC_PERIOD, and PERIOD in the sample keeps
 * the value of the open call. What the kernel would know and the collector has to find out (which
 * period was really armed, how long the interval was) is kept in `fired` for comparison.
 *
 * Everything that is no perf event goes to the real kernel, except /proc, which is empty. x86-64 and
 * AArch64; one thread.
 */
#ifndef ASSAY_TESTS_SUPPORT_SCRIPTED_PERF_H
#define ASSAY_TESTS_SUPPORT_SCRIPTED_PERF_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sys.h"

#define SCRIPTED_EVENTS 64
#define SCRIPTED_FD     5000 /* descriptors of scripted events count from here */

/* The program that runs: which thread a CPU executes at a moment; tid 0 is idle. */
struct scripted_task {
	uint32_t pid, tid;
	uint64_t ip;
};

struct scripted_fired { /* a sample as the kernel knows it */
	uint64_t time_ns, armed;
	uint64_t interval; /* since the event's last tick, recorded or not, restarted or not */
	int cpu;
	uint64_t id;
	bool lost; /* the ring was full */
};

struct scripted_ioctl {
	int fd;
	uint64_t time_ns, period;
};

struct scripted_event {
	bool open;
	struct perf_event_attr attr;
	pid_t pid;
	int cpu, output; /* index of the event whose ring it writes to; -1 none */
	uint64_t id, armed, fires_at_ns, last_fired_ns, opened_ns;
	uint8_t *ring; /* control page and data; NULL: not mapped */
	size_t ring_bytes;
	uint64_t lost;
};

struct scripted_perf {
	struct sys table;
	uint64_t now_ns, step_ns; /* step: passes with every reading of the clock */
	struct scripted_event events[SCRIPTED_EVENTS];
	uint64_t next_id;
	struct scripted_task (*task)(void *data, int cpu, uint64_t time_ns);
	void *task_data;
	int refuse_per_cpu; /* errno for events of whole CPUs, 0: allowed */
	size_t page_size;
	char empty_dir[64];
	struct scripted_fired *fired;
	size_t n_fired, fired_capacity;
	struct scripted_ioctl *ioctls; /* the periods that were set */
	size_t n_ioctls, ioctls_capacity;
	uint64_t own_cpu_ns;
};

void scripted_perf_init(struct scripted_perf *perf);
void scripted_perf_release(struct scripted_perf *perf);

/* Lets time pass, as ppoll does. */
void scripted_perf_run(struct scripted_perf *perf, uint64_t until_ns);

/* Appends a record (its trailer included) to the ring that event `fd` owns or writes to. */
bool scripted_perf_put(struct scripted_perf *perf, int fd, const void *record, size_t size);

#endif
