/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sampling contract of one recording: what was asked, what was drawn, what was realised.
 *
 * On disk `manifest.json`: one JSON document that is complete at every moment. The head is written
 * when recording starts; every finished epoch is written over the closing brackets, which it repeats:
 *
 *	{ "schema": "assay.manifest/1", ... head ...,
 *	  "epochs": [
 *	    {...},
 *	    {...}            <- the next epoch starts here, one pwrite, "\n]}\n" again at its end
 *	]}
 *
 * and the tail (`"end": {...}`) once, when the recording was closed. A manifest without `end` belongs
 * to a recording that was killed; it holds every epoch that was finished.
 *
 * The structs below are both what the recorder fills and what a reader gets back: a round trip is
 * the identity (tested). Times are CLOCK_MONOTONIC in ns, the clock of the samples.
 */
#ifndef ASSAY_BUNDLE_MANIFEST_H
#define ASSAY_BUNDLE_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/sys.h"

#define MANIFEST_SCHEMA     "assay.manifest/1"
#define MANIFEST_MAX_CLOCKS 16

enum schedule_kind {
	SCHEDULE_FIXED,  /* the mean, always */
	SCHEDULE_PRIME,  /* a fixed period: a prime near the mean */
	SCHEDULE_FREQ,   /* the kernel steers towards a rate */
	SCHEDULE_JITTER, /* uniform in [1 - w, 1 + w] of the mean */
	SCHEDULE_EXP,    /* exponential, cut at both ends */
	SCHEDULE_MIXED,  /* only of the whole recording: its clocks have different kinds */
};

enum redraw_kind { REDRAW_NONE, REDRAW_BLOCK, REDRAW_SAMPLE };

/* How clocks are attached to the target: the order of choice of docs/recording.md. */
enum clock_scope {
	SCOPE_SYSTEM, /* per CPU, everything that runs there (-a, -C) */
	SCOPE_CGROUP, /* per CPU, within the cgroup made for the command */
	SCOPE_CPU,    /* per CPU, filtered by thread id in the collector */
	SCOPE_THREAD, /* per thread, opened as threads appear */
	SCOPE_INHERIT /* per initial thread, inherited, fixed random period per epoch */
};

/* The words for them in the manifest and in reports; "unknown" for a value outside the enumeration. */
const char *schedule_kind_name(enum schedule_kind kind);
/* "none", "block", "sample" */
const char *redraw_kind_name(enum redraw_kind kind);
/* "system", "cgroup", "cpu", "thread", "inherit" */
const char *clock_scope_name(enum clock_scope scope);

/* One clock: one event with its own random stream. Per CPU (and thread) it has several slots, each
 * an id in perf.data that belongs to exactly one clock. */
struct manifest_clock {
	enum schedule_kind kind;
	enum redraw_kind redraw;
	uint32_t block;     /* REDRAW_BLOCK: mean periods per block */
	bool randomised;    /* enters the estimates; false: a canary */
	uint32_t event;     /* index of its attribute in perf.data */
	double mean_period; /* in the event's unit, at the start; per epoch in the epochs */
	double low, high;   /* bounds of the drawn period relative to the mean */
	double target_hz;   /* samples per second of target CPU time that were planned */
	uint64_t *ids;      /* ids in perf.data, one per slot */
	size_t n_ids;
};

/* One event that the user asked for. */
struct manifest_event {
	char *asked, *granted; /* as typed; as opened. Different: a substitution */
	char *why;             /* reason of the substitution, NULL when none */
	char *unit;            /* "ns" for clocks, else the event's name */
	int precise_ip;        /* as granted */
};

/* One clock within one epoch. */
struct manifest_epoch_clock {
	double mean_period;
	uint64_t samples, lost;
	uint64_t redraws;
	uint64_t throttled, throttled_ns;
	uint64_t retuned; /* freq: changes of period between samples */
	/* realised intervals (READ differences) of samples that no redraw cut */
	uint64_t intervals;
	double realised_mean, realised_sd, realised_min, realised_max;
	double intended_mean, intended_sd; /* of the same samples' drawn periods */
};

struct manifest_epoch {
	uint64_t index, seed, start_ns, end_ns;
	uint64_t data_bytes;       /* of perf.data's data section when the epoch was finished */
	uint64_t target_cpu_ns;    /* CPU time of the target within the epoch; 0 unknown */
	uint64_t collector_cpu_ns; /* CPU time of assay within the epoch */
	double budget, achieved;   /* shares; achieved is an estimate from the calibrated cost */
	uint64_t late_ns;          /* longest time by which the collector came late */
	/* the machine meanwhile; 0: unknown */
	uint64_t busy_ns;       /* CPU time that was used on it, by the target and all others */
	uint64_t steal_ns;      /* CPU time that its hypervisor took away */
	uint64_t frequency_khz; /* mean of its CPUs at the epoch's end */
	int64_t temperature_millidegree;
	/*
	 * n_clocks of the manifest. A pointer, not an array: an hour has some 18000 epochs. For a writer
	 * the caller's (struct manifest_epoch_clock clocks[MANIFEST_MAX_CLOCKS]; epoch.clocks = clocks),
	 * in a parsed manifest the manifest's own.
	 */
	struct manifest_epoch_clock *clocks;
};

/* Something that happened at one moment of the recording and lessens what it can say. */
struct manifest_incident {
	char *code; /* a finding code: "loss", "throttle", "starved", "short-tasks", "substitution" ... */
	uint64_t start_ns, end_ns;
	double amount; /* samples, ns or tasks: `unit` says */
	char *unit, *text;
};

/* A file that was mapped by the target: its identity when it was mapped. */
struct manifest_object {
	char *path; /* as the target saw it; bytes that are not UTF-8 are kept (see docs/bundle.md) */
	uint64_t device, inode, size, mtime_ns;
	char *build_id; /* hex, NULL when it has none */
	char *copy;     /* name inside the bundle's objects/, NULL when not copied */
	char *missing;  /* why the identity could not be read, NULL when it could */
};

struct manifest_machine {
	char *hostname, *kernel, *arch, *cpu_model, *governor, *clocksource, *hypervisor;
	int64_t temperature_millidegree; /* INT64_MIN when unreadable */
	uint32_t cpus_online, cpus_configured;
	uint64_t page_size, memory_kib;
	int64_t perf_event_paranoid, max_sample_rate, cpu_time_max_percent, mlock_kb, max_stack;
	char *boot_id;
};

struct manifest_end {
	bool present; /* false: the recording was not closed */
	char *reason; /* "exit", "duration", "max-size", "interrupt", "settled", "biased", ... */
	uint64_t end_ns;
	bool target_exited;
	int exit_code, signal; /* of a launched command */
	uint64_t target_cpu_ns, collector_cpu_ns;
	uint64_t samples, lost;
	double achieved; /* share of cost over the whole recording */
	uint64_t tasks_seen, tasks_unsampled, unsampled_cpu_ns;
	int period_weights; /* 1 when period weights are the better choice, 0 when not, -1 unknown */
	/* With manifest.until: how often the data were looked at, and what was said when they ended the
	 * recording (reason "settled" or "biased"); NULL when they did not. */
	uint64_t looks;
	char *settled;
};

struct manifest {
	char *assay_version;
	char **command; /* NULL-terminated; NULL when attached */
	size_t n_command;
	int *pids;
	size_t n_pids;
	uint64_t start_ns, start_realtime_ns;
	uint64_t seed;
	enum schedule_kind schedule;
	enum redraw_kind redraw;
	enum clock_scope scope;
	char *scope_why; /* why not a better scope, NULL when it is the best */
	double budget;   /* 0.01 = 1 %; 0 when -F or -c overrode it */
	double sample_cost_ns, redraw_cost_ns; /* calibrated */
	uint64_t min_period_ns;                /* safety bound */
	double rate_hz;                        /* all randomised clocks together */
	char *rate_why;                        /* in words: budget, -F, -c, safety bound */
	bool callchains, kernel;
	char *call_graph; /* "fp", "dwarf", NULL */
	uint64_t epoch_nominal_ns;
	char *until; /* the question that was to end it ("top=5"), NULL: none */
	struct manifest_machine machine;
	struct manifest_event *events;
	size_t n_events;
	struct manifest_clock *clocks;
	size_t n_clocks;
	struct manifest_epoch *epochs;
	size_t n_epochs, epochs_capacity;
	struct manifest_clock_block
		*clock_blocks; /* storage of the epochs' clocks; manifest_release */
	struct manifest_incident *incidents;
	size_t n_incidents, incidents_capacity;
	struct manifest_object *objects;
	size_t n_objects, objects_capacity;
	struct manifest_end end;
};

/* What a reader accepts; a manifest beyond is refused, naming the maximum. */
#define MANIFEST_MAX_BYTES     (UINT64_C(1) << 30)
#define MANIFEST_MAX_EPOCHS    (1u << 22) /* some 230 hours */
#define MANIFEST_MAX_INCIDENTS (1u << 20)
#define MANIFEST_MAX_OBJECTS   (1u << 20)
#define MANIFEST_MAX_WORDS     (1u << 16) /* of the command line, of pids, of events */

void manifest_init(struct manifest *manifest);
void manifest_release(struct manifest *manifest);

/* Parses the text of a manifest.json. A text that stops in the middle (killed while writing, disk
 * full) is read up to its last whole epoch, end.present = false. Unknown keys are ignored. */
MUST_CHECK enum status manifest_parse(struct manifest *manifest, const char *text, size_t size,
				      struct error *error);

struct manifest_writer;

/* Creates the file with the head; events, clocks and machine must be filled in. Incidents and objects
 * that the manifest already has go into the head. Fails if the file exists. */
MUST_CHECK enum status manifest_writer_create(struct manifest_writer **writer,
					      const struct sys *sys, int dir_fd, const char *name,
					      const struct manifest *manifest, struct error *error);

/* Adds one finished epoch, with the incidents and objects since the last call. One pwrite over the
 * closing brackets; after a failed one every further call fails the same way and the document stays
 * whole as far as it was. */
MUST_CHECK enum status
manifest_writer_epoch(struct manifest_writer *writer, const struct manifest *manifest,
		      const struct manifest_epoch *epoch, const struct manifest_incident *incidents,
		      size_t n_incidents, const struct manifest_object *objects, size_t n_objects,
		      struct error *error);

/* Adds the tail and closes the document. */
MUST_CHECK enum status manifest_writer_end(struct manifest_writer *writer,
					   const struct manifest_end *end, struct error *error);
void manifest_writer_close(struct manifest_writer *writer);

#endif
