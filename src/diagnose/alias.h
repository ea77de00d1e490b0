/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Aliasing: is a fixed sampling clock in step with the program, and does that change the answer?
 *
 *	samples alone	the randomised samples, folded at the period of a conventional clock (virtual
 *			canary): would that clock be in step?
 *	canary		a fixed clock that ran beside the randomised ones, compared with them
 *	flip		does that clock (or a conventional one) put the wrong function first?
 *	marks		phase between the marks of the program's own cycle: is the clock in step with them,
 *			and does which function runs depend on the phase?
 *
 * "Could lock" (alias-possible), "is in step" (alias-locked) and "did change the answer" (alias-flip) are
 * three findings. Where the estimates come from randomised clocks they are right all the same: then such
 * a finding is a warning about other profilers of this program, and touches no row of the report. Where
 * they come from the fixed clock itself it is a bias.
 *
 * Tests and thresholds: docs/estimates.md, section 8. Where several families of tests look at one
 * recording, each P-value is multiplied by their number, so that the recording as a whole raises a false
 * alarm no more often than one of them would.
 */
#ifndef ASSAY_DIAGNOSE_ALIAS_H
#define ASSAY_DIAGNOSE_ALIAS_H

#include "diagnose/finding.h"
#include "diagnose/matrix.h"
#include "diagnose/trace.h"
#include "estimate/lock.h"

/* A lock is possible from this corrected P-value on: section 8 has 0.05, but alarms of both kinds together
 * are to be wrong in at most 3 % of recordings (bench/alias_rates.c). */
#define ALIAS_P_POSSIBLE 0.03

#define ALIAS_PERIODS_MAX    16
#define ALIAS_CANDIDATES_MAX 128
#define ALIAS_THREADS        4 /* threads whose samples are folded on their own */

/* One period that samples were tested against. */
struct alias_candidate {
	char *source;     /* "1000 Hz", "canary at 997 Hz", "sdt_assay:iteration in thread 12" */
	double period_ns; /* of the clock, or the usual time between two marks */
	const char *statistic_name; /* "W", "t", "H" */
	double statistic, p_value;
	double concentration;  /* 0 none .. 1 full lock */
	double share_error_hi; /* how far a share could be off under that clock */
	double missed; /* errors below about this would not have been noticed; NAN: unknown */
	enum estimate_lock_verdict verdict;
	const char *why; /* could not be tested, and why; else NULL */
};

struct alias {
	const struct matrix *matrix;
	const struct trace *trace;
	bool randomised;      /* the estimates come from randomised clocks */
	bool timed;           /* samples have times */
	bool kernel_too;      /* samples in the kernel take part in the tests of phase */
	double design_effect; /* of the randomised samples */
	/* periods of conventional clocks, in ns, the user's own first */
	double periods_ns[ALIAS_PERIODS_MAX];
	size_t n_periods;
	double own_period_ns; /* of the fixed clock that the estimates come from; 0: none */
	double canary_period_ns[MANIFEST_MAX_CLOCKS]; /* by canary, 0: unknown */

	struct alias_candidate *candidates;
	size_t n, capacity;
	size_t n_families; /* of tests that are made of this recording */
};

/* Makes all tests that the recording allows and adds their findings. */
MUST_CHECK enum status alias_examine(struct alias *alias, struct findings *findings,
				     struct error *error);
void alias_release(struct alias *alias);

/* The rates that profilers use by habit (99, 100, 250, 997, 999, 1000, 4000 Hz), with `own_ns` (0: none)
 * before them if it is not among them. Returns how many there are. */
size_t alias_conventional(double *periods_ns, double own_ns);

/* "1000 Hz", "period 2.50 ms" */
const char *alias_rate_name(double period_ns, char *text, size_t size);

/* ---- the parts, each for itself ---- */

/* The verdict of one test among `families`. */
enum estimate_lock_verdict alias_verdict(double p_value, double error_hi, double families);

MUST_CHECK enum status alias_virtual(struct alias *alias, struct findings *findings,
				     struct error *error);
MUST_CHECK enum status alias_canary(struct alias *alias, struct findings *findings,
				    struct error *error);
MUST_CHECK enum status alias_marks(struct alias *alias, struct findings *findings,
				   struct error *error);

/* Adds a candidate; NULL when there are too many or memory is short (then *status). `source` is copied. */
struct alias_candidate *alias_candidate_add(struct alias *alias, const char *source,
					    enum status *status);

#endif
