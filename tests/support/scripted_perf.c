/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/scripted_perf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"

static struct scripted_perf *perf_of(void *state)
{
	return state;
}

static const struct sys *real(void)
{
	return sys_real();
}

static struct scripted_event *event_of(struct scripted_perf *perf, int fd)
{
	if (fd < SCRIPTED_FD || fd >= SCRIPTED_FD + SCRIPTED_EVENTS ||
	    !perf->events[fd - SCRIPTED_FD].open)
		return NULL;
	return &perf->events[fd - SCRIPTED_FD];
}

static struct perf_event_mmap_page *page_of(const struct scripted_event *event)
{
	return (struct perf_event_mmap_page *)(void *)event->ring;
}

static bool ring_put(struct scripted_perf *perf, struct scripted_event *owner, const void *record,
		     size_t size)
{
	struct perf_event_mmap_page *page = page_of(owner);
	const size_t data_bytes = owner->ring_bytes - perf->page_size;
	uint8_t *data = owner->ring + perf->page_size;

	if (page->data_head - page->data_tail + size > data_bytes)
		return false;
	for (size_t i = 0; i < size; i++)
		data[(page->data_head + i) % data_bytes] = ((const uint8_t *)record)[i];
	page->data_head += size;
	return true;
}

bool scripted_perf_put(struct scripted_perf *perf, int fd, const void *record, size_t size)
{
	struct scripted_event *event = event_of(perf, fd);

	return event && event->output >= 0 &&
	       ring_put(perf, &perf->events[event->output], record, size);
}

/* Room made: the kernel tells of what was lost before the next record. */
static void lost_put(struct scripted_perf *perf, struct scripted_event *event,
		     struct scripted_event *owner, uint64_t time_ns)
{
	const struct {
		struct perf_event_header header;
		uint64_t id, lost;
		uint32_t pid, tid;
		uint64_t time;
		uint32_t cpu, reserved;
		uint64_t identifier;
	} record = {
		{ PERF_RECORD_LOST, 0, sizeof(record) },
		event->id,
		owner->lost,
		0,
		0,
		time_ns,
		(uint32_t)event->cpu,
		0,
		event->id,
	};

	if (owner->lost && ring_put(perf, owner, &record, sizeof(record)))
		owner->lost = 0;
}

static void sample_put(struct scripted_perf *perf, struct scripted_event *event, uint64_t time_ns,
		       const struct scripted_task *task)
{
	struct scripted_event *owner = event->output >= 0 ? &perf->events[event->output] : NULL;
	struct scripted_fired *fired;
	const struct {
		struct perf_event_header header;
		uint64_t identifier, ip;
		uint32_t pid, tid;
		uint64_t time;
		uint32_t cpu, reserved;
		uint64_t period, value, enabled, running, id;
	} record = {
		{ PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, sizeof(record) },
		event->id,
		task->ip,
		task->pid,
		task->tid,
		time_ns,
		(uint32_t)event->cpu,
		0,
		event->attr.sample_period,
		time_ns - event->opened_ns,
		time_ns - event->opened_ns,
		time_ns - event->opened_ns,
		event->id,
	};

	if (!owner || !owner->ring)
		return;
	if (!array_reserve(&perf->fired, &perf->fired_capacity, perf->n_fired + 1))
		abort();
	fired = &perf->fired[perf->n_fired++];
	*fired = (struct scripted_fired){ time_ns,    event->armed, time_ns - event->last_fired_ns,
					  event->cpu, event->id,    false };
	if (owner->lost)
		lost_put(perf, event, owner, time_ns);
	if (owner->lost || !ring_put(perf, owner, &record, sizeof(record))) {
		owner->lost++;
		fired->lost = true;
	}
}

static bool ticks(const struct scripted_event *event)
{
	return event->open && event->attr.sample_period && !event->attr.disabled &&
	       event->attr.type == PERF_TYPE_SOFTWARE &&
	       event->attr.config == PERF_COUNT_SW_CPU_CLOCK;
}

void scripted_perf_run(struct scripted_perf *perf, uint64_t until_ns)
{
	for (;;) {
		struct scripted_event *next = NULL;
		struct scripted_task task;

		for (int i = 0; i < SCRIPTED_EVENTS; i++)
			if (ticks(&perf->events[i]) &&
			    (!next || perf->events[i].fires_at_ns < next->fires_at_ns))
				next = &perf->events[i];
		if (!next || next->fires_at_ns > until_ns)
			break;
		task = perf->task(perf->task_data, next->cpu, next->fires_at_ns);
		if (task.tid || !next->attr.exclude_idle)
			sample_put(perf, next, next->fires_at_ns, &task);
		next->last_fired_ns = next->fires_at_ns;
		next->fires_at_ns += next->armed;
	}
	if (until_ns > perf->now_ns)
		perf->now_ns = until_ns;
}

static void clock_step(struct scripted_perf *perf)
{
	scripted_perf_run(perf, perf->now_ns + perf->step_ns);
}

static int scripted_open(void *state, struct perf_event_attr *attr, pid_t pid, int cpu,
			 int group_fd, unsigned long flags)
{
	struct scripted_perf *perf = perf_of(state);

	(void)group_fd;
	(void)flags;
	if (perf->refuse_per_cpu && pid == -1)
		return -perf->refuse_per_cpu;
	clock_step(perf);
	for (int i = 0; i < SCRIPTED_EVENTS; i++) {
		struct scripted_event *event = &perf->events[i];

		if (event->open)
			continue;
		*event = (struct scripted_event){
			.open = true,
			.attr = *attr,
			.pid = pid,
			.cpu = cpu,
			.output = -1,
			.id = perf->next_id++,
			.armed = attr->sample_period,
			.opened_ns = perf->now_ns,
			.last_fired_ns = perf->now_ns,
			.fires_at_ns = perf->now_ns + attr->sample_period,
		};
		return SCRIPTED_FD + i;
	}
	return -EMFILE;
}

static int scripted_ioctl(void *state, int fd, unsigned long request, void *argument)
{
	struct scripted_perf *perf = perf_of(state);
	struct scripted_event *event = event_of(perf, fd);

	if (!event)
		return real()->ioctl(real()->state, fd, request, argument);
	clock_step(perf);
	if (request == PERF_EVENT_IOC_ID) {
		memcpy(argument, &event->id, sizeof(event->id));
	} else if (request == PERF_EVENT_IOC_SET_OUTPUT) {
		event->output = (int)(intptr_t)argument - SCRIPTED_FD;
	} else if (request == PERF_EVENT_IOC_PERIOD) {
		memcpy(&event->armed, argument, sizeof(event->armed));
		event->fires_at_ns = perf->now_ns + event->armed;
		if (!array_reserve(&perf->ioctls, &perf->ioctls_capacity, perf->n_ioctls + 1))
			abort();
		perf->ioctls[perf->n_ioctls++] =
			(struct scripted_ioctl){ fd, perf->now_ns, event->armed };
	} else {
		return -ENOTTY;
	}
	return 0;
}

static int scripted_close(void *state, int fd)
{
	struct scripted_event *event = event_of(perf_of(state), fd);

	if (!event)
		return real()->close(real()->state, fd);
	event->open = false;
	return 0;
}

static void *scripted_mmap(void *state, void *address, size_t size, int prot, int flags, int fd,
			   off_t offset)
{
	struct scripted_perf *perf = perf_of(state);
	struct scripted_event *event = event_of(perf, fd);

	if (!event)
		return real()->mmap(real()->state, address, size, prot, flags, fd, offset);
	event->ring = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (event->ring == MAP_FAILED)
		abort();
	event->ring_bytes = size;
	event->output = fd - SCRIPTED_FD;
	return event->ring;
}

static int scripted_munmap(void *state, void *address, size_t size)
{
	struct scripted_perf *perf = perf_of(state);

	for (int i = 0; i < SCRIPTED_EVENTS; i++)
		if (perf->events[i].ring == address)
			perf->events[i].ring = NULL;
	return munmap(address, size);
}

static int scripted_ppoll(void *state, struct pollfd *fds, nfds_t n, const struct timespec *timeout,
			  const sigset_t *mask)
{
	struct scripted_perf *perf = perf_of(state);

	(void)mask;
	for (nfds_t i = 0; i < n; i++)
		fds[i].revents = 0;
	if (timeout)
		scripted_perf_run(perf, perf->now_ns + (uint64_t)timeout->tv_sec * 1000000000u +
						(uint64_t)timeout->tv_nsec);
	return 0;
}

static int scripted_clock(void *state, clockid_t clock, struct timespec *now)
{
	struct scripted_perf *perf = perf_of(state);
	uint64_t ns;

	if (clock == CLOCK_MONOTONIC)
		clock_step(perf);
	ns = clock == CLOCK_MONOTONIC || clock == CLOCK_REALTIME ? perf->now_ns : perf->own_cpu_ns;
	now->tv_sec = (time_t)(ns / 1000000000u);
	now->tv_nsec = (long)(ns % 1000000000u);
	return 0;
}

static int scripted_openat(void *state, int dir_fd, const char *path, int flags, mode_t mode)
{
	struct scripted_perf *perf = perf_of(state);

	if (!strcmp(path, "/proc"))
		path = perf->empty_dir;
	return real()->openat(real()->state, dir_fd, path, flags, mode);
}

static size_t scripted_page_size(void *state)
{
	return perf_of(state)->page_size;
}

/* The calls that the real kernel answers take no notice of the state. */
void scripted_perf_init(struct scripted_perf *perf)
{
	*perf = (struct scripted_perf){
		.table = *sys_real(),
		.now_ns = 1000000000,
		.step_ns = 200,
		.next_id = 7001,
		.page_size = (size_t)sysconf(_SC_PAGESIZE),
		.empty_dir = "/tmp/assay-test-XXXXXX",
	};
	if (!mkdtemp(perf->empty_dir))
		abort();
	perf->table.state = perf;
	perf->table.perf_event_open = scripted_open;
	perf->table.ioctl = scripted_ioctl;
	perf->table.close = scripted_close;
	perf->table.mmap = scripted_mmap;
	perf->table.munmap = scripted_munmap;
	perf->table.ppoll = scripted_ppoll;
	perf->table.clock_gettime = scripted_clock;
	perf->table.openat = scripted_openat;
	perf->table.page_size = scripted_page_size;
}

void scripted_perf_release(struct scripted_perf *perf)
{
	rmdir(perf->empty_dir);
	free(perf->fired);
	free(perf->ioctls);
}
