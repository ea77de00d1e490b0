/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "record/calibrate.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/ring.h"

#define SAMPLE_HZ       4000
#define SAMPLE_PHASE_NS 10000000
#define PACE_PHASE_NS   3000000
#define REDRAWS         16
#define REDRAW_PAUSE_NS 150000
#define IDLE_PERIOD     1000000000u /* of a clock that must not tick: a second */
#define GAPS_MAX        512
#define GAP_LEAST_NS    250 /* shorter ones are no interrupts */
#define RING_PAGES      8

struct spinner {
	const struct sys *sys;
	pthread_t thread;
	atomic_int tid;
	atomic_bool stop;
	atomic_uint phase; /* gaps are kept per phase */
	_Atomic uint32_t n[2];
	uint32_t gaps[2][GAPS_MAX];
};

static void *spin(void *data)
{
	struct spinner *spinner = data;
	uint64_t last = sys_now_ns(spinner->sys);

	/* lint: seam because a thread of ours names itself */
	atomic_store(&spinner->tid, (int)syscall(SYS_gettid));
	while (!atomic_load_explicit(&spinner->stop, memory_order_relaxed)) {
		const uint64_t now = sys_now_ns(spinner->sys), gap = now - last;
		const unsigned int phase =
			atomic_load_explicit(&spinner->phase, memory_order_relaxed) & 1;

		last = now;
		if (gap >= GAP_LEAST_NS && spinner->n[phase] < GAPS_MAX)
			spinner->gaps[phase][spinner->n[phase]++] =
				gap > UINT32_MAX ? UINT32_MAX : (uint32_t)gap;
	}
	return NULL;
}

static void pause_ns(const struct sys *sys, long ns)
{
	const struct timespec pause = { 0, ns };

	sys->ppoll(sys->state, NULL, 0, &pause, NULL);
}

static int descending(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? 1 : x > y ? -1 : 0;
}

/* Median of the `events` longest gaps; 0 when there are fewer than a handful. */
static double longest_median(uint32_t *gaps, uint32_t n, uint64_t events)
{
	if (events > n)
		events = n;
	if (events < 5)
		return 0;
	qsort(gaps, n, sizeof(*gaps), descending);
	return gaps[events / 2];
}

static uint64_t thread_cpu(const struct sys *sys)
{
	struct timespec now = { 0 };

	sys->clock_gettime(sys->state, CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint64_t count_samples(struct ring *ring)
{
	const uint64_t limit = ring_head(ring);
	const struct perf_event_header *record;
	uint64_t n = 0;
	bool damaged;

	while ((record = ring_next(ring, limit, &damaged)))
		n += record->type == PERF_RECORD_SAMPLE;
	return n;
}

struct open_event {
	int fd;
	struct ring ring;
};

static bool event_open(struct open_event *event, const struct sys *sys,
		       const struct perf_event_attr *template, pid_t tid, uint64_t period)
{
	struct perf_event_attr attr = *template;

	attr.sample_period = period;
	attr.freq = 0;
	attr.inherit = 0;
	event->fd = sys->perf_event_open(sys->state, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (event->fd < 0)
		return false;
	if (ring_map(&event->ring, sys, event->fd, RING_PAGES, NULL) == STATUS_OK)
		return true;
	sys->close(sys->state, event->fd);
	return false;
}

static void event_close(struct open_event *event, const struct sys *sys)
{
	ring_unmap(&event->ring, sys);
	sys->close(sys->state, event->fd);
}

/* How often a counter counts per second of the busy thread. */
static double pace_measure(const struct sys *sys, const struct perf_event_attr *template, pid_t tid)
{
	struct perf_event_attr attr = *template;
	struct {
		uint64_t value, enabled, running;
	} count = { 0, 0, 0 };
	int fd;

	attr.sample_period = 0;
	attr.freq = 0;
	attr.precise_ip = 0;
	attr.inherit = 0;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	attr.sample_type = 0;
	fd = sys->perf_event_open(sys->state, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return 0;
	pause_ns(sys, PACE_PHASE_NS);
	if (sys->read(sys->state, fd, &count, sizeof(count)) != sizeof(count))
		count.running = 0;
	sys->close(sys->state, fd);
	return count.running ? (double)count.value * 1e9 / (double)count.running : 0;
}

/* Samples at SAMPLE_HZ; the cost is in the spinner's gaps of phase 0. */
static void sample_phase(struct cost *cost, struct spinner *spinner,
			 const struct perf_event_attr *attr, double per_second)
{
	const struct sys *sys = spinner->sys;
	struct open_event event;
	double median;
	uint64_t samples;

	if (!event_open(&event, sys, attr, atomic_load(&spinner->tid),
			(uint64_t)(per_second / SAMPLE_HZ) + 1))
		return;
	pause_ns(sys, SAMPLE_PHASE_NS);
	atomic_store(&spinner->phase, 1);
	samples = count_samples(&event.ring);
	event_close(&event, sys);
	median = longest_median(spinner->gaps[0], spinner->n[0], samples);
	if (median > 0)
		cost->sample = median;
}

/* New periods on a clock that never ticks: on the target the gaps of phase 1, here CPU time. */
static void redraw_phase(struct cost *cost, struct spinner *spinner,
			 const struct perf_event_attr *attr)
{
	const struct sys *sys = spinner->sys;
	uint64_t period = IDLE_PERIOD, in_calls = 0, cpu;
	struct open_event event;
	uint32_t before;
	double median;

	if (!event_open(&event, sys, attr, atomic_load(&spinner->tid), period))
		return;
	pause_ns(sys, REDRAW_PAUSE_NS);
	before = spinner->n[1];
	cpu = thread_cpu(sys);
	for (int i = 0; i < REDRAWS; i++) {
		const uint64_t start = thread_cpu(sys);

		sys->ioctl(sys->state, event.fd, PERF_EVENT_IOC_PERIOD, &period);
		in_calls += thread_cpu(sys) - start;
		pause_ns(sys, REDRAW_PAUSE_NS);
	}
	cpu = thread_cpu(sys) - cpu;
	event_close(&event, sys);
	cost->redraw_own = (double)in_calls / REDRAWS;
	cost->wake = (double)(cpu > in_calls ? cpu - in_calls : 0) / REDRAWS;
	cost->timed_wake = cost->wake;
	if (spinner->n[1] < before)
		return;
	median = longest_median(spinner->gaps[1] + before, spinner->n[1] - before, REDRAWS);
	if (median > 0)
		cost->redraw_target = median;
}

struct cost calibrate_default(void)
{
	return (struct cost){
		.sample = 20000,
		.drain = 600,
		.redraw_target = 10000,
		.redraw_own = 20000,
		.wake = 30000,
		.epoch = 100000,
		.timed_wake = 30000,
	};
}

/* A busy thread to be measured; NULL when there cannot be one. */
static struct spinner *spinner_start(const struct sys *sys)
{
	struct spinner *spinner = calloc(1, sizeof(*spinner));

	if (!spinner)
		return NULL;
	spinner->sys = sys;
	if (pthread_create(&spinner->thread, NULL, spin, spinner)) {
		free(spinner);
		return NULL;
	}
	while (!atomic_load(&spinner->tid))
		pause_ns(sys, 50000);
	return spinner;
}

static void spinner_stop(struct spinner *spinner)
{
	atomic_store(&spinner->stop, true);
	pthread_join(spinner->thread, NULL);
	free(spinner);
}

void calibrate(struct cost *cost, struct event_pace *pace, const struct sys *sys,
	       const struct perf_event_attr *attr, bool timed)
{
	struct spinner *spinner = spinner_start(sys);

	*cost = calibrate_default();
	*pace = (struct event_pace){ timed ? 1e9 : 0, 0 };
	if (!spinner)
		return;
	if (!timed)
		pace->per_second = pace_measure(sys, attr, atomic_load(&spinner->tid));
	if (pace->per_second > 0) {
		sample_phase(cost, spinner, attr, pace->per_second);
		redraw_phase(cost, spinner, attr);
	}
	spinner_stop(spinner);
}

double calibrate_pace(const struct sys *sys, const struct perf_event_attr *attr)
{
	struct spinner *spinner = spinner_start(sys);
	double per_second = 0;

	if (spinner) {
		per_second = pace_measure(sys, attr, atomic_load(&spinner->tid));
		spinner_stop(spinner);
	}
	return per_second;
}
