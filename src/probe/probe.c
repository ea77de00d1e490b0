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
#include "probe/machine.h"
#include "probe/names.h"
#include "probe/ownership.h"
#include "probe/probe_state.h"
#include "target/maps.h"
#include "target/process.h"

#define PLACE_TRIES     6u
#define COMMAND_POLL_NS 5000000

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
	probe->start = PROBE_LAUNCHED;
	probe->result->launched = true;
	status = guardian_seize(probe->guardian, probe->pid, error);
	if (status != STATUS_OK)
		return status;
	status = guardian_run_to_entry(probe->guardian, error);
	if (status != STATUS_OK)
		return status;
	status = launch_exec(&probe->launch, options->argv[0], &probe->result->exit_code, error);
	if (status != STATUS_OK) {
		(void)!guardian_at_entry(probe->guardian, NULL);
		return status;
	}
	return guardian_at_entry(probe->guardian, error);
}

/* Memory in the target, at other places when the first choice turns out to be taken. */
static enum status memory_prepare(struct probe *probe, struct error *error)
{
	struct guardian_arena *arena = probe->guardian->arena;
	enum status status = STATUS_OK;

	for (unsigned int attempt = 0; attempt < PLACE_TRIES; attempt++) {
		status = install_place(&probe->install, error);
		if (status != STATUS_OK)
			return status;
		probe_ask(probe);
		arena->owner = probe->ownership->tid;
		arena->buffers_bytes = probe->plan.bytes;
		arena->n_regions = probe->install.n_regions;
		memcpy(arena->busy, probe->install.busy, sizeof(arena->busy));
		arena->n_busy = probe->install.n_busy;
		arena->allow_seccomp = probe->options->allow_seccomp;
		memcpy(arena->regions, probe->install.regions, sizeof(arena->regions));
		status = guardian_prepare(probe->guardian, &probe->memfd, error);
		if (status == STATUS_OK ||
		    (arena->error.os_errno != EEXIST && arena->error.os_errno != EBUSY))
			break;
		if (probe->memfd >= 0)
			close(probe->memfd);
		probe->memfd = -1;
		if (arena->error.os_errno == EBUSY && probe->install.n_busy < GUARDIAN_MAX_BUSY) {
			probe_notice(
				probe,
				"a thread of process %d stands in the trampolines of an earlier "
				"assay: these are left alone, and others taken or mapped",
				probe->pid);
			probe->install.busy[probe->install.n_busy++] = arena->busy_region;
		} else if (probe->install.n_blocked < GUARDIAN_MAX_REGIONS) {
			probe->install.blocked[probe->install.n_blocked++] =
				arena->regions[arena->failed_region];
		}
	}
	return status;
}

enum status probe_buffers_open(struct probe *probe, uint64_t address, struct error *error)
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
	passages_header_fill(shared, probe->options->selection->n_regions,
			     &probe->passage_calibration);
	buffers_null_block(probe->buffers, address);
	probe->buffers_at = address;
	close(probe->memfd);
	probe->memfd = -1;
	return STATUS_OK;
}

void probe_stops_add(struct guardian_stops *sum, const struct guardian_stops *stops)
{
	sum->stops += stops->stops;
	sum->gather_ns += stops->gather_ns;
	sum->held_ns += stops->held_ns;
	if (stops->longest_held_ns > sum->longest_held_ns)
		sum->longest_held_ns = stops->longest_held_ns;
	if (stops->threads > sum->threads)
		sum->threads = stops->threads;
}

void probe_names_write(struct probe *probe)
{
	struct error error;

	if (!probe->options->perf_map || probe->unnamed)
		return;
	probe->unnamed =
		names_write(&probe->install, probe->pid, probe->named, &error) != STATUS_OK;
	probe->named = true;
	if (probe->unnamed)
		probe_notice(probe, "no names for other profilers: %s", error.text);
}

static enum status probes_write(struct probe *probe, struct error *error)
{
	const struct install_part all = { .module = NULL };
	struct guardian_arena *arena = probe->guardian->arena;
	enum status status;

	status = memory_prepare(probe, error);
	if (status == STATUS_OK)
		status = probe_buffers_open(probe, arena->buffers, error);
	if (status == STATUS_OK)
		status = install_fill(&probe->install, &all, arena, probe->plan.function_bytes,
				      error);
	if (status == STATUS_OK)
		status = guardian_apply(probe->guardian, error);
	probe_stops_add(&probe->result->attach, &arena->stops);
	if (status != STATUS_OK)
		return status;
	install_settle(&probe->install, &all, arena);
	probe_names_write(probe);
	/* All functions from the same moment on, in however many stops they were written. */
	probe->start_ns = sys_now_ns(probe->sys);
	probe->install.owner = probe->ownership->tid;
	return ownership_take(probe->ownership, probe->shared, error);
}

/* What stands patched in the target since an assay was killed with its guardian. */
static enum status recover(struct probe *probe, struct error *error)
{
	enum status status;

	if (probe->start != PROBE_ATTACHED || probe->options->dry_run)
		return STATUS_OK;
	status = guardian_recover(probe->guardian, probe->pid, error);
	if (status == STATUS_OK && probe->guardian->arena->restored)
		probe_notice(probe,
			     "process %d had been left patched by an assay that was killed "
			     "with its guardian: its code is put back first",
			     probe->pid);
	return status;
}

enum status probe_records_init(struct probe *probe, struct error *error)
{
	const struct probe_options *options = probe->options;

	if (options->mode == PROBE_TRACE)
		return replay_init(&probe->replay, probe->sys, &probe->plan,
				   (uint64_t)llround(probe->calibration.inner_ticks),
				   (uint32_t)probe->pid, options->records_fd, error);
	if (options->mode == PROBE_STATE)
		return states_init(&probe->states, probe->plan.n_functions, error);
	return STATUS_OK;
}

enum status probe_attach(struct probe *probe, struct error *error)
{
	const struct probe_options *options = probe->options;
	enum status status = recover(probe, error);

	if (status != STATUS_OK)
		return status;
	status = image_open(&probe->image, probe->sys, probe->pid, options->selection,
			    probe->images, error);
	if (status == STATUS_OK) {
		probe->install.mode = options->mode;
		probe->install.capped = options->cap != 0;
		probe->install.sampled = options->every > 1;
		probe->install.full = (metric_is_full(&probe->result->metric) ||
				       probe->options->mode == PROBE_TRACE);
		status = install_choose(&probe->install, probe->sys, &probe->image,
					options->selection, error);
	}
	if (status == STATUS_OK && !options->follow)
		status = point_words_check(probe, error);
	if (status == STATUS_OK && !probe->install.n) {
		if (options->follow && (probe->start >= PROBE_FORKED ||
					!arrivals_awaited(options->selection, &probe->image)))
			return STATUS_OK; /* it runs on unprobed */
		/* of several processes that are asked for each is to have something now */
		if (options->dry_run || options->n_pids > 1 ||
		    !arrivals_awaited(options->selection, &probe->image))
			status = near_misses(probe, error);
		else
			probe_notice(probe,
				     "process %d has none of these functions yet: waiting for the "
				     "library%s",
				     probe->pid, options->follow ? ", or a child" : "");
	} else if (status == STATUS_OK && probe->start < PROBE_FORKED) {
		words_tell(probe);
	}
	if (status != STATUS_OK || options->dry_run ||
	    (probe->install.n_planned <= options->selection->n_regions && probe->install.n))
		return status;
	buffers_plan_make(&probe->plan, passages_mode(options->mode, options->selection->n_regions),
			  probe->install.n_planned, options->buffer_bytes);
	probe->install.state_end = buffers_state_end(&probe->plan);
	/* a followed process has what the first one was calibrated with */
	if (!probe->calibration.ns0)
		status = probe_costs_measure(probe, error);
	if (status == STATUS_OK)
		status = probe_records_init(probe, error);
	if (status == STATUS_OK)
		status = probes_write(probe, error);
	return status;
}

/* The bytes; off by data they are already. Forked children of a target that has ended have them, too. */
static enum status detach(struct probe *probe, struct error *error)
{
	enum status status;

	probe->ended = probe->ended || watch_target_ended(probe);
	if (!probe->ended && probe->origin == probe)
		arrivals_end(probe);
	status = guardian_remove(probe->guardian, error);
	probe_stops_add(&probe->result->detach, &probe->guardian->arena->stops);
	probe->result->not_restored += probe->guardian->arena->different;
	probe->ended = probe->ended || (status != STATUS_OK && watch_target_ended(probe));
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
	while (set->result->launched && set->probes->launch.pid &&
	       !watch_target_ended(set->probes)) {
		struct pollfd fd = { set->options->signal_fd, POLLIN, 0 };
		const struct timespec timeout = { 0, COMMAND_POLL_NS };

		set->sys->ppoll(set->sys->state, &fd, 1, &timeout, NULL);
		if (fd.revents & POLLIN)
			(void)watch_signal_is_stop(set);
	}
}

static enum status follow_start(struct probe *probe, struct error *error)
{
	if (!probe->options->follow)
		return STATUS_OK;
	probe_ask(probe);
	return guardian_follow(probe->guardian, error);
}

/* Attaches; a launched target is let go in any case. */
static enum status target_attach(struct probe *probe, struct error *error)
{
	struct error ignored;
	enum status status, left;

	probe->pidfd = (int)syscall(SYS_pidfd_open, probe->pid, 0);
	process_comm(probe->sys, probe->pid, probe->comm);
	status = follow_start(probe, error);
	if (status == STATUS_OK)
		status = probe_attach(probe, error);
	probe_ask(probe);
	if (status == STATUS_OK && probe->options->dry_run && probe->result->launched)
		kill(probe->pid, SIGKILL);
	left = guardian_let_go(probe->guardian, status == STATUS_OK ? error : &ignored);
	return status == STATUS_OK ? left : status;
}

/* All of them or none: what was written before one failed its guardian takes back. */
static enum status set_run(struct probe_set *set, struct error *error)
{
	enum status status = STATUS_OK;
	bool any = false;

	for (size_t i = 0; status == STATUS_OK && i < set->n; i++) {
		status = target_attach(&set->probes[i], error);
		any |= set->probes[i].buffers != NULL || set->options->follow;
		if (!set->calibration.ns0) {
			set->calibration = set->probes[i].calibration;
			set->passage_calibration = set->probes[i].passage_calibration;
		}
	}
	set->start_ns = set->probes[set->n - 1].start_ns;
	if (!set->start_ns)
		set->start_ns = sys_now_ns(set->sys);
	if (status == STATUS_OK && any) {
		watch_run(set);
		status = set_detach(set, error);
		(void)watch_drain(set);
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
					 .guardian = &probe->keeper,
					 .origin = probe,
					 .images = set->options->follow ? &set->images : NULL,
					 .program = ++set->n_programs,
					 .keeper = { .fd = -1 } };
		if (set->options->n_pids)
			probe->pid = set->options->pids[i];
		if (status == STATUS_OK)
			status = guardian_start(probe->guardian, set->sys, error);
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
	guardian_stop(probe->guardian);
	if (probe->buffers)
		munmap(probe->buffers, probe->plan.bytes);
	if (probe->memfd >= 0)
		close(probe->memfd);
	if (probe->pidfd >= 0)
		close(probe->pidfd);
	states_release(&probe->states);
	replay_release(&probe->replay);
	free(probe->unprobed);
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
	if (options->follow)
		status = image_cache_init(&set.images, sys, error);
	if (status == STATUS_OK)
		status = set_start(&set, error);
	if (status == STATUS_OK)
		status = set_run(&set, error);
	for (size_t i = 0; status == STATUS_OK && i < set_count(&set); i++) {
		if (!set_probe(&set, i)->collected)
			status = probe_collect(&set, set_probe(&set, i), error);
	}
	for (size_t i = 0; status == STATUS_OK && i < set.n; i++)
		status = result_children(&set.probes[i], error);
	if (status == STATUS_OK && options->mode == PROBE_TRACE)
		status = replay_edges_make(result, error);
	if (status == STATUS_OK && !result->n_rows)
		status = near_misses(set.probes, error);
	ownership_end(&set.ownership);
	follow_probes_free(&set);
	for (size_t i = 0; set.probes && i < set.n; i++)
		target_release(&set.probes[i]);
	free(set.probes);
	image_cache_release(&set.images);
	return status;
}
