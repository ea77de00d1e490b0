/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The whole diagnosis of one recording: can this measurement be trusted, and why not?
 *
 *	manifest ------> conduct (loss, throttling, fidelity, ...)
 *	counts by cell -> canary, flip, regimes, coverage
 *	one more pass --> intervals, phases, marks, threads, migration
 *	code of the hottest functions -> skid, shadow, short
 *
 * It opens with five answers, each given or saying why not. What it finds goes into the report too; what
 * the file itself and its symbols tell (damage, missing names) is the report's own part.
 */
#ifndef ASSAY_DIAGNOSE_DIAGNOSIS_H
#define ASSAY_DIAGNOSE_DIAGNOSIS_H

#include "diagnose/alias.h"
#include "diagnose/finding.h"
#include "diagnose/intervals.h"
#include "diagnose/matrix.h"
#include "diagnose/regime.h"
#include "diagnose/skid.h"
#include "profile/filter.h"
#include "profile/profile.h"
#include "profile/table.h"

struct diagnosis_clock {
	const char *kind; /* of its schedule; of a plain file "fixed" or "freq" */
	const char *unit; /* of its intervals */
	bool canary;      /* does not enter the estimates */
	struct intervals_summary intended, realised;
	double faithful; /* part of the intervals within 1 % of what was drawn; NAN unknown */
	bool by_time;    /* realised ones are times, for want of counts */
	uint64_t samples, lost, throttled_ns, redrawn, retuned, gaps;
	/* intervals over their mean, bins of INTERVALS_RANGE/INTERVALS_BINS */
	double intended_bins[INTERVALS_BINS], realised_bins[INTERVALS_BINS];
};

/* One clock in one epoch, as the manifest has it; of a plain file as its epochs were cut. */
struct diagnosis_epoch {
	uint64_t start_ns, end_ns;
	uint32_t clock;
	uint64_t seed;
	bool has_seed;
	double budget, mean_period; /* NAN: unknown */
	uint64_t samples, lost, throttled_ns, retuned;
	uint32_t regime;
};

#define DIAGNOSIS_EPOCHS_MAX \
	20000 /* clock by epoch; of a longer recording the first ones are kept */

struct diagnosis_answers {
	char *intervals_drawn, *intervals_realised, *retuned_or_throttled, *phase,
		*independent_schedules;
};

struct diagnosis {
	struct findings findings;
	struct diagnosis_answers answers;
	struct diagnosis_clock *clocks;
	size_t n_clocks;
	struct diagnosis_epoch *epochs;
	size_t n_epochs, epochs_left_out;
	struct alias alias; /* its candidates */
	struct regimes regimes;
	struct skid skid;
	struct matrix matrix;
	double design_effect;
	bool has_read;              /* samples carry the event's count */
	uint64_t migrations, moves; /* samples on another CPU than their thread's one before */
};

struct diagnosis_options {
	const struct filter *filter; /* the one of the profile, NULL: none */
	size_t samples;              /* to be folded at most; 0: 65536 */
	bool answers;                /* the five lines are wanted */
};

/* `table` must tell functions apart and nothing else, and be the last one that was built on the profile.
 * Reads the bundle's reader once more. On failure *diagnosis needs no release. */
MUST_CHECK enum status diagnosis_make(struct diagnosis *diagnosis, struct profile *profile,
				      const struct table *table,
				      const struct diagnosis_options *options, struct error *error);
void diagnosis_release(struct diagnosis *diagnosis);

/* The five lines; part of diagnosis_make. */
MUST_CHECK enum status diagnosis_answer(struct diagnosis *diagnosis, const struct profile *profile,
					struct error *error);

#endif
