/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One target of a run of the engine, for the files that it is made of. Nothing of it outlives probe_run.
 */
#ifndef ASSAY_PROBE_PROBE_STATE_H
#define ASSAY_PROBE_PROBE_STATE_H

#include "probe/arrivals.h"
#include "probe/calibrate.h"
#include "probe/image_cache.h"
#include "probe/ownership.h"
#include "probe/probe.h"
#include "probe/replay.h"
#include "probe/states.h"

struct probe {
	const struct probe_options *options;
	const struct sys *sys;
	const struct probe_hooks *hooks;
	struct probe_result *result;
	struct guardian *guardian;   /* its own, or that of the target that it comes from */
	struct guardian keeper;      /* of a target */
	struct ownership *ownership; /* of all targets */
	struct launch launch;
	struct image_cache *images; /* of the set; NULL: none */
	struct image image;
	struct install install;
	struct buffers_plan plan;
	struct calibration calibration, passage_calibration; /* the latter of regions */
	struct states states;
	struct replay replay;
	struct arrivals arrivals;
	pid_t pid;
	int memfd, pidfd;
	uint8_t *buffers;
	struct agent_shared *shared;
	uint64_t start_ns;
	uint64_t buffers_at; /* their address in the target */
	bool named, unnamed; /* names.h: written, or not to be written */
	bool reaped, ending, ended;
	/* --follow: a process that a target has made, or new code of one (probe_follow.c) */
	enum probe_start start;
	pid_t parent;
	char comm[16];
	struct probe
		*origin;  /* whose image, plans and trampolines it has: its own, or its parent's */
	uint32_t program; /* the number of these */
	size_t process;   /* among the result's, once it is there */
	bool collected;   /* its sums are in the result, and its buffers are gone */
	bool released;    /* nobody has its image and plans any more */
	struct guardian_child *unprobed; /* of a target: followed, and not probed */
	size_t n_unprobed, unprobed_capacity;
	uint64_t n_unprobed_more;
};

/* All targets of a run. */
struct probe_set {
	const struct probe_options *options;
	const struct sys *sys;
	const struct probe_hooks *hooks;
	struct probe_result *result;
	struct ownership ownership;
	struct probe *probes;
	size_t n;
	struct probe **followed; /* processes that these have made */
	size_t n_followed, followed_capacity;
	uint32_t n_programs;
	struct image_cache images;                           /* with --follow */
	struct calibration calibration, passage_calibration; /* of the first that was probed */
	uint64_t start_ns;
};

/* Targets first, then followed processes. */
static inline size_t set_count(const struct probe_set *set)
{
	return set->n + set->n_followed;
}

static inline struct probe *set_probe(const struct probe_set *set, size_t i)
{
	return i < set->n ? &set->probes[i] : set->followed[i - set->n];
}

/* The next requests to the guardian are about this process. */
static inline void probe_ask(const struct probe *probe)
{
	probe->guardian->arena->pid = probe->pid;
	probe->guardian->arena->program = probe->program;
}

/* Until all have ended, time is up or the user stops it: watch.c. */
void watch_run(struct probe_set *set);

/* A signal for us: interrupts end the probing, others are for a launched command. */
bool watch_signal_is_stop(const struct probe_set *set);

/* Has the target ended? A launched one is reaped. */
bool watch_target_ended(struct probe *probe);

/* Takes out what the threads have recorded; true when a ring was more than half full. */
bool watch_drain(const struct probe_set *set);

/* Maps the buffers and fills their head. The file descriptor is closed. */
MUST_CHECK enum status probe_buffers_open(struct probe *probe, uint64_t address,
					  struct error *error);

/* What trace and state keep beside the buffers. */
MUST_CHECK enum status probe_records_init(struct probe *probe, struct error *error);

/* Chooses, prepares, writes. */
MUST_CHECK enum status probe_attach(struct probe *probe, struct error *error);

/* Sums, rows and names of a process that has ended, or is about to be let alone; its buffers are given up. */
MUST_CHECK enum status probe_collect(struct probe_set *set, struct probe *probe,
				     struct error *error);

/* Takes what the guardian of a target has to tell. What fails with one process is told by notices. */
void follow_events(struct probe_set *set, struct probe *target);

/* True when no followed process lives, or has something to be told still. */
bool follow_is_over(const struct probe_set *set);

/* Frees the followed processes. */
void follow_probes_free(struct probe_set *set);

/* Tells the user something on the way. */
void probe_notice(const struct probe *probe, const char *format, ...) PRINTF_LIKE(2, 3);

/* Names for other profilers, when they are asked for; what is in the way is told once. */
void probe_names_write(struct probe *probe);

/* Adds up what several requests to a guardian took. */
void probe_stops_add(struct guardian_stops *sum, const struct guardian_stops *stops);

/* The error for a selection that means nothing: names that are near, modules that could not be read. */
enum status near_misses(const struct probe *probe, struct error *error);

/* Tells the user of words that mean nothing while others do. */
void words_tell(const struct probe *probe);

/* "; near misses: a, b", in `text`, which is returned; "" when no name is near. */
const char *near_names(const struct probe *probe, const char *wanted, char *text, size_t size);

/* Calibrates what this run will use: costs.c. */
MUST_CHECK enum status probe_costs_measure(struct probe *probe, struct error *error);

/* STATUS_NOT_FOUND, with what is near, when a line or an end of a region means nothing; else STATUS_OK. */
MUST_CHECK enum status point_words_check(const struct probe *probe, struct error *error);

/* Rows with names, reasons and sums: those of this target, added to those of others. */
MUST_CHECK enum status result_fill(struct probe *probe, struct error *error);

/* The processes that a target has made and that were not probed, once its guardian has removed all. */
MUST_CHECK enum status result_children(struct probe *probe, struct error *error);

/* Mode trace: edges from caller to callee, out of the nodes of all processes. */
MUST_CHECK enum status replay_edges_make(struct probe_result *result, struct error *error);

/* What was traced in this target, added to the result. */
MUST_CHECK enum status replay_result_fill(struct probe *probe, struct error *error);

#endif
