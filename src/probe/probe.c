/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lint: seam because the target's end and its signals are waited for in real processes
 */
#include "probe/probe.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe/access.h"
#include "probe/calibrate.h"
#include "probe/machine.h"
#include "probe/ownership.h"
#include "probe/probe_state.h"
#include "target/maps.h"

#define PLACE_TRIES     6u
#define POLL_NS         UINT64_C(100000000)
#define ENDING_POLL_NS  UINT64_C(1000000)
#define COMMAND_POLL_NS 5000000
#define DRAIN_NS        UINT64_C(1000000)
#define DRAIN_BUSY_NS   UINT64_C(20000) /* a ring was half full */
#define EVER_NS         (UINT64_C(1) << 62)

void probe_notice(const struct probe *probe, const char *format, ...)
{
	char text[512];
	va_list arguments;

	if (!probe->hooks->notice)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	probe->hooks->notice(probe->hooks->data, text);
}

/* All targets of a run. */
struct probe_set {
	const struct probe_options *options;
	const struct sys *sys;
	const struct probe_hooks *hooks;
	struct probe_result *result;
	struct ownership ownership;
	struct probe *probes;
	size_t n;
	uint64_t start_ns;
};

static enum status target_start(struct probe *probe, struct error *error)
{
	const struct probe_options *options = probe->options;
	enum status status;

	if (options->n_pids)
		return access_check(probe->sys, probe->pid, error);
	status = launch_start(&probe->launch, options->argv, options->launch_state, error);
	if (status != STATUS_OK)
		return status;
	probe->pid = probe->launch.pid;
	probe->result->launched = true;
	status = guardian_seize(&probe->guardian, probe->pid, error);
	if (status != STATUS_OK)
		return status;
	status = guardian_run_to_entry(&probe->guardian, error);
	if (status != STATUS_OK)
		return status;
	status = launch_exec(&probe->launch, options->argv[0], &probe->result->exit_code, error);
	if (status != STATUS_OK) {
		(void)!guardian_at_entry(&probe->guardian, NULL);
		return status;
	}
	return guardian_at_entry(&probe->guardian, error);
}

/* Memory in the target, at other places when the first choice turns out to be taken. */
static enum status memory_prepare(struct probe *probe, struct error *error)
{
	struct guardian_arena *arena = probe->guardian.arena;
	enum status status = STATUS_OK;

	for (unsigned int attempt = 0; attempt < PLACE_TRIES; attempt++) {
		status = install_place(&probe->install, error);
		if (status != STATUS_OK)
			return status;
		arena->pid = probe->pid;
		arena->owner = probe->ownership->tid;
		arena->buffers_bytes = probe->plan.bytes;
		arena->n_regions = probe->install.n_regions;
		memcpy(arena->busy, probe->install.busy, sizeof(arena->busy));
		arena->n_busy = probe->install.n_busy;
		arena->allow_seccomp = probe->options->allow_seccomp;
		memcpy(arena->regions, probe->install.regions, sizeof(arena->regions));
		status = guardian_prepare(&probe->guardian, &probe->memfd, error);
		if (status == STATUS_OK ||
		    (arena->error.os_errno != EEXIST && arena->error.os_errno != EBUSY))
			break;
		if (probe->memfd >= 0)
			close(probe->memfd);
		probe->memfd = -1;
		if (arena->error.os_errno == EBUSY && probe->install.n_busy < GUARDIAN_MAX_BUSY)
			probe->install.busy[probe->install.n_busy++] = arena->busy_region;
		else if (probe->install.n_blocked < GUARDIAN_MAX_REGIONS)
			probe->install.blocked[probe->install.n_blocked++] =
				arena->regions[arena->failed_region];
	}
	return status;
}

static enum status buffers_open(struct probe *probe, struct error *error)
{
	struct agent_shared *shared;

	probe->buffers =
		mmap(NULL, probe->plan.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, probe->memfd, 0);
	if (probe->buffers == MAP_FAILED) {
		probe->buffers = NULL;
		return error_set_errno(error, STATUS_NO_MEMORY, errno,
				       "cannot map the buffers of process %d", probe->pid);
	}
	shared = probe->shared = (struct agent_shared *)(void *)probe->buffers;
	buffers_header_fill(shared, &probe->plan, probe->options->every, probe->options->cap);
	metric_header_fill(shared, &probe->result->metric,
			   calibration_ticks_per_ns(&probe->calibration, probe->sys));
	shared->inner_ticks = (uint64_t)llround(probe->calibration.inner_ticks);
	shared->pair_ticks = (uint64_t)llround(probe->calibration.pair_ticks);
	buffers_null_block(probe->buffers, probe->guardian.arena->buffers);
	return STATUS_OK;
}

static enum status costs_measure(struct probe *probe, struct error *error)
{
	const struct stub stub = { .mode = probe->options->mode,
				   .capped = probe->options->cap != 0,
				   .sampled = probe->options->every > 1,
				   .atomics = machine_has_atomics(),
				   .full = (metric_is_full(&probe->result->metric) ||
					    probe->options->mode == PROBE_TRACE),
				   .function_bytes = probe->plan.function_bytes };

	return probe_calibrate(&probe->calibration, probe->sys, &stub, &probe->result->metric,
			       probe->options->every, error);
}

static void stops_add(struct guardian_stops *sum, const struct guardian_stops *stops)
{
	sum->stops += stops->stops;
	sum->gather_ns += stops->gather_ns;
	sum->held_ns += stops->held_ns;
	if (stops->longest_held_ns > sum->longest_held_ns)
		sum->longest_held_ns = stops->longest_held_ns;
	if (stops->threads > sum->threads)
		sum->threads = stops->threads;
}

static enum status probes_write(struct probe *probe, struct error *error)
{
	struct guardian_arena *arena = probe->guardian.arena;
	enum status status;

	status = memory_prepare(probe, error);
	if (status == STATUS_OK)
		status = buffers_open(probe, error);
	if (status == STATUS_OK)
		status = install_fill(&probe->install, arena, probe->plan.function_bytes, error);
	if (status == STATUS_OK)
		status = guardian_apply(&probe->guardian, error);
	stops_add(&probe->result->attach, &arena->stops);
	if (status != STATUS_OK)
		return status;
	install_settle(&probe->install, arena);
	/* All functions from the same moment on, in however many stops they were written. */
	probe->start_ns = sys_now_ns(probe->sys);
	return ownership_take(probe->ownership, probe->shared, error);
}

/* What stands patched in the target since an assay was killed with its guardian. */
static enum status recover(struct probe *probe, struct error *error)
{
	enum status status;

	if (probe->result->launched || probe->options->dry_run)
		return STATUS_OK;
	status = guardian_recover(&probe->guardian, probe->pid, error);
	if (status == STATUS_OK && probe->guardian.arena->restored)
		probe_notice(probe,
			     "process %d had been left patched by an assay that was killed "
			     "with its guardian: its code is put back first",
			     probe->pid);
	return status;
}

static enum status attach(struct probe *probe, struct error *error)
{
	const struct probe_options *options = probe->options;
	enum status status = recover(probe, error);

	if (status != STATUS_OK)
		return status;
	status = image_open(&probe->image, probe->sys, probe->pid, options->selection, error);
	if (status == STATUS_OK) {
		probe->install.mode = options->mode;
		probe->install.capped = options->cap != 0;
		probe->install.sampled = options->every > 1;
		probe->install.full = (metric_is_full(&probe->result->metric) ||
				       probe->options->mode == PROBE_TRACE);
		status = install_choose(&probe->install, probe->sys, &probe->image,
					options->selection, error);
	}
	if (status == STATUS_OK && !probe->install.n)
		status = near_misses(probe, error);
	if (status != STATUS_OK || options->dry_run || !probe->install.n_planned)
		return status;
	buffers_plan_make(&probe->plan, options->mode, probe->install.n_planned,
			  options->buffer_bytes);
	probe->install.state_end = buffers_state_end(&probe->plan);
	status = costs_measure(probe, error);
	if (status == STATUS_OK && options->mode == PROBE_TRACE)
		status = replay_init(&probe->replay, probe->sys, &probe->plan,
				     (uint64_t)llround(probe->calibration.inner_ticks),
				     (uint32_t)probe->pid, options->records_fd, error);
	if (status == STATUS_OK && options->mode == PROBE_STATE)
		status = states_init(&probe->states, probe->install.n_planned, error);
	if (status == STATUS_OK)
		status = probes_write(probe, error);
	return status;
}

static uint64_t calls_now(const struct probe *probe)
{
	uint64_t calls = 0;

	for (uint32_t i = 0; probe->buffers && i < probe->install.n_planned; i++) {
		struct function_sums sums = { 0 };

		buffers_function_sums(probe->buffers, &probe->plan, PROBE_COUNT, i, &sums);
		calls += sums.calls;
	}
	return calls;
}

/* A signal for us: interrupts end the probing, others are for a launched command. */
static bool signal_is_stop(const struct probe_set *set)
{
	struct signalfd_siginfo info;
	bool stop = false;

	while (read(set->options->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		stop = true;
		if (set->result->launched && info.ssi_signo != SIGINT && info.ssi_code == SI_USER)
			kill(set->probes->pid, (int)info.ssi_signo);
	}
	return stop;
}

/* Has the target ended? A launched one is reaped. */
static bool target_ended(struct probe *probe)
{
	int status;

	if (!probe->result->launched) {
		/* readable when the process has ended, also while nobody has reaped it */
		struct pollfd fd = { probe->pidfd, POLLIN, 0 };
		const struct timespec now = { 0, 0 };

		if (probe->pidfd >= 0)
			return probe->sys->ppoll(probe->sys->state, &fd, 1, &now, NULL) > 0;
		return kill(probe->pid, 0) < 0 && errno == ESRCH;
	}
	if (probe->reaped)
		return true;
	if (waitpid(probe->pid, &status, WNOHANG) != probe->pid)
		return false;
	probe->reaped = true;
	probe->result->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
	probe->result->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	return true;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static bool all_ended(const struct probe_set *set)
{
	bool all = true;

	for (size_t i = 0; i < set->n; i++) {
		set->probes[i].ended = set->probes[i].ended || target_ended(&set->probes[i]);
		all &= set->probes[i].ended;
	}
	return all;
}

/* Sleeps until a signal comes, a target ends or time is up; true when the user wants an end. */
static bool set_wait(const struct probe_set *set, uint64_t wait_ns)
{
	struct pollfd fds[1 + PROBE_MAX_PIDS] = { { set->options->signal_fd, POLLIN, 0 } };
	nfds_t n = 1;
	struct timespec timeout;

	for (size_t i = 0; i < set->n; i++) {
		struct probe *probe = &set->probes[i];

		if (probe->ended)
			continue;
		/* one that is ending is to be looked for, not polled */
		if (probe->pidfd < 0 || probe->ending)
			wait_ns = least(wait_ns, probe->ending ? ENDING_POLL_NS : POLL_NS);
		else
			fds[n++] = (struct pollfd){ probe->pidfd, POLLIN, 0 };
	}
	timeout = (struct timespec){ (time_t)(wait_ns / 1000000000), (long)(wait_ns % 1000000000) };
	set->sys->ppoll(set->sys->state, fds, n, &timeout, NULL);
	for (size_t i = 0; i < set->n; i++) {
		for (nfds_t k = 1; k < n; k++) {
			if (fds[k].fd >= 0 && fds[k].fd == set->probes[i].pidfd && fds[k].revents)
				set->probes[i].ending = true;
		}
	}
	return (fds[0].revents & POLLIN) && signal_is_stop(set);
}

static void progress_tell(const struct probe_set *set, uint64_t now)
{
	struct probe_progress progress = { .elapsed_ns = now - set->start_ns };

	for (size_t i = 0; i < set->n; i++) {
		progress.calls += calls_now(&set->probes[i]);
		progress.probed += set->probes[i].install.n_planned;
	}
	set->hooks->progress(set->hooks->data, &progress);
}

static void epochs_next(const struct probe_set *set)
{
	for (size_t i = 0; i < set->n; i++) {
		if (set->probes[i].shared)
			__atomic_fetch_add(&set->probes[i].shared->epoch, 1, __ATOMIC_RELAXED);
	}
}

/* Takes out what the threads have recorded; true when a ring was more than half full. */
static bool set_drain(const struct probe_set *set)
{
	bool full = false;

	for (size_t i = 0; i < set->n; i++) {
		struct probe *probe = &set->probes[i];

		if (probe->buffers && probe->plan.n_records)
			full |= replay_drain(&probe->replay, probe->buffers, &probe->plan);
	}
	return full;
}

/* What is taken out of the targets while they run; returns when the next time is. */
static uint64_t look(const struct probe_set *set, uint64_t now)
{
	if (set->options->mode == PROBE_TRACE)
		return now + (set_drain(set) ? DRAIN_BUSY_NS : DRAIN_NS);
	if (set->options->mode != PROBE_STATE)
		return EVER_NS;
	for (size_t i = 0; i < set->n; i++) {
		struct probe *probe = &set->probes[i];

		if (probe->buffers && !probe->ended)
			states_look(&probe->states, probe->buffers, &probe->plan, probe->pid);
	}
	return now + states_gap_ns(set->sys, set->options->look_ns);
}

/* Until the targets have ended, time is up or the user stops it. */
static void watch(const struct probe_set *set)
{
	const struct probe_options *options = set->options;
	const uint64_t end = options->duration_ns ? set->start_ns + options->duration_ns : EVER_NS;
	uint64_t now = sys_now_ns(set->sys), epoch = options->cap_epoch_ns, tell, next;

	epoch = epoch && options->cap ? now + epoch : EVER_NS;
	tell = set->hooks->progress_ns ? now + set->hooks->progress_ns : EVER_NS;
	next = options->mode == PROBE_STATE ? now + states_gap_ns(set->sys, options->look_ns)
					    : look(set, now);
	while (now < end && !all_ended(set)) {
		const uint64_t due = least(least(end, epoch), least(tell, next));

		if (set_wait(set, due > now ? least(due - now, POLL_NS * 10) : 0))
			break;
		now = sys_now_ns(set->sys);
		if (now >= next)
			next = look(set, options->mode == PROBE_STATE ? next : now);
		if (now >= epoch) {
			epochs_next(set);
			epoch = now + options->cap_epoch_ns;
		}
		if (now >= tell) {
			progress_tell(set, now);
			tell = now + set->hooks->progress_ns;
		}
	}
}

static bool is_known(const struct image *image, const struct map *map)
{
	for (size_t i = 0; i < image->n; i++) {
		if (image->modules[i].inode == map->inode &&
		    !strcmp(image->modules[i].path, map->path))
			return true;
	}
	return false;
}

/* A library that came when the functions had been chosen: none of its functions is probed, and the user is told. */
static void later_tell(struct probe *probe)
{
	struct selection *selection = probe->options->selection;
	struct image now = { 0 };
	struct error ignored;
	struct map map;
	const char *at;
	bool any = false;

	if (image_read_maps(&probe->image, &ignored) != STATUS_OK)
		return;
	at = probe->image.maps;
	while (!any && maps_next(&at, &map))
		any = (map.protection & PROT_EXEC) && map.inode && *map.path == '/' &&
		      !selection_skips_module(selection, map.path) &&
		      !is_known(&probe->image, &map);
	if (any && image_open(&now, probe->sys, probe->pid, selection, &ignored) == STATUS_OK) {
		for (size_t i = 0; i < now.n; i++) {
			map.inode = now.modules[i].inode;
			snprintf(map.path, sizeof(map.path), "%s", now.modules[i].path);
			if (now.modules[i].code && !is_known(&probe->image, &map))
				probe_notice(
					probe,
					"process %d has opened %s meanwhile: its functions are "
					"not probed",
					probe->pid, now.modules[i].path);
		}
	}
	if (any)
		image_release(&now);
}

/* The bytes; off by data they are already. Forked children of a target that has ended have them, too. */
static enum status detach(struct probe *probe, struct error *error)
{
	enum status status;

	probe->ended = probe->ended || target_ended(probe);
	if (!probe->ended)
		later_tell(probe);
	status = guardian_remove(&probe->guardian, error);
	stops_add(&probe->result->detach, &probe->guardian.arena->stops);
	probe->result->not_restored += probe->guardian.arena->different;
	probe->ended = probe->ended || (status != STATUS_OK && target_ended(probe));
	return probe->ended ? STATUS_OK : status;
}

static enum status set_detach(struct probe_set *set, struct error *error)
{
	struct error ignored;
	enum status status = STATUS_OK;

	set->result->duration_ns = sys_now_ns(set->sys) - set->start_ns;
	ownership_end(&set->ownership);
	set->result->ended = true;
	for (size_t i = 0; i < set->n; i++) {
		const enum status one =
			detach(&set->probes[i], status == STATUS_OK ? error : &ignored);

		status = status == STATUS_OK ? one : status;
		set->result->ended &= set->probes[i].ended;
	}
	return status;
}

/* A launched command is waited for whatever happens: its exit code is ours. */
static void command_wait(const struct probe_set *set)
{
	while (set->result->launched && set->probes->launch.pid && !target_ended(set->probes)) {
		struct pollfd fd = { set->options->signal_fd, POLLIN, 0 };
		const struct timespec timeout = { 0, COMMAND_POLL_NS };

		set->sys->ppoll(set->sys->state, &fd, 1, &timeout, NULL);
		if (fd.revents & POLLIN)
			(void)signal_is_stop(set);
	}
}

/* Attaches; a launched target is let go in any case. */
static enum status target_attach(struct probe *probe, struct error *error)
{
	struct error ignored;
	enum status status, left;

	probe->pidfd = (int)syscall(SYS_pidfd_open, probe->pid, 0);
	status = attach(probe, error);
	if (status == STATUS_OK && probe->options->dry_run && probe->result->launched)
		kill(probe->pid, SIGKILL);
	left = guardian_let_go(&probe->guardian, status == STATUS_OK ? error : &ignored);
	return status == STATUS_OK ? left : status;
}

/* All of them or none: what was written before one failed its guardian takes back. */
static enum status set_run(struct probe_set *set, struct error *error)
{
	enum status status = STATUS_OK;
	bool any = false;

	for (size_t i = 0; status == STATUS_OK && i < set->n; i++) {
		status = target_attach(&set->probes[i], error);
		any |= set->probes[i].buffers != NULL;
	}
	set->start_ns = set->probes[set->n - 1].start_ns;
	if (status == STATUS_OK && any) {
		watch(set);
		status = set_detach(set, error);
		set_drain(set);
	}
	ownership_end(&set->ownership);
	command_wait(set);
	return status;
}

static enum status set_start(struct probe_set *set, struct error *error)
{
	enum status status = STATUS_OK;

	set->n = set->options->n_pids ? set->options->n_pids : 1;
	set->probes = calloc(set->n, sizeof(*set->probes));
	if (!set->probes)
		return error_set(error, STATUS_NO_MEMORY, "out of memory");
	for (size_t i = 0; i < set->n; i++) {
		struct probe *probe = &set->probes[i];

		*probe = (struct probe){ .options = set->options,
					 .sys = set->sys,
					 .hooks = set->hooks,
					 .result = set->result,
					 .ownership = &set->ownership,
					 .memfd = -1,
					 .pidfd = -1,
					 .guardian = { .fd = -1 } };
		if (set->options->n_pids)
			probe->pid = set->options->pids[i];
		if (status == STATUS_OK)
			status = guardian_start(&probe->guardian, set->sys, error);
	}
	if (status == STATUS_OK)
		status = ownership_begin(&set->ownership, error);
	for (size_t i = 0; status == STATUS_OK && i < set->n; i++)
		status = target_start(&set->probes[i], error);
	if (status != STATUS_OK)
		launch_abort(&set->probes->launch);
	return status;
}

static void target_release(struct probe *probe)
{
	guardian_stop(&probe->guardian);
	if (probe->buffers)
		munmap(probe->buffers, probe->plan.bytes);
	if (probe->memfd >= 0)
		close(probe->memfd);
	if (probe->pidfd >= 0)
		close(probe->pidfd);
	states_release(&probe->states);
	replay_release(&probe->replay);
	install_release(&probe->install);
	image_release(&probe->image);
}

enum status probe_run(const struct probe_options *options, const struct sys *sys,
		      const struct probe_hooks *hooks, struct probe_result *result,
		      struct error *error)
{
	struct probe_set set = { .options = options, .sys = sys, .hooks = hooks, .result = result };
	enum status status;

	*result = (struct probe_result){ 0 };
	status = metric_choose(&result->metric, sys, options->event, options->barrier, error);
	if (status != STATUS_OK)
		return status;
	status = set_start(&set, error);
	if (status == STATUS_OK)
		status = set_run(&set, error);
	for (size_t i = 0; status == STATUS_OK && i < set.n; i++)
		status = result_fill(&set.probes[i], error);
	ownership_end(&set.ownership);
	for (size_t i = 0; set.probes && i < set.n; i++)
		target_release(&set.probes[i]);
	free(set.probes);
	return status;
}
