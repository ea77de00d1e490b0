/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The probe engine: exact counts, and times, at the boundaries of chosen functions in a running program.
 *
 *	start the guardian ─► (launch, run to the entry) ─► image ─► plans ─► memory in the target ─► trampolines
 *	─► stop, write, let go ─► wait: end of the target, -d, Ctrl-C ─► restore ─► sums
 *
 * What was measured survives the target's death: the buffers are shared memory.
 */
#ifndef ASSAY_PROBE_PROBE_H
#define ASSAY_PROBE_PROBE_H

#include "probe/buffers.h"
#include "probe/install.h"
#include "probe/metric.h"
#include "probe/ownership.h"
#include "probe/passages.h"
#include "target/launch.h"

#define PROBE_MAX_PIDS   64u
#define PROBE_MAX_LISTED 1000u /* followed processes that are told of one by one */

struct probe_options {
	enum probe_mode mode;
	uint64_t every, cap, cap_epoch_ns; /* cap_epoch_ns 0: one epoch, the whole time */
	uint64_t duration_ns;              /* 0: until the target ends or the user interrupts */
	uint64_t buffer_bytes;
	const char *event; /* as metric_choose takes it; NULL: the clock */
	uint64_t look_ns;  /* mode state: mean time from look to look */
	int records_fd;    /* mode trace: where records are stored, -1: nowhere */
	bool barrier;      /* reads wait for earlier instructions */
	struct selection *selection;
	const pid_t *pids; /* n_pids 0: launch argv */
	size_t n_pids;
	char *const *argv;
	const struct launch_state *launch_state;
	int signal_fd; /* SIGINT, SIGTERM ... as a descriptor, -1: none */
	bool dry_run, allow_seccomp;
	bool perf_map; /* names of the probes' code for other profilers (names.h) */
	bool follow;   /* the processes that the targets make are probed, too */
};

struct probe_progress {
	uint64_t elapsed_ns, calls;
	uint32_t probed;
};

struct probe_hooks {
	void *data;
	void (*notice)(void *data, const char *text);
	void (*progress)(void *data, const struct probe_progress *progress);
	uint64_t progress_ns; /* 0: none */
};

/* Where a function is left: the `number` that records of mode trace have, and how far behind its start it stands (in
 * front of it, below 0: a part that was split off). */
struct probe_exit {
	uint32_t number;
	uint8_t kind; /* enum code_site_kind */
	int64_t offset;
};

struct probe_row {
	char *name, *symbol, *module,
		*aliases; /* symbol: NULL when it is the name; aliases: NULL or "a, b" */
	const char *reason, *reason_text; /* of a refusal */
	uint64_t address;                 /* the object's own */
	struct probe_exit *exit_list;     /* of a function, where they are probed; NULL: not told */
	bool region;                      /* of the program, from one place to another */
	bool sled;                        /* its entry is a sled of the compiler's */
	struct passage_sums passages;     /* of a region; sums.calls are those that ended */
	bool refused, capped;
	uint64_t since_ns; /* calls are counted from then on, after the start; 0: from the start */
	uint32_t gaps;     /* times that its library was closed, opened and written again */
	uint32_t exits;    /* ways out of it that are probed; mode count: 0 */
	uint32_t refused_in;       /* how many of several processes */
	struct function_sums sums; /* ticks, of all processes */
	uint64_t seen;             /* mode state: times that a thread was seen in it */
	bool disagrees;            /* mode trace: the records do not give the sums */
	double missing; /* of an event: share of its threads' time that was not counted */
};

/* What one process did in one function; the names are those of the row. */
struct probe_share {
	const char *name, *module;
	uint64_t calls;
	int64_t inclusive, self; /* ticks */
};

enum probe_start { PROBE_ATTACHED, PROBE_LAUNCHED, PROBE_FORKED, PROBE_EXECED };

struct probe_process {
	pid_t pid, parent; /* parent 0: it is a target itself */
	enum probe_start start;
	char comm[16];
	bool ended; /* while it was probed; or, by exec, what it was */
	uint64_t threads, calls;
	struct probe_share *shares; /* functions that it called */
	size_t n, capacity;
	struct guardian_child *children; /* that were there at the end; not probed themselves */
	size_t n_children;
	uint64_t n_more; /* children that the list does not hold */
};

#define PROBE_NO_PARENT UINT32_MAX

/* Mode trace: a function called from a chain of probed callers in one process. Names are those of rows. */
struct probe_node {
	uint32_t parent; /* among the nodes, PROBE_NO_PARENT: no probed caller */
	pid_t pid;
	const char *name, *module;
	uint64_t calls;
	int64_t inclusive, self; /* ticks */
};

struct probe_edge {
	const char *caller, *caller_module; /* NULL: none is probed */
	const char *callee, *callee_module;
	uint64_t calls;
	int64_t inclusive;
};

struct probe_result {
	struct probe_row *rows;
	size_t n_rows, capacity;
	struct probe_process *processes;
	size_t n_processes, processes_capacity;
	uint64_t n_unlisted, unlisted_calls; /* followed processes beyond PROBE_MAX_LISTED */
	uint32_t n_probed, n_refused;
	uint64_t duration_ns;
	double ticks_per_ns, pair_ticks, inner_ticks, passage_pair_ticks;
	struct metric metric;
	struct probe_node *nodes; /* mode trace: parents before children */
	size_t n_nodes, nodes_capacity;
	struct probe_edge *edges;
	size_t n_edges;
	uint64_t nodes_lost;                        /* calls that the tree had no room for */
	int records_errno;                          /* the file of records is not whole */
	uint64_t looks, threads_seen, seen_outside; /* mode state, over all processes */
	struct buffers_sums sums;
	struct guardian_stops attach, detach;
	uint64_t sites, buffer_bytes, code_bytes;
	uint64_t slots, slots_used; /* for functions in the buffers; spare ones are for later */
	uint64_t not_restored; /* writes that were no longer ours when they were to be undone */
	uint32_t n_blocks;
	int exit_code, signal; /* of a launched command */
	bool ended;            /* every target ended while it was probed */
	bool launched;
};

/* Runs the whole. On failure nothing is left in the target but memory that nobody uses; the result holds the
 * exit code of a launched command all the same. Release the result in any case. */
MUST_CHECK enum status probe_run(const struct probe_options *options, const struct sys *sys,
				 const struct probe_hooks *hooks, struct probe_result *result,
				 struct error *error);
void probe_result_release(struct probe_result *result);

#endif
