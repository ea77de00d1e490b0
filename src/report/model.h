/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The result of a report: everything that any renderer shows, and nothing that needs computing.
 *
 * profile (counts) + estimate (intervals, ranks) + manifest (contract) + findings  --build-->  report
 * --> text, JSON, ...   Renderers read this and nothing else, so that all of them say the same.
 *
 * Names are raw here: whoever renders escapes. A number that does not exist is NAN, a text NULL; the
 * `why` beside an interval says why its ends are not to be shown.
 */
#ifndef ASSAY_REPORT_MODEL_H
#define ASSAY_REPORT_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strings.h"
#include "bundle/manifest.h"
#include "diagnose/finding.h"
#include "estimate/estimate.h"
#include "estimate/state.h"

struct report_share {
	struct estimate_interval recording, workload;
	double bias_hi; /* by so much may it be wrong for another reason than chance; 0: none known */
	double variance_measurement, variance_workload, variance_workload_hi;
	double effective_samples, effective_samples_workload;
	uint64_t samples;
	bool serial;
	double changes, epochs_needed; /* NAN unless serial */
};

enum report_provenance { REPORT_SAMPLED, REPORT_INSTRUMENTED, REPORT_CORRECTED };

struct report_row {
	const char *name;   /* of the function; NULL when rows are not functions */
	const char *symbol; /* raw name where it differs, else NULL */
	const char *module; /* shown name; NULL when rows are not told apart by it */
	const char *module_path;
	const struct subjects *subjects; /* stacks: what `stack` counts in, innermost first */
	const uint32_t *stack;
	size_t n_stack;
	const char *comm; /* NULL unless told apart; likewise: */
	const char *file;
	uint32_t line;
	uint32_t pid, tid, cpu;
	bool inlined, named;
	struct report_share self, total;
	size_t rank_lo, rank_hi, group; /* group 0: none; ranks 0: not known */
	size_t place;                   /* in the order of ranks, as printed by default */
	bool examined;                  /* its order was tested */
	enum estimate_state state;
	enum report_provenance provenance;
};

/* Which columns tell rows apart: bits. */
#define REPORT_BY_FUNCTION 1u
#define REPORT_BY_MODULE   2u
#define REPORT_BY_LINE     4u
#define REPORT_BY_COMM     8u
#define REPORT_BY_PID      16u
#define REPORT_BY_TID      32u
#define REPORT_BY_CPU      64u
#define REPORT_BY_STACK    128u /* with FUNCTION and MODULE */

/* Clocks of one recording that are alike. */
struct report_clock {
	const char *kind; /* schedule */
	uint32_t n;
	bool canary;
	double mean_period; /* drawn interval, over the whole recording */
	double low, high;   /* drawn intervals relative to their mean; equal: not drawn */
	double hz;          /* samples per second that each takes; 0: unknown */
};

/* What was measured and how, as the header and JSON say it. */
struct report_contract {
	const char *recorder; /* "assay 0.1.0", "perf 6.1" or NULL */
	const char *event, *unit;
	bool from_manifest;
	const char *kind, *redraw; /* names of schedule and redraw */
	struct report_clock
		groups[MANIFEST_MAX_CLOCKS]; /* randomised ones first; none: no manifest */
	uint32_t n_groups;
	uint32_t block;
	uint64_t seed;
	bool has_seed, canary, randomised;
	bool exact; /* every occurrence of the event is a sample: no clock that could be in step */
	double mean_period;                 /* of the first clock, over the recording, in `unit` */
	double rate_hz;                     /* over the recording; NAN: unknown */
	double rate_first_hz, rate_last_hz; /* where it followed the budget; NAN: it did not move */
	bool faster_is_possible; /* at a rate (or budget) that would halve the intervals */
	const char *rate_why;
	double sample_cost_ns;   /* 0: unknown */
	double budget, achieved; /* NAN: none, unknown */
	uint32_t clocks, epochs;
	const char *until;   /* the question that was to end it, NULL: none */
	const char *ended;   /* what did end it, as in the manifest; NULL: unknown */
	const char *settled; /* what was said when the data ended it, NULL: they did not */
	uint64_t looks;      /* how often they were looked at */
	const char *scope, *scope_why;
	const char *stacks; /* how stacks were taken, NULL: not at all */
	bool kernel;        /* kernel code was sampled too */
};

struct report_totals {
	uint64_t samples, canary_samples, lost, filtered;
	double lost_share;
	uint64_t throttled_ns, duration_ns;
	double cpu_ns; /* NAN: unknown */
};

/* Two rows whose order is open, NULL: none. */
struct report_pair {
	const struct report_row *a, *b;
};

struct report_settle {
	double seconds, max_seconds; /* further time at this rate; NAN: unknown, INFINITY: never */
	struct report_pair pair;     /* the comparison that takes longest */
	const char *why;             /* no estimate, and why */
	bool blocked_by_bias;        /* one of the first top_k rows is biased: time does not help */
};

/* The same for the next open question only: the first ranks up to where the first open ones end. */
struct report_next {
	size_t k; /* 0: nothing is open, or it cannot be said */
	double seconds, max_seconds;
	struct report_pair pair;
};

struct report_unseen {
	double share, hi, functions_at_least;
	const char *why; /* not available, and why */
};

#define REPORT_SCHEDULES_MAX 8

/* How often independent parts of the recording agree with the printed order; NAN: not computed. */
struct report_stability {
	size_t k;
	double top1, set, order, expected_set;
	const char *why;
	/* the agreement of sets for each kind of schedule that ran, canaries included */
	struct report_schedule {
		const char *kind;
		double set;
		uint64_t samples;
		bool canary;
	} schedules[REPORT_SCHEDULES_MAX];
	size_t n_schedules;
};

struct report_event {
	const char *name;
	uint64_t samples;
	bool shown;
};

struct report {
	struct strings strings; /* owns the texts that were made for the report */
	const char *bundle;
	const char *const *command; /* NULL-terminated; NULL when unknown */
	size_t n_command;
	struct report_contract contract;
	struct report_totals totals;
	struct report_event *events;
	size_t n_events;
	struct findings findings;
	struct report_row *rows; /* in printed order */
	size_t n_rows;
	unsigned int by; /* REPORT_BY_* */
	bool has_total, ranked_by_total;
	bool filtered;        /* shares are of selected samples only */
	const char *too_few;  /* why there are no intervals at all, NULL when there are */
	const char *assumes;  /* what intervals take for granted beyond chance, NULL: nothing */
	const char *no_ranks; /* why no order could be tested, NULL when it was */
	bool workload_unsupported;
	double design_effect;
	double design_effect_workload, correlation; /* as estimate_shares gives them */
	size_t n_epochs;                            /* of the estimates: merged, with samples */
	bool period_weights;
	size_t top_k;
	bool set_settled, order_settled;
	enum estimate_state state;
	const char *verdict; /* plain English, several sentences, no newline */
	struct report_settle settle;
	struct report_next next;
	struct report_unseen unseen;
	struct report_stability stability;
	uint64_t cut_samples; /* whose stack is cut */
};

void report_init(struct report *report);
void report_release(struct report *report);

/* Words as in JSON. */
const char *report_state_name(enum estimate_state state);
const char *report_provenance_name(enum report_provenance provenance);

/* How many rows, from the first on, have a rank of their own; and how many from `row` on contend for the
 * rank that `row` may have (at least 1). */
size_t report_settled(const struct report *report);
size_t report_contending(const struct report *report, size_t row);

/* Does the finding touch the row (through all functions, or by name)? Then *error_hi is how far the row's
 * share may be off, NAN when that is not known. */
bool report_touches(const struct finding *finding, const struct report_row *row, double *error_hi);

/* The first finding of bias that touches one of the first top_k rows, NULL: none. */
const struct finding *report_bias(const struct report *report);

/* A formatted text owned by the report; "" when memory is short. */
const char *report_text(struct report *report, const char *format, ...) PRINTF_LIKE(2, 3);

#endif
