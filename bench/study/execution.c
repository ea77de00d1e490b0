/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/execution.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "study/draw.h"

#define BURST_FUNCTION 3 /* the 7 % one */
#define BURST_EXPONENT 1.5
#define BURST_MIN      0.025
#define BURST_MAX      1.0
#define BURST_GAP      0.5
#define DRIFT_FUNCTION 0 /* loses or gains half of its share, the second one takes the rest */
#define TASKS_AT_ONCE  4

const double standard_shares[STANDARD_FUNCTIONS] = { .40,   .14,  .09,   .07,  .06,  .05,  .04,
						     .03,   .025, .02,   .017, .014, .011, .009,
						     .0075, .006, .0045, .003, .002, .001 };
const size_t watched_functions[4] = { 0, 3, 8, 16 };

struct workload workload_new(const char *name, enum behaviour behaviour, const double *share,
			     size_t n_functions)
{
	struct workload workload = {
		.name = name,
		.behaviour = behaviour,
		.n_functions = n_functions,
		.piece = 100e-6,
		.steady = true,
	};
	double sum = 0;

	workload.share = calloc(n_functions, sizeof(*workload.share));
	if (!workload.share)
		abort();
	for (size_t s = 0; s < n_functions; s++)
		sum += share[s];
	for (size_t s = 0; s < n_functions; s++)
		workload.share[s] = share[s] / sum;
	return workload;
}

void workload_free(struct workload *workload)
{
	free(workload->share);
	workload->share = NULL;
}

static double burst_fraction(void)
{
	const double mean = pareto_mean(BURST_EXPONENT, BURST_MIN, BURST_MAX);

	return mean / (mean + BURST_GAP);
}

/* Shares within a burst: one function has `part` of the time, the others the rest as usual. */
static double burst_shares(size_t s, double part)
{
	if (s == BURST_FUNCTION)
		return part;
	return standard_shares[s] * (1 - part) / (1 - standard_shares[BURST_FUNCTION]);
}

/* In the long run bursts add to one function and take from all. */
static void bursts_set(struct workload *workload, double part)
{
	workload->part = part;
	for (size_t s = 0; s < STANDARD_FUNCTIONS; s++)
		workload->share[s] = standard_shares[s] * (1 - burst_fraction()) +
				     burst_shares(s, part) * burst_fraction();
}

static struct workload standard(const char *name, enum behaviour behaviour, double cycle)
{
	struct workload workload =
		workload_new(name, behaviour, standard_shares, STANDARD_FUNCTIONS);

	workload.cycle = cycle;
	return workload;
}

void workloads_standard(struct workload workloads[WORKLOADS_STANDARD])
{
	double flat[1000];

	workloads[0] = standard("iid", BEHAVIOUR_IID, 0);
	workloads[1] = standard("per1", BEHAVIOUR_CYCLE, 1e-3);
	workloads[2] = standard("per10", BEHAVIOUR_CYCLE, 10e-3);
	workloads[3] = standard("per100", BEHAVIOUR_CYCLE, 100e-3);
	workloads[4] = standard("bursts", BEHAVIOUR_BURSTS, 0);
	workloads[5] = standard("drift", BEHAVIOUR_DRIFT, 0);
	workloads[6] = standard("regime", BEHAVIOUR_REGIME, 0);
	workloads[7] = standard("autocor", BEHAVIOUR_PHASES, 0);
	workloads[7].stretch_min = 1;
	workloads[7].stretch_max = 2;
	workloads[7].concentration = 14;
	for (size_t s = 0; s < 1000; s++)
		flat[s] = 1;
	workloads[8] = workload_new("flat1000", BEHAVIOUR_IID, flat, 1000);
	workloads[9] = standard("random epochs", BEHAVIOUR_PHASES, 0);
	workloads[9].stretch_min = workloads[9].stretch_max = 0.2;
	workloads[9].concentration = 49;
	workloads[5].steady = workloads[6].steady = false;
	workloads[10] = standard("hard bursts", BEHAVIOUR_BURSTS, 0);
	bursts_set(&workloads[4], 0.3);
	bursts_set(&workloads[10], 1);
}

static void shares_set(struct execution *execution, const double *shares)
{
	const size_t n = execution->workload->n_functions;

	if (shares != execution->shares)
		memcpy(execution->shares, shares, n * sizeof(*shares));
	cumulate(execution->shares, n, execution->sums);
}

/* Moves `fraction` of half of the first function's share to the second. */
static void shares_shift(struct execution *execution, double fraction)
{
	const double moved = execution->workload->share[DRIFT_FUNCTION] / 2 * fraction;

	memcpy(execution->shares, execution->workload->share,
	       execution->workload->n_functions * sizeof(*execution->shares));
	execution->shares[DRIFT_FUNCTION] -= moved;
	execution->shares[DRIFT_FUNCTION + 1] += moved;
	shares_set(execution, execution->shares);
}

static void cycle_start(struct execution *execution)
{
	struct random layout;
	const size_t n = execution->workload->n_functions;

	/* the order within the cycle belongs to the workload, where it starts to the execution */
	random_init(&layout, 7, n, 0, 0);
	for (size_t s = 0; s < n; s++)
		execution->order[s] = s;
	for (size_t s = n; s > 1; s--) {
		const size_t other = random_below(&layout, s), kept = execution->order[s - 1];

		execution->order[s - 1] = execution->order[other];
		execution->order[other] = kept;
	}
	execution->in_cycle = random_below(&execution->random, n);
	execution->turn = execution->workload->cycle;
}

bool execution_init(struct execution *execution, const struct workload *workload, double duration,
		    uint64_t seed)
{
	const size_t n = workload->n_functions;

	*execution = (struct execution){ .workload = workload, .duration = duration };
	random_init(&execution->random, seed, 1, 0, 0);
	execution->shares = calloc(n, sizeof(*execution->shares));
	execution->sums = calloc(n, sizeof(*execution->sums));
	execution->order = calloc(n, sizeof(*execution->order));
	execution->tasks_left = calloc(TASKS_AT_ONCE, sizeof(*execution->tasks_left));
	if (!execution->shares || !execution->sums || !execution->order || !execution->tasks_left) {
		execution_release(execution);
		return false;
	}
	shares_set(execution, workload->share);
	cycle_start(execution);
	if (workload->behaviour == BEHAVIOUR_PHASES) /* the first stretch is met in the middle */
		execution->until = -draw_uniform(&execution->random, 0, workload->stretch_max);
	execution->task = TASKS_AT_ONCE;
	for (size_t t = 0; t < TASKS_AT_ONCE; t++) {
		execution->tasks_left[t] = draw_exponential(&execution->random, workload->cycle);
		if (workload->behaviour == BEHAVIOUR_TASKS)
			execution->order[t] = t + 1;
	}
	return true;
}

void execution_release(struct execution *execution)
{
	free(execution->shares);
	free(execution->sums);
	free(execution->order);
	free(execution->tasks_left);
	*execution = (struct execution){ 0 };
}

static struct piece piece_iid(struct execution *execution)
{
	return (struct piece){
		.length = execution->workload->piece,
		.function = (uint32_t)draw_index(&execution->random, execution->sums,
						 execution->workload->n_functions),
	};
}

static struct piece piece_cycle(struct execution *execution)
{
	const struct workload *workload = execution->workload;
	const size_t function = execution->order[execution->in_cycle];
	const struct piece piece = {
		.length = workload->share[function] * execution->turn,
		.function = (uint32_t)function,
	};

	if (++execution->in_cycle == workload->n_functions) {
		execution->in_cycle = 0;
		if (workload->behaviour == BEHAVIOUR_WOBBLE)
			execution->turn =
				workload->cycle * draw_uniform(&execution->random, 0.8, 1.2);
	}
	return piece;
}

/* Bursts fill a fraction of the time; within them one function has `part` of it. */
static struct piece piece_bursts(struct execution *execution)
{
	if (execution->at >= execution->until) {
		if (execution->until <= 0) /* met at a random moment of the process, nearly */
			execution->burst = random_double(&execution->random) < burst_fraction();
		else
			execution->burst = !execution->burst;
		execution->until =
			execution->at + (execution->burst
						 ? draw_pareto(&execution->random, BURST_EXPONENT,
							       BURST_MIN, BURST_MAX)
						 : draw_exponential(&execution->random, BURST_GAP));
		for (size_t s = 0; s < STANDARD_FUNCTIONS; s++)
			execution->shares[s] = execution->burst
						       ? burst_shares(s, execution->workload->part)
						       : standard_shares[s];
		shares_set(execution, execution->shares);
	}
	return piece_iid(execution);
}

static struct piece piece_phases(struct execution *execution)
{
	const struct workload *workload = execution->workload;

	while (execution->at >= execution->until) {
		execution->until += draw_uniform(&execution->random, workload->stretch_min,
						 workload->stretch_max);
		draw_dirichlet(&execution->random, workload->share, workload->n_functions,
			       workload->concentration, execution->shares);
		shares_set(execution, execution->shares);
	}
	return piece_iid(execution);
}

/* In step with one grid over the whole execution, as a program that a timer drives is. */
static struct piece piece_on_grid(struct execution *execution)
{
	const struct workload *workload = execution->workload;
	double phase = fmod(execution->at / workload->cycle, 1), end = 0;
	size_t i = 0;

	while (i + 1 < workload->n_functions) {
		end += workload->share[execution->order[i]];
		if (phase < end - 1e-9)
			break;
		i++;
	}
	if (i + 1 == workload->n_functions)
		end = 1;
	return (struct piece){ .length = fmax(1e-9, (end - phase) * workload->cycle),
			       .function = (uint32_t)execution->order[i] };
}

static struct piece piece_partly(struct execution *execution)
{
	const double part = execution->workload->part;

	if (execution->at >= execution->until) {
		execution->periodic = !execution->periodic;
		execution->until = execution->at +
				   draw_exponential(&execution->random,
						    0.2 * (execution->periodic ? part : 1 - part));
	}
	return execution->periodic ? piece_on_grid(execution) : piece_iid(execution);
}

/* Four short tasks take turns of `piece` with one that lives on; short ones run the functions with odd
 * numbers, the other one those with even numbers. A dead task's place is taken by a new one. */
static struct piece piece_tasks(struct execution *execution)
{
	const struct workload *workload = execution->workload;
	struct piece piece = { .length = workload->piece };
	size_t function;
	const bool brief = random_double(&execution->random) < workload->part;

	do
		function = draw_index(&execution->random, execution->sums, workload->n_functions);
	while ((function % 2 == 1) != brief);
	piece.function = (uint32_t)function;
	if (brief) {
		const size_t slot = random_below(&execution->random, TASKS_AT_ONCE);

		if (execution->tasks_left[slot] <= 0) {
			execution->tasks_left[slot] =
				draw_exponential(&execution->random, workload->cycle);
			execution->order[slot] = ++execution->task;
		}
		piece.length = fmin(piece.length, execution->tasks_left[slot]);
		execution->tasks_left[slot] -= workload->piece;
		piece.task = (uint32_t)execution->order[slot];
	}
	return piece;
}

static struct piece piece_any(struct execution *execution)
{
	switch (execution->workload->behaviour) {
	case BEHAVIOUR_CYCLE:
	case BEHAVIOUR_WOBBLE: return piece_cycle(execution);
	case BEHAVIOUR_BURSTS: return piece_bursts(execution);
	case BEHAVIOUR_DRIFT:
		if (execution->at >= execution->until) {
			shares_shift(execution, execution->at / execution->duration);
			execution->until += execution->duration / 400;
		}
		return piece_iid(execution);
	case BEHAVIOUR_REGIME:
		if (!execution->burst && execution->at >= execution->duration / 2) {
			execution->burst = true;
			shares_shift(execution, 1);
		}
		return piece_iid(execution);
	case BEHAVIOUR_PHASES: return piece_phases(execution);
	case BEHAVIOUR_PARTLY: return piece_partly(execution);
	case BEHAVIOUR_TASKS: return piece_tasks(execution);
	case BEHAVIOUR_IID:
	default: return piece_iid(execution);
	}
}

bool execution_next(struct execution *execution, struct piece *piece)
{
	if (execution->at >= execution->duration)
		return false;
	*piece = piece_any(execution);
	piece->length = fmin(piece->length, execution->duration - execution->at);
	execution->at += piece->length;
	if (execution->duration - execution->at < 1e-12)
		execution->at = execution->duration;
	return true;
}
