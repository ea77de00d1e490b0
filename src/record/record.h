/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Recording: samples a target into a bundle, as the sampling contract in its manifest says.
 *
 * One call, single-threaded but for the calibration. The target is a command that is launched, living
 * processes or threads, or CPUs. What a user should hear while it runs goes through the hooks; nothing
 * here prints.
 *
 * Start reading the implementation at recorder.c.
 */
#ifndef ASSAY_RECORD_RECORD_H
#define ASSAY_RECORD_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/sys.h"
#include "bundle/manifest.h"
#include "event/event.h"
#include "record/rate.h"
#include "target/launch.h"

#define RECORD_DEFAULT_BUDGET 0.01
/* With hooks.stop this part of the budget is kept for whoever looks at the data. */
#define RECORD_LOOKING_SHARE       0.2
#define RECORD_DEFAULT_CLOCKS      2
#define RECORD_DEFAULT_STACK_BYTES 8192
#define RECORD_MAX_STACK_BYTES     65528 /* a record holds 16 bits of size, in eights */
#define RECORD_MAX_TARGETS         65536

enum record_target {
	RECORD_COMMAND,
	RECORD_PROCESSES, /* -p: all their threads, and what they start */
	RECORD_THREADS,   /* -t: these threads, and what they start */
	RECORD_CPUS,      /* -a, -C: everything that runs there */
};

enum record_stacks { RECORD_NO_STACKS, RECORD_FRAME_POINTERS, RECORD_DWARF };

struct record_options {
	enum record_target target;
	/* NULL-terminated, NULL for none. With another target: how long to record. */
	char *const *command;
	const int *ids; /* process or thread ids */
	size_t n_ids;
	const int *cpus; /* -C; none: all that are online */
	size_t n_cpus;

	struct event_list *events; /* changed in place where the kernel grants less */
	double budget;             /* share of the target's CPU time */
	double rate_hz;            /* -F: 0 when not given; overrides the budget */
	uint64_t period;           /* -c: 0 when not given; overrides the budget */
	enum schedule_kind schedule;
	enum redraw_kind redraw;
	uint32_t block;  /* mean periods per block; 0: by cost */
	uint32_t clocks; /* randomised ones of each event */
	bool canary;
	uint64_t epoch_ns; /* nominal length; 0: automatic */
	uint64_t seed;
	bool seed_given;
	enum record_stacks stacks;
	uint32_t stack_bytes; /* RECORD_DWARF: of stack kept per sample */
	bool scope_forced;
	enum clock_scope scope;
	size_t ring_pages; /* -m: 0 automatic; a power of two */

	uint64_t duration_ns; /* -d: 0 unlimited */
	uint64_t max_bytes;   /* --max-size: 0 unlimited */
	const char *output;
	const char *until; /* the question that hooks.stop decides, for the manifest; NULL: none */
	char *const *command_line; /* of assay itself, NULL-terminated: for perf.data's header */
	const char *version;
	const struct launch_state *launch_state; /* what a launched command is to find */
	int signal_fd;                 /* signalfd of the signals that end or are passed on */
	const struct cost *known_cost; /* instead of a calibration; NULL: calibrate */
};

struct record_progress {
	uint64_t elapsed_ns, samples, lost, epochs, bytes;
	double achieved, budget;
};

/* What somebody who reads the bundle while it grows has to say. */
struct record_stop {
	const char *reason; /* to end now, as manifest_end.reason; NULL: go on */
	const char *text;   /* with a reason: why, for the manifest; owned by whoever answers */
	uint64_t looks;     /* how often the data were looked at so far, */
	uint64_t cpu_ns;    /* and the CPU time of this process that it took */
};

struct record_hooks {
	void *data;
	void (*notice)(void *data, const char *text); /* a sentence for the user */
	/* At least every `progress_ns` while recording; NULL when nobody watches. */
	void (*progress)(void *data, const struct record_progress *progress);
	uint64_t progress_ns;
	/* After every wake, with the number of finished epochs that the bundle at options.output holds
	 * by now. Must not block: rings fill meanwhile. NULL: only limits end the recording. */
	void (*stop)(void *data, uint64_t epochs, struct record_stop *stop);
};

struct record_result {
	bool published;     /* there is a bundle at options.output */
	bool target_ended;  /* a launched command ended: */
	int exit_code;      /* of the command; 127 or 126 when it could not be started */
	int signal;         /* that the command died of, 0 none */
	bool ended_by_us;   /* the signal was ours (-d, --max-size, hooks.stop) */
	const char *reason; /* as manifest_end.reason */
	uint64_t samples, lost, epochs, bytes;
	double achieved, budget;
};

/* Records until the target ends, a limit is reached or a signal arrives. STATUS_OK: the bundle is
 * complete. On failure *result says how far it came: not published means that nothing was left behind
 * and an older bundle is untouched; a published one reads up to its last finished epoch. */
MUST_CHECK enum status record_run(const struct record_options *options, const struct sys *sys,
				  const struct record_hooks *hooks, struct record_result *result,
				  struct error *error);

#endif
