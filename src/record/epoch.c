/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Epochs and redraws: when the collector wakes, and what it does then.
 *
 * An epoch has a random length around its nominal one, 0.6 to 1.4 times: equal lengths lock, too. The
 * nominal length grows with the recording (a tenth of what has passed, between 25 and 200 ms), so
 * that a short recording has enough epochs; it is stretched while the target hardly runs.
 *
 * Within an epoch the collector wakes at random moments, a block of 0.5 to 1.5 times B mean periods
 * apart and never less than five, and redraws the clocks that have sampled since their last draw.
 * Clocks that saw nothing keep their draw, across epochs too: a restart would only cost an interrupt.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "record/recorder.h"
#include "target/process.h"

#define EPOCH_LEAST_NS   25000000u
#define EPOCH_MOST_NS    200000000u
#define EPOCHS_IN_PASSED 10
#define EPOCH_LOW        0.6
#define EPOCH_SPREAD     0.8
#define BLOCK_LOW        0.5
#define BLOCK_LEAST      5
#define STRETCH_MOST     8
#define STRETCH_STEP     1.5
#define STRETCH_BELOW    0.5 /* of the ticks that a block is meant to have */
#define STRETCH_ABOVE    0.9
#define LATE_NS          50000000u /* beyond this lateness is an incident */
#define PROCESSES_ASKED  256       /* CPU clocks read per epoch at most */
#define DRAIN_MOST_NS    250000000u
#define ADAPT_AFTER_NS   300000000u /* of target CPU between two changes of rate, or its budget */
#define ADAPT_LEAST_NS   50000000u
#define RUNAWAY_FACTOR   4 /* samples over plan at which an epoch ends early */
#define RUNAWAY_LEAST    200

/* CPU time of living followed processes and of the children that they have waited for. It never
 * falls: what an ending process takes with it comes back when its parent has waited. */
static uint64_t processes_cpu(struct recorder *recorder)
{
	struct followed *followed = &recorder->followed;
	uint64_t sum = 0;
	uint32_t asked = 0;

	for (size_t i = 0; i < followed->n && asked < PROCESSES_ASKED; i++) {
		const struct followed_task *task = &followed->items[i];

		if (!task->tid || task->ended || task->pid != task->tid)
			continue;
		asked++;
		sum += process_cpu_ns(recorder->sys, task->pid) +
		       process_waited_children_ns(recorder->sys, task->pid);
	}
	return asked < PROCESSES_ASKED ? sum : 0;
}

uint64_t target_cpu_now(struct recorder *recorder)
{
	uint64_t now = 0;

	if (recorder->scope == SCOPE_SYSTEM)
		now = (sys_now_ns(recorder->sys) - recorder->start_ns) * recorder->n_cpus;
	else if (recorder->scope == SCOPE_CGROUP)
		now = cgroup_cpu_ns(&recorder->cgroup, recorder->sys);
	else
		now = processes_cpu(recorder) + recorder->command_cpu_ns;
	return now > recorder->target_cpu_ns ? now : recorder->target_cpu_ns;
}

static const struct clock *first_randomised(const struct plan *plan)
{
	for (uint32_t c = 0; c < plan->n_clocks; c++)
		if (plan->clocks[c].randomised)
			return &plan->clocks[c];
	return NULL;
}

/* The next moment at which clocks are redrawn. */
static void wake_plan(struct recorder *recorder, uint64_t now_ns)
{
	const struct clock *clock = first_randomised(&recorder->plan);
	double periods, period_ns, ns;

	recorder->wake_ns = now_ns + DRAIN_MOST_NS;
	if (!clock || clock->redraw != REDRAW_BLOCK || !(clock->hz > 0))
		return;
	periods = recorder->plan.block *
		  (BLOCK_LOW + schedule_wake(recorder->drawer.epoch_seed, recorder->wakes++));
	if (periods < BLOCK_LEAST)
		periods = BLOCK_LEAST;
	period_ns = 1e9 / clock->hz;
	ns = periods * period_ns * recorder->wake_stretch;
	/* The epoch's end redraws too: no block shorter than the least before it. */
	if ((double)now_ns + ns + BLOCK_LEAST * period_ns > (double)recorder->epoch_end_ns)
		recorder->wake_ns = UINT64_MAX;
	else
		recorder->wake_ns = now_ns + (uint64_t)ns;
}

static uint64_t nominal_length(const struct recorder *recorder, uint64_t now_ns)
{
	uint64_t length = (now_ns - recorder->start_ns) / EPOCHS_IN_PASSED;

	if (recorder->options->epoch_ns)
		return recorder->options->epoch_ns;
	if (length < EPOCH_LEAST_NS)
		length = EPOCH_LEAST_NS;
	if (length > EPOCH_MOST_NS)
		length = EPOCH_MOST_NS;
	return length * recorder->epoch_stretch;
}

void epoch_start(struct recorder *recorder, uint64_t now_ns)
{
	double length;

	drawer_set_epoch(&recorder->drawer, recorder->epoch);
	length = (double)nominal_length(recorder, now_ns) *
		 (EPOCH_LOW + EPOCH_SPREAD * schedule_epoch_length(recorder->drawer.epoch_seed));
	recorder->epoch_start_ns = now_ns;
	recorder->epoch_end_ns = now_ns + (uint64_t)length;
	recorder->wakes = 0;
	recorder->late_ns = 0;
	recorder->samples_at_start = recorder->samples_at_wake = recorder->account.samples;
	wake_plan(recorder, now_ns);
}

static enum status redraw(struct recorder *recorder, bool all, uint64_t *n, struct error *error)
{
	uint64_t redrawn[MANIFEST_MAX_CLOCKS] = { 0 };
	const enum status status =
		counters_redraw_sampled(&recorder->counters, all, redrawn, error);

	*n = 0;
	for (uint32_t c = 0; c < recorder->plan.n_clocks; c++) {
		recorder->account.current[c].redraws += redrawn[c];
		*n += redrawn[c];
	}
	return status;
}

/* A block is meant in periods of CPU time, but the collector sleeps by the wall: where clocks had fewer
 * ticks than a block should have (a target that shares its CPUs, or sleeps), the next one is longer. */
static void stretch_blocks(struct recorder *recorder, uint64_t samples, uint64_t redrawn)
{
	const double meant = (double)redrawn * recorder->plan.block;

	if ((double)samples <= STRETCH_BELOW * meant)
		recorder->wake_stretch *= STRETCH_STEP;
	else if ((double)samples > STRETCH_ABOVE * meant)
		recorder->wake_stretch /= STRETCH_STEP;
	recorder->wake_stretch = fmax(1, fmin(STRETCH_MOST, recorder->wake_stretch));
}

/* Shares of cost, by the calibrated prices: what the samples and redraws took from the target, and
 * all CPU of assay. */
static double epoch_cost(const struct recorder *recorder, const struct manifest_epoch *epoch)
{
	double cost = (double)epoch->collector_cpu_ns;

	for (uint32_t c = 0; c < recorder->plan.n_clocks; c++)
		cost += (double)epoch->clocks[c].samples * recorder->cost.sample +
			(double)epoch->clocks[c].redraws * recorder->cost.redraw_target;
	return cost;
}

/* Hardware events come faster or slower than in the calibration: their pace is learnt. */
static bool paces_learn(struct recorder *recorder, const struct manifest_epoch *epoch)
{
	bool changed = false;

	for (uint32_t c = 0; c < recorder->plan.n_clocks; c++) {
		const struct clock *clock = &recorder->plan.clocks[c];
		struct event_pace *pace = &recorder->paces[clock->event];
		const double expected = clock->hz * (double)epoch->target_cpu_ns / 1e9;
		const double ratio = (double)epoch->clocks[c].samples / expected;

		if (clock->timed || clock->steered || !clock->randomised || expected < 8 ||
		    (ratio > 0.67 && ratio < 1.5))
			continue;
		if (c && clock[-1].event == clock->event)
			continue;
		pace->per_second *= ratio;
		pace->least_period *= ratio;
		changed = true;
	}
	return changed;
}

/* What an epoch's samples of the clocks that follow the budget cost, with their redraws and wake-ups, as
 * planned. The rest of an epoch's cost is there at any rate. */
static double sampling_cost(const struct recorder *recorder, const struct manifest_epoch *epoch)
{
	const struct plan *plan = &recorder->plan;
	uint64_t samples = 0;

	for (uint32_t c = 0; c < plan->n_clocks; c++)
		if (plan_clock_follows(&plan->clocks[c]))
			samples += epoch->clocks[c].samples;
	return (double)samples * rate_sample_cost(&recorder->cost, recorder->options->redraw,
						  plan->block, recorder->options->clocks);
}

/* After so much CPU time, or when as much as that may cost is spent sooner. */
static bool window_is_over(const struct recorder *recorder, double budget)
{
	return recorder->window_cpu_ns >= ADAPT_AFTER_NS ||
	       (recorder->window_cpu_ns >= ADAPT_LEAST_NS &&
		recorder->window_cost_ns >= budget * ADAPT_AFTER_NS);
}

/* The rate for the next window: only what samples cost follows it, so they get what the budget leaves
 * beside the rest. */
static double rate_review(struct recorder *recorder, double budget)
{
	const double total = fmax(0, recorder->cost_ns - (double)recorder->looked_ns) /
			     recorder->accounted_cpu_ns;
	const double cost = recorder->window_cost_ns / recorder->window_cpu_ns;
	const double sampling = recorder->window_sampling_ns / recorder->window_cpu_ns;
	const double allowed = rate_share_left(budget, total, fmax(0, cost - sampling));

	recorder->window_cost_ns = recorder->window_cpu_ns = recorder->window_sampling_ns = 0;
	return rate_adapt(recorder->plan.rate_hz, sampling, allowed);
}

/* Follows the budget and the events' pace. True when periods have changed. */
static bool rate_follow(struct recorder *recorder, const struct manifest_epoch *epoch, double cost)
{
	const double budget = plan_budget(recorder->options);
	double rate = recorder->plan.rate_hz;
	const bool paces_changed =
		!recorder->options->period && epoch->target_cpu_ns && paces_learn(recorder, epoch);

	recorder->window_cost_ns += cost;
	recorder->window_cpu_ns += (double)epoch->target_cpu_ns;
	recorder->window_sampling_ns += sampling_cost(recorder, epoch);
	if (recorder->plan.follows_cost && window_is_over(recorder, budget))
		rate = rate_review(recorder, budget);
	if (rate == recorder->plan.rate_hz && !paces_changed)
		return false;
	plan_set_rate(&recorder->plan, rate, recorder->paces);
	return true;
}

/* A target that hardly runs: the collector's own fixed work would eat the budget. */
static void stretch_follow(struct recorder *recorder, const struct manifest_epoch *epoch,
			   double cost)
{
	const double allowed = recorder->options->budget * (double)epoch->target_cpu_ns;

	if (cost > allowed && (double)epoch->collector_cpu_ns > cost / 2) {
		if (recorder->epoch_stretch < STRETCH_MOST)
			recorder->epoch_stretch *= 2;
	} else if (recorder->epoch_stretch > 1) {
		recorder->epoch_stretch /= 2;
	}
}

static void epoch_fill(struct recorder *recorder, struct manifest_epoch *epoch, uint64_t end_ns)
{
	const uint64_t target_cpu = target_cpu_now(recorder);
	const uint64_t own_cpu = sys_own_cpu_ns(recorder->sys);
	double means[MANIFEST_MAX_CLOCKS];

	for (uint32_t c = 0; c < recorder->plan.n_clocks; c++)
		means[c] = recorder->plan.clocks[c].mean;
	epoch->index = recorder->epoch;
	epoch->seed = recorder->drawer.epoch_seed;
	epoch->start_ns = recorder->epoch_start_ns;
	epoch->end_ns = end_ns;
	epoch->target_cpu_ns = target_cpu - recorder->target_cpu_ns;
	epoch->collector_cpu_ns = own_cpu - recorder->own_cpu_ns;
	epoch->budget = recorder->options->budget;
	epoch->late_ns = recorder->late_ns;
	weather_epoch(&recorder->weather, recorder->sys, epoch);
	account_close(&recorder->account, epoch, means);
	recorder->target_cpu_ns = target_cpu;
	recorder->own_cpu_ns = own_cpu;
}

static void lateness_note(struct recorder *recorder, uint64_t now_ns)
{
	char text[160];

	if (recorder->late_ns < LATE_NS)
		return;
	snprintf(text, sizeof(text),
		 "the collector came up to %.0f ms late: the machine is too busy to let it run",
		 (double)recorder->late_ns / 1e6);
	incidents_note(&recorder->incidents, "starved", recorder->epoch_start_ns, now_ns,
		       (double)recorder->late_ns, "ns", text);
}

enum status epoch_finish(struct recorder *recorder, bool last, struct error *error)
{
	struct manifest_epoch_clock clocks[MANIFEST_MAX_CLOCKS];
	struct manifest_epoch epoch = { .clocks = clocks };
	const uint64_t now = sys_now_ns(recorder->sys);
	enum status status;
	uint64_t redrawn, looked;
	bool changed;
	double cost;

	recorder->account.boundary_ns = now;
	status = drain_all(recorder, error);
	if (status != STATUS_OK)
		return status;
	if (last)
		objects_finish(&recorder->objects);
	epoch_fill(recorder, &epoch, now);
	lateness_note(recorder, now);
	cost = epoch_cost(recorder, &epoch);
	looked = recorder->stop.cpu_ns - recorder->looked_ns;
	recorder->looked_ns = recorder->stop.cpu_ns;
	epoch.achieved = epoch.target_cpu_ns ? cost / (double)epoch.target_cpu_ns : 0;
	recorder->cost_ns += cost;
	recorder->accounted_cpu_ns += (double)epoch.target_cpu_ns;
	status = output_epoch(recorder, &epoch, error);
	recorder->epoch++;
	if (status != STATUS_OK || last)
		return status;
	/* Looks are few and dear: the rate must not jump for each. They keep to a part of their own. */
	changed = rate_follow(recorder, &epoch, fmax(0, cost - (double)looked));
	stretch_follow(recorder, &epoch, cost);
	epoch_start(recorder, now);
	if (recorder->scope == SCOPE_INHERIT)
		return scope_inherit_reopen(recorder, error);
	return redraw(recorder, changed, &redrawn, error);
}

/* Many more samples than planned: the next epoch learns the pace. */
static bool runs_away(const struct recorder *recorder, uint64_t now_ns)
{
	const double passed = (double)(now_ns - recorder->epoch_start_ns) / 1e9;
	const double planned = recorder->plan.rate_hz * passed * (double)recorder->n_cpus;
	const uint64_t seen = recorder->account.samples - recorder->samples_at_start;

	return recorder->plan.rate_hz > 0 && recorder->plan.clocks[0].randomised &&
	       !recorder->plan.clocks[0].timed && !recorder->options->period &&
	       seen > RUNAWAY_LEAST && (double)seen > RUNAWAY_FACTOR * planned;
}

enum status epoch_wake(struct recorder *recorder, uint64_t now_ns, struct error *error)
{
	const bool due = now_ns >= recorder->wake_ns;
	uint64_t redrawn = 0;
	enum status status;

	if (due && now_ns - recorder->wake_ns > recorder->late_ns)
		recorder->late_ns = now_ns - recorder->wake_ns;
	if (now_ns >= recorder->epoch_end_ns) {
		if (now_ns - recorder->epoch_end_ns > recorder->late_ns)
			recorder->late_ns = now_ns - recorder->epoch_end_ns;
		return epoch_finish(recorder, false, error);
	}
	status = drain_all(recorder, error);
	if (status == STATUS_OK && (due || recorder->options->redraw == REDRAW_SAMPLE))
		status = redraw(recorder, false, &redrawn, error);
	if (status != STATUS_OK)
		return status;
	if (due) {
		stretch_blocks(recorder, recorder->account.samples - recorder->samples_at_wake,
			       redrawn);
		recorder->samples_at_wake = recorder->account.samples;
		wake_plan(recorder, now_ns);
	}
	if (runs_away(recorder, now_ns))
		return epoch_finish(recorder, false, error);
	return STATUS_OK;
}
