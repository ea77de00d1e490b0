/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "record/plan.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool event_is_period_like(const struct event *event)
{
	return event->kind == EVENT_CLOCK || event->kind == EVENT_HARDWARE;
}

static bool is_leader(const struct event_list *events, size_t index)
{
	return events->events[index].group < 0 || index == 0 ||
	       events->events[index - 1].group != events->events[index].group;
}

bool event_is_read_only(const struct event_list *events, size_t index)
{
	return events->events[index].group_read && !is_leader(events, index);
}

/* Which ticks of a timer leave no record: those in an excluded mode, and idle ones. */
static bool ticks_skip(const struct event *event, const struct record_options *options)
{
	const struct perf_event_attr *attr = &event->attr;

	return event->kind == EVENT_CLOCK &&
	       (attr->exclude_user || attr->exclude_kernel || attr->exclude_idle ||
		options->target == RECORD_CPUS || options->target == RECORD_PROCESSES ||
		options->target == RECORD_THREADS);
}

static enum status clock_add(struct plan *plan, const struct record_options *options, size_t event,
			     enum schedule_kind kind, bool randomised, double share,
			     const struct event_pace *pace, struct error *error)
{
	const struct event *e = &options->events->events[event];
	struct clock *clock = &plan->clocks[plan->n_clocks];

	if (plan->n_clocks == MANIFEST_MAX_CLOCKS)
		return error_set(error, STATUS_LIMIT,
				 "%zu events need more clocks than a recording can have (%d, and "
				 "each event takes one at least): name fewer events%s",
				 options->events->n, MANIFEST_MAX_CLOCKS,
				 options->clocks > 1 && options->events->n <= MANIFEST_MAX_CLOCKS
					 ? ", or use --clocks 1"
					 : "");
	*clock = (struct clock){
		.event = (uint32_t)event,
		.schedule = { kind, 1, 1, 0 },
		.redraw = randomised ? options->redraw : REDRAW_NONE,
		.randomised = randomised,
		.timed = e->kind == EVENT_CLOCK,
		.skips = ticks_skip(e, options),
		.share = share,
		.least = pace->least_period > 1 ? pace->least_period : 1,
	};
	plan->n_clocks++;
	return STATUS_OK;
}

static enum status canary_add(struct plan *plan, const struct record_options *options, size_t event,
			      enum schedule_kind kind, double share, const struct event_pace *pace,
			      struct error *error)
{
	enum status status = clock_add(plan, options, event, kind, false, share, pace, error);

	if (status == STATUS_OK)
		plan->clocks[plan->n_clocks - 1].canary = true;
	return status;
}

/* The kind of randomised clock number `k` of an event. */
static enum schedule_kind randomised_kind(const struct record_options *options, uint32_t k)
{
	if (options->schedule == SCHEDULE_MIXED)
		return k % 2 ? SCHEDULE_EXP : SCHEDULE_JITTER;
	return options->schedule;
}

static enum status period_clocks_add(struct plan *plan, const struct record_options *options,
				     size_t event, const struct event_pace *pace,
				     struct error *error)
{
	const bool mixed = options->schedule == SCHEDULE_MIXED;
	const bool random =
		mixed || options->schedule == SCHEDULE_JITTER || options->schedule == SCHEDULE_EXP;
	const bool canary = event == 0 && (mixed || (options->canary && random));
	const double rest = canary ? 1 - PLAN_CANARY_SHARE : 1;
	enum status status = STATUS_OK;

	/* A schedule without chance has one clock: a second would tick at the same moments. */
	const uint32_t n = !random ? 1 : mixed && options->clocks < 2 ? 2 : options->clocks;

	for (uint32_t k = 0; status == STATUS_OK && k < n; k++)
		status = clock_add(plan, options, event, randomised_kind(options, k), random,
				   rest / n, pace, error);
	if (status == STATUS_OK && canary)
		status = canary_add(plan, options, event, SCHEDULE_FIXED,
				    PLAN_CANARY_SHARE / (mixed ? 2 : 1), pace, error);
	if (status == STATUS_OK && canary && mixed)
		status = canary_add(plan, options, event, SCHEDULE_PRIME, PLAN_CANARY_SHARE / 2,
				    pace, error);
	return status;
}

/* Tracepoints and the like are taken each, at no rate. */
static bool event_has_rate(const struct event *event)
{
	return event->kind != EVENT_TRACEPOINT && event->kind != EVENT_BREAKPOINT &&
	       event->kind != EVENT_DUMMY;
}

/* perf samples each tracepoint and breakpoint, and steers other software events to its rate. */
static enum status occurrence_clock_add(struct plan *plan, const struct record_options *options,
					size_t event, const struct event_pace *pace,
					struct error *error)
{
	const struct event *e = &options->events->events[event];
	const bool each = !event_has_rate(e);
	const bool chosen = options->period > 1 && (options->schedule == SCHEDULE_JITTER ||
						    options->schedule == SCHEDULE_EXP);
	enum status status;

	if (options->period > 1 && chosen)
		return period_clocks_add(plan, options, event, pace, error);
	status = clock_add(plan, options, event, SCHEDULE_FIXED, false, 1, pace, error);
	if (status == STATUS_OK && !options->period && !each)
		plan->clocks[plan->n_clocks - 1].steered = true;
	if (status == STATUS_OK && !options->period && each)
		plan->clocks[plan->n_clocks - 1].mean = 1;
	return status;
}

/* cpu-clock turns a frequency into a fixed period inside the kernel: it is planned, and reported, as
 * what it is. */
static void steering_settle(struct plan *plan, const struct record_options *options)
{
	for (uint32_t i = 0; i < plan->n_clocks; i++) {
		struct clock *clock = &plan->clocks[i];

		if (clock->schedule.kind == SCHEDULE_FREQ && clock->timed)
			clock->schedule.kind = SCHEDULE_FIXED;
		else if (clock->schedule.kind == SCHEDULE_FREQ)
			clock->steered = true;
		if (clock->steered)
			clock->schedule.kind = SCHEDULE_FREQ;
	}
	if (options->schedule == SCHEDULE_FREQ && plan->clocks[0].timed)
		snprintf(plan->schedule_notice, sizeof(plan->schedule_notice),
			 "the kernel turns a frequency of %s into a fixed period: recorded as "
			 "schedule fixed",
			 options->events->events[0].granted);
}

/* The lowest factor that a clock of this mean may draw. Jitter has its room down to 0.5, which the mean
 * leaves it; an exponential goes lower as far as the bound that was planned for allows. */
static double least_factor(const struct clock *clock, double mean)
{
	const double planned = clock->timed ? fmax(clock->least, PLAN_LEAST_NS) : clock->least;

	if (clock->schedule.kind != SCHEDULE_EXP)
		return clock->least / mean;
	return fmax(clock->least, fmin(planned, mean / 2)) / mean;
}

/* Keeps what a clock draws above its safety bound, and moves a prime clock to a prime. A random clock
 * at the bound keeps room below its mean: without it, it would be a fixed one. */
static void clock_settle(struct clock *clock, bool *clamped)
{
	const double lowest =
		clock->randomised && clock->least > 1 ? 2 * clock->least : clock->least;

	if (clock->steered)
		return;
	if (clock->mean < lowest) {
		clock->mean = lowest;
		*clamped = true;
	}
	if (clock->schedule.kind == SCHEDULE_PRIME && clock->mean < 0x1p40)
		clock->mean = (double)schedule_prime((uint64_t)clock->mean);
	clock->schedule = schedule_make(clock->schedule.kind, least_factor(clock, clock->mean));
	clock->randomised =
		schedule_is_random(&clock->schedule) && clock->schedule.high > clock->schedule.low;
}

/* Ticks per mean period, with the schedule as it is now. */
static double ticks_of(const struct plan *plan, const struct clock *clock)
{
	return rate_ticks(clock->redraw, plan->block, schedule_inverse_mean(&clock->schedule));
}

/* The mean period at which a clock takes its `hz` samples a second, and the rate that it takes at its
 * mean period. */
static double mean_for(const struct plan *plan, const struct clock *clock,
		       const struct event_pace *pace)
{
	struct clock trial = *clock;
	double mean = 0;

	trial.schedule = schedule_make(clock->schedule.kind, 0);
	for (int step = 0; clock->hz > 0 && step < SCHEDULE_STEPS; step++) {
		mean = pace->per_second / clock->hz * ticks_of(plan, &trial);
		if (trial.schedule.low >= least_factor(clock, mean) || trial.schedule.low >= 0.5)
			break;
		/* It will be drawn from higher up, which fits fewer ticks into a mean. */
		trial.schedule = schedule_make(clock->schedule.kind, trial.schedule.low + 1e-9);
	}
	return mean;
}

static double rate_at_mean(const struct plan *plan, const struct clock *clock,
			   const struct event_pace *pace)
{
	return pace->per_second / clock->mean * ticks_of(plan, clock);
}

static void rates_apply(struct plan *plan, double rate_hz, const struct event_pace *paces,
			bool *clamped)
{
	double wanted;

	plan->rate_hz = rate_hz;
	for (uint32_t i = 0; i < plan->n_clocks; i++) {
		struct clock *clock = &plan->clocks[i];

		if (clock->typed || (clock->mean == 1 && !clock->timed))
			continue; /* each occurrence */
		clock->hz = rate_hz * clock->share;
		if (!clock->steered)
			clock->mean = mean_for(plan, clock, &paces[clock->event]);
		wanted = clock->mean;
		clock_settle(clock, clamped);
		if (!clock->steered && clock->mean > wanted)
			clock->hz = rate_at_mean(plan, clock, &paces[clock->event]);
	}
}

void plan_set_rate(struct plan *plan, double rate_hz, const struct event_pace *paces)
{
	bool clamped = false;

	rates_apply(plan, rate_hz, paces, &clamped);
}

/* -c: the mean of all clocks of an event together is the period asked for. */
static void periods_apply(struct plan *plan, uint64_t period, const struct event_pace *paces,
			  bool *clamped)
{
	for (uint32_t i = 0; i < plan->n_clocks; i++) {
		struct clock *clock = &plan->clocks[i];

		clock->mean = (double)period / clock->share;
		clock_settle(clock, clamped);
		clock->hz = rate_at_mean(plan, clock, &paces[clock->event]);
		if (clock->event == 0)
			plan->rate_hz += clock->hz;
	}
}

/* What pmu/period=N/ and pmu/freq=N/ say about their own event. */
static void typed_apply(struct plan *plan, const struct event_list *events,
			const struct event_pace *paces, bool *clamped)
{
	for (uint32_t i = 0; i < plan->n_clocks; i++) {
		struct clock *clock = &plan->clocks[i];
		const struct event *event = &events->events[clock->event];
		const double per_second = paces[clock->event].per_second;

		if (event->period_typed) {
			clock->steered = false;
			clock->mean = (double)event->attr.sample_period / clock->share;
		} else if (event->freq_typed) {
			clock->hz = (double)event->attr.sample_freq * clock->share;
			clock->mean =
				clock->steered ? 0 : mean_for(plan, clock, &paces[clock->event]);
		} else {
			continue;
		}
		clock->typed = true;
		clock_settle(clock, clamped);
		if (!clock->steered && per_second > 0)
			clock->hz = rate_at_mean(plan, clock, &paces[clock->event]);
	}
}

static uint32_t events_that_sample(const struct event_list *events)
{
	uint32_t n = 0;

	for (size_t i = 0; i < events->n; i++)
		n += !event_is_read_only(events, i) && event_has_rate(&events->events[i]);
	return n ? n : 1;
}

static enum status clocks_add(struct plan *plan, const struct record_options *options,
			      const struct event_pace *paces, struct error *error)
{
	const struct event_list *events = options->events;
	enum status status = STATUS_OK;

	for (size_t i = 0; status == STATUS_OK && i < events->n; i++) {
		if (event_is_read_only(events, i))
			continue;
		status = event_is_period_like(&events->events[i])
				 ? period_clocks_add(plan, options, i, &paces[i], error)
				 : occurrence_clock_add(plan, options, i, &paces[i], error);
	}
	return status;
}

bool plan_clock_follows(const struct clock *clock)
{
	return !clock->typed && !clock->steered && (clock->timed || clock->mean != 1);
}

double plan_budget(const struct record_options *options)
{
	return options->until ? options->budget * (1 - RECORD_LOOKING_SHARE) : options->budget;
}

/* Where the user chose the rate, nothing that was measured may change a draw: --seed repeats them. */
static uint32_t block_choose(const struct record_options *options, const struct cost *cost)
{
	if (options->block)
		return options->block;
	return options->period || options->rate_hz > 0 ? RATE_BLOCK_ASKED
						       : rate_block(cost, options->clocks);
}

static void why_add(struct plan *plan, const char *format, ...) PRINTF_LIKE(2, 3);
static void why_add(struct plan *plan, const char *format, ...)
{
	const size_t used = strlen(plan->rate_why);
	va_list args;

	va_start(args, format);
	vsnprintf(plan->rate_why + used, sizeof(plan->rate_why) - used, format, args);
	va_end(args);
}

/* The rate of the first event's clocks that enter the estimates, as it is in the manifest. */
static double randomised_rate(const struct plan *plan)
{
	double rate = 0;

	for (uint32_t i = 0; i < plan->n_clocks; i++)
		if (plan->clocks[i].randomised && !plan->clocks[i].event)
			rate += plan->clocks[i].hz;
	return rate;
}

/* Why the rate that the manifest states is what it is: `asked`, and what came of that. */
static void why_finish(struct plan *plan, const struct record_options *options, bool clamped)
{
	const struct clock *clock = &plan->clocks[0];
	const char *unit = options->events->events[0].unit;
	uint32_t canaries = 0;

	for (uint32_t i = 0; i < plan->n_clocks; i++)
		canaries += plan->clocks[i].canary;
	if (clamped) {
		snprintf(plan->rate_notice, sizeof(plan->rate_notice),
			 "the period asked for is below the safety bound (%.0f %s, %d times the "
			 "cost of a sample): sampling at the bound instead",
			 clock->least, unit, RATE_COST_MULTIPLE);
		why_add(plan,
			" more than the safety bound allows: no period below %.0f %s, %d times the "
			"cost of a sample%s",
			clock->least, unit, RATE_COST_MULTIPLE,
			clock->randomised ? ", and so no mean below twice that" : "");
	} else if (options->period || options->rate_hz > 0 || clock->typed) {
		why_add(plan, " it");
	}
	if (canaries && randomised_rate(plan) > 0)
		why_add(plan, "; a quarter of the samples is %s",
			canaries > 1 ? "the fixed and the prime clock's" : "the canary's");
}

static void why_start(struct plan *plan, const struct record_options *options, double per_sample)
{
	const struct event *first = &options->events->events[0];

	if (plan->clocks[0].typed && first->period_typed)
		why_add(plan, "period=%llu in the event asked for",
			(unsigned long long)first->attr.sample_period);
	else if (plan->clocks[0].typed)
		why_add(plan, "freq=%llu in the event asked for",
			(unsigned long long)first->attr.sample_freq);
	else if (options->period)
		why_add(plan, "-c %llu asked for", (unsigned long long)options->period);
	else if (options->rate_hz > 0)
		why_add(plan, "-F %g asked for", options->rate_hz);
	else
		why_add(plan,
			"a sample costs about %.1f us here, so that %.4g a second take %.2g %% of "
			"the target's CPU time",
			per_sample / 1e3, plan->rate_hz, plan_budget(options) * 100);
}

static bool all_typed(const struct plan *plan)
{
	for (uint32_t i = 0; i < plan->n_clocks; i++)
		if (!plan->clocks[i].typed)
			return false;
	return true;
}

enum status plan_make(struct plan *plan, const struct record_options *options,
		      const struct cost *cost, const struct event_pace *paces, double fixed_share,
		      struct error *error)
{
	const uint32_t block = block_choose(options, cost);
	const double per_sample = rate_sample_cost(cost, options->redraw, block, options->clocks);
	bool clamped = false;
	enum status status;
	double rate;

	*plan = (struct plan){ .block = block };
	status = clocks_add(plan, options, paces, error);
	if (status != STATUS_OK)
		return status;
	steering_settle(plan, options);
	if (options->period) {
		periods_apply(plan, options->period, paces, &clamped);
	} else if (options->rate_hz > 0) {
		rates_apply(plan, options->rate_hz, paces, &clamped);
	} else {
		rate = rate_for_budget(plan_budget(options), per_sample, fixed_share) /
		       events_that_sample(options->events);
		rates_apply(plan, rate, paces, &clamped);
	}
	typed_apply(plan, options->events, paces, &clamped);
	plan->follows_cost = !options->period && !(options->rate_hz > 0) && !all_typed(plan);
	why_start(plan, options, per_sample);
	why_finish(plan, options, clamped);
	return STATUS_OK;
}
