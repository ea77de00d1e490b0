/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Simulated executions: piecewise-constant timelines "function f runs for d seconds", produced one piece
 * at a time, so that hours cost no memory. The share of every function in one execution is the sum of
 * its pieces; its share in the workload is known in advance.
 */
#ifndef ASSAY_STUDY_EXECUTION_H
#define ASSAY_STUDY_EXECUTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/random.h"

enum behaviour {
	BEHAVIOUR_IID,    /* pieces of equal length, each function drawn anew */
	BEHAVIOUR_CYCLE,  /* an exact cycle: every function once, in a fixed order */
	BEHAVIOUR_WOBBLE, /* the same with a random length of each turn, +-20 % */
	BEHAVIOUR_BURSTS, /* iid, interrupted by heavy-tailed bursts of one function */
	BEHAVIOUR_DRIFT,  /* iid; shares move linearly over the execution */
	BEHAVIOUR_REGIME, /* iid; shares change in the middle */
	BEHAVIOUR_PHASES, /* iid; shares are redrawn after random stretches */
	BEHAVIOUR_PARTLY, /* a cycle for part of the time, iid else, in stretches */
	BEHAVIOUR_TASKS,  /* short tasks are born and die; each runs functions of its own kind */
};

struct workload {
	const char *name;
	enum behaviour behaviour;
	size_t n_functions;
	double *share; /* in the long run */
	double piece;  /* length of a piece, s */
	double cycle; /* CYCLE, WOBBLE, PARTLY: length of a turn, s; TASKS: mean life of a task, s */
	double stretch_min, stretch_max; /* PHASES: how long shares last, s */
	double concentration;            /* PHASES: of the Dirichlet draws */
	double part; /* PARTLY: of the time; TASKS: share of time in short tasks */
	bool steady; /* epochs are alike or independent: there is a share of the workload to find */
};

/* Twenty functions; those with 40, 7, 2.5 and 0.45 % are watched. */
#define STANDARD_FUNCTIONS 20
extern const double standard_shares[STANDARD_FUNCTIONS];
extern const size_t watched_functions[4];

/* `share` is copied and normalised. */
struct workload workload_new(const char *name, enum behaviour behaviour, const double *share,
			     size_t n_functions);
void workload_free(struct workload *workload);

/* The workloads of the tables: iid, per1, per10, per100, bursts, drift, regime, autocor, flat1000,
 * random epochs, and bursts that stop everything else. */
#define WORKLOADS_STANDARD 11
void workloads_standard(struct workload workloads[WORKLOADS_STANDARD]);

struct piece {
	double length;
	uint32_t function, task;
};

struct execution {
	const struct workload *workload;
	struct random random;
	double duration, at;
	double *shares, *sums; /* in force */
	size_t *order;         /* of the cycle */
	size_t in_cycle;
	double turn;  /* length of this turn */
	double until; /* end of the stretch, burst, part in force */
	bool burst, periodic;
	uint32_t task;
	double *tasks_left; /* TASKS: life left of each running one */
};

/* False without memory. `seed` names the execution. */
bool execution_init(struct execution *execution, const struct workload *workload, double duration,
		    uint64_t seed);
void execution_release(struct execution *execution);

/* The next piece; false at the end. Pieces fill the duration exactly. */
bool execution_next(struct execution *execution, struct piece *piece);

#endif
