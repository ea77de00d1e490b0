/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The plan of a recording: which clocks run, on which event, with which schedule and mean.
 *
 *	timers and counters   K randomised clocks that share the event's rate; a canary takes a quarter
 *	`mixed`               K randomised clocks of alternating kind, and a fixed and a prime canary
 *	occurrences           (page-faults, tracepoints, breakpoints) one clock: every Nth with -c,
 *	                      else kernel-steered like perf, or each one (tracepoints, as perf)
 *	members of a :S group none: they are read with their leader
 *
 * Pure: options, calibrated costs and event rates in, clocks out.
 */
#ifndef ASSAY_RECORD_PLAN_H
#define ASSAY_RECORD_PLAN_H

#include "bundle/manifest.h"
#include "event/event.h"
#include "record/rate.h"
#include "record/record.h"
#include "record/schedule.h"

#define PLAN_CANARY_SHARE 0.25 /* of an event's samples */
/* What is drawn from a timer's mean is planned for a safety bound of 1 ms (a sample of 100 us) where the
 * measured one is lower, so that a seed gives the same draws whatever was measured. */
#define PLAN_LEAST_NS 1000000.0

struct clock {
	uint32_t event;     /* index in the event list */
	uint32_t attribute; /* index in perf.data */
	struct schedule schedule;
	enum redraw_kind redraw;
	bool randomised; /* enters the estimates */
	bool canary;     /* a conventional clock beside randomised ones */
	bool steered;    /* attr.freq: the kernel chooses the period */
	bool timed;      /* its unit is ns */
	bool typed;      /* its event says its own period or rate: the budget does not move it */
	bool skips;      /* a timer with exclusions: ticks can pass without a record */
	double share;    /* of its event's rate */
	double mean;     /* interval now, in the event's unit; frequency clocks: 0 */
	double least;    /* no period below it, in the event's unit */
	double hz;       /* planned samples per second of target CPU; 0 unknown */
};

/* Per event, from calibration: how often it happens per second of CPU (1e9 for timers), and the least
 * period in its unit that the safety bound allows; 0 unknown. */
struct event_pace {
	double per_second;
	double least_period;
};

struct plan {
	struct clock clocks[MANIFEST_MAX_CLOCKS];
	uint32_t n_clocks;
	double rate_hz;    /* of the first event, all its clocks */
	uint32_t block;    /* mean periods between redraws */
	bool follows_cost; /* the rate came from the budget and may be adapted */
	char rate_why[384];
	/* What was changed against the options, "" when nothing. */
	char schedule_notice[256], rate_notice[256];
};

/* Failure: more clocks than a manifest holds. */
MUST_CHECK enum status plan_make(struct plan *plan, const struct record_options *options,
				 const struct cost *cost, const struct event_pace *paces,
				 double fixed_share, struct error *error);

/* Sets the clocks that follow the cost to a new rate (samples per second of target CPU); `per_second`
 * of the events as last seen. */
void plan_set_rate(struct plan *plan, double rate_hz, const struct event_pace *paces);

/* Does the budget set this clock's rate? Not where the event says its own, the kernel steers it, or every
 * occurrence is taken. */
bool plan_clock_follows(const struct clock *clock);

/* The share of the target's CPU time that sampling may take: the budget without what looking needs. */
double plan_budget(const struct record_options *options);

/* The attribute a clock needs to be opened and stored with: everything but the period. */
bool event_is_period_like(const struct event *event);

/* A member of a :S group is read with its leader and does not sample. */
bool event_is_read_only(const struct event_list *events, size_t index);

#endif
