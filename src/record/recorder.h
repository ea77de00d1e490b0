/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The state of one recording, shared by the steps that make it up. Private to this folder.
 *
 *	recorder.c   start, loop, end: the order of things
 *	prepare.c    what can be refused before anything runs: events, CPUs, targets; calibration
 *	scope.c      opening the clocks, the best scope that is permitted; scope_task.c: of threads
 *	output.c     the bundle: its parts, the manifest, the header of perf.data
 *	drain.c      rings -> perf.data, in rounds
 *	sideband.c   fork, exit, exec and mmap records -> threads followed, files noted
 *	sample.c     one sample: which draw, whose, rewritten
 *	epoch.c      epochs and redraws
 */
#ifndef ASSAY_RECORD_RECORDER_H
#define ASSAY_RECORD_RECORDER_H

#include "bundle/bundle.h"
#include "bundle/draws.h"
#include "bundle/perfdata_writer.h"
#include "record/account.h"
#include "record/attributes.h"
#include "record/channel.h"
#include "record/counters.h"
#include "record/drawer.h"
#include "record/followed.h"
#include "record/incidents.h"
#include "record/objects.h"
#include "record/perf_map.h"
#include "record/plan.h"
#include "record/rate.h"
#include "record/record.h"
#include "record/synthesize.h"
#include "record/weather.h"
#include "target/cgroup.h"
#include "target/launch.h"
#include "target/witness.h"

struct recorder {
	const struct record_options *options;
	const struct sys *sys;
	const struct record_hooks *hooks;

	/* what was found out and decided before the start */
	int *cpus;
	size_t n_cpus;
	struct event_pace *paces; /* per event */
	struct cost cost;
	uint64_t seed;
	struct plan plan;
	enum clock_scope scope;
	char scope_why[512]; /* why none of the better ones, "" when it is the best */

	/* the kernel's side */
	struct attributes attributes;
	struct channels channels;
	struct drawer drawer;
	struct counters counters;
	struct cgroup cgroup;
	struct launch launch;
	struct witness witness;
	int exit_fd;    /* pidfd of the launched command or of the only process; -1 */
	int *owner_fds; /* scopes by thread: dummies that own the rings */
	size_t n_owner_fds;
	struct followed followed;

	/* the bundle's side */
	struct bundle_output *bundle;
	struct perfdata_writer *perfdata;
	struct draws_writer *draws;
	struct manifest_writer *manifest_writer;
	struct manifest manifest;
	struct objects objects;
	struct perf_maps perf_maps;
	struct incidents incidents;
	struct account account;
	struct weather weather;
	uint64_t records_in_round;

	/* the epoch under way */
	uint64_t epoch, epochs_written;
	uint64_t start_ns, epoch_start_ns, epoch_end_ns; /* end as planned */
	uint64_t wakes, wake_ns;                         /* redraws in this epoch; the next one */
	double wake_stretch;                             /* factors, 1 while the target is busy */
	uint64_t epoch_stretch;
	uint64_t late_ns;
	uint64_t target_cpu_ns, own_cpu_ns;   /* at the start of the epoch */
	double cost_ns, accounted_cpu_ns;     /* cost, and CPU of the target: whole recording */
	double window_cost_ns, window_cpu_ns; /* the same since the rate was last reviewed */
	double window_sampling_ns;            /* the part of it that follows the rate */
	uint64_t samples_at_start, samples_at_wake;

	uint64_t
		command_cpu_ns; /* of the ended command and the children that it waited for; 0: it runs */
	uint64_t exec_ns;       /* when the launched command's first exec took place; 0: not yet */
	const char *reason; /* to end: NULL while it goes on */
	struct record_stop stop;
	uint64_t looked_ns; /* stop.cpu_ns at the start of the epoch */
	bool signal_sent;
};

/* prepare.c */
MUST_CHECK enum status recorder_prepare(struct recorder *recorder, struct error *error);
void recorder_notice(const struct recorder *recorder, const char *format, ...) PRINTF_LIKE(2, 3);

/* scope.c */
MUST_CHECK enum status scope_choose(struct recorder *recorder, struct error *error);
/* Closes the clocks and rings at once; scope_close also removes the cgroup and frees the rest. */
void scope_close_clocks(struct recorder *recorder);
void scope_close(struct recorder *recorder);
/* The event that reports forks and mappings, on one CPU. */
MUST_CHECK enum status scope_sideband_open(struct recorder *recorder, uint32_t slot, pid_t pid,
					   unsigned long flags, pid_t tid, bool inherit,
					   uint32_t *chain, struct error *error);

/* scope_task.c: everything for the threads that exist. */
MUST_CHECK enum status scope_tasks_open(struct recorder *recorder, struct error *error);
/* A new draw for every living thread, where descriptors suffice. */
MUST_CHECK enum status scope_inherit_reopen(struct recorder *recorder, struct error *error);
/* A thread appeared (scopes by thread): opens its events. `existed`: it did so before, and nobody's
 * inherited sideband reports it. */
MUST_CHECK enum status scope_thread_open(struct recorder *recorder, struct followed_task *task,
					 bool existed, struct error *error);

/* output.c */
MUST_CHECK enum status output_open(struct recorder *recorder, struct error *error);
MUST_CHECK enum status output_append(struct recorder *recorder,
				     const struct perf_event_header *record, struct error *error);
MUST_CHECK enum status output_epoch(struct recorder *recorder, struct manifest_epoch *epoch,
				    struct error *error);
MUST_CHECK enum status output_finish(struct recorder *recorder, const struct record_result *result,
				     struct error *error);
/* After a write has failed: the manifest's end alone, as far as that can still be written. */
void output_abandon(struct recorder *recorder, const struct record_result *result);
void output_close(struct recorder *recorder);

/* drain.c */
MUST_CHECK enum status drain_all(struct recorder *recorder, struct error *error);

/* sideband.c: one record of a sideband ring, already complete; rewrites and stores it. */
MUST_CHECK enum status sideband_take(struct recorder *recorder, uint32_t slot,
				     struct perf_event_header *record, struct error *error);
/* Processes and threads that existed before, as -p, -t and -a need. */
MUST_CHECK enum status sideband_synthesize(struct recorder *recorder, struct error *error);

/* sample.c: one record of a sample ring. */
MUST_CHECK enum status sample_take(struct recorder *recorder, uint32_t slot,
				   struct perf_event_header *record, struct error *error);

/* epoch.c */
void epoch_start(struct recorder *recorder, uint64_t now_ns);
MUST_CHECK enum status epoch_finish(struct recorder *recorder, bool last, struct error *error);
/* Drains, redraws what is due and plans the next wake-up. */
MUST_CHECK enum status epoch_wake(struct recorder *recorder, uint64_t now_ns, struct error *error);
uint64_t target_cpu_now(struct recorder *recorder);

#endif
