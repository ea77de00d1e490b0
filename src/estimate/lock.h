/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Would a fixed clock be locked to this program? (section 8 of docs/estimates.md)
 *
 * Virtual canary: the randomised samples are folded at the period of a conventional clock. If some
 * function prefers some phase, a fixed clock of that period would see it too often or too rarely. For
 * function s with share p and harmonic h of the period T0,
 *	A = sum_i (1[s_i = s] - p) exp(2 pi i h t_i/T0),   W = |A|^2 / (N p (1 - p)),
 * and exp(-W) is the chance of so much coherence without any (Rayleigh; accurate or conservative to 1e-4
 * from 10 samples on). No extra samples, no fixed clock needed. Times must be in the unit that the clock
 * counts: event counts for task clocks, time for per-CPU clocks.
 *
 * Canary: a fixed clock did run beside the randomised ones; the two are compared epoch by epoch. Makes no
 * assumption on the cycle.
 */
#ifndef ASSAY_ESTIMATE_LOCK_H
#define ASSAY_ESTIMATE_LOCK_H

#include "estimate/estimate.h"

#define ESTIMATE_LOCK_FUNCTIONS        20 /* the largest shares are watched */
#define ESTIMATE_LOCK_FUNCTION_SAMPLES 20 /* ... if they have so many samples */

/* Verdict: locked at a corrected p below 0.01 with an error of 2 points or more, possible below 0.05. */
enum estimate_lock_verdict { ESTIMATE_LOCK_NONE, ESTIMATE_LOCK_POSSIBLE, ESTIMATE_LOCK_LOCKED };

struct estimate_lock_function {
	size_t function;
	double share;      /* by the randomised samples */
	double p_value;    /* corrected for harmonics, functions and periods */
	double w;          /* largest W over harmonics */
	unsigned harmonic; /* where it is largest */
	/* The share that the fixed clock shows can be off by so much; any_value: full lock, whatever. */
	double error_hi;
	bool any_value;
};

struct estimate_lock {
	const char *why; /* could not be tested, and why; else NULL */
	double period;   /* T0 */
	unsigned n_harmonics;
	size_t n_functions;
	struct estimate_lock_function
		functions[ESTIMATE_LOCK_FUNCTIONS]; /* by share, largest first */
	/* All functions together at the harmonic where that is largest: T = sum |A|^2/(N p) over the
	 * watched functions and the rest, which without a lock is half a chi-squared of 2 joint_df degrees
	 * of freedom. Stronger than the largest W where several functions are in the cycle. Its p is
	 * corrected for harmonics and periods; the verdict below does not use it. */
	double joint, joint_df, joint_p_value;
	unsigned joint_harmonic;
	enum estimate_lock_verdict verdict;
	size_t worst;         /* index into functions: largest W */
	double p_value;       /* of the worst */
	double concentration; /* |A|/(N p (1-p)) of the worst: 0 none .. about 1 full */
	double error_hi;      /* of the function that is off most */
	double missed;        /* errors below about this go unnoticed with so few samples */
};

/*
 * One result per period in `periods`, all in the unit of `times`. `unit_ns` is that unit in ns if it is a
 * time (1 for ns), and decides how many harmonics are looked at: down to cycles of 50 us; 0: 64. Cost:
 * samples x harmonics.
 */
MUST_CHECK enum status estimate_virtual_canary(struct estimate_lock *results, const double *times,
					       const uint32_t *functions, size_t n_samples,
					       size_t n_functions, const double *periods,
					       size_t n_periods, double unit_ns,
					       struct error *error);

struct estimate_canary_function {
	size_t function;
	double difference; /* share by the canary minus share by the randomised clocks */
	double t;
	double p_value; /* corrected for the number of functions */
	double error_hi;
};

struct estimate_canary {
	const char *why;
	size_t n_functions; /* tested */
	struct estimate_canary_function worst;
	enum estimate_lock_verdict verdict;
	struct estimate_canary_function *functions; /* tested ones, largest t first */
};

/* Both tables have the same functions and epochs; clocks may differ in number. */
MUST_CHECK enum status estimate_canary(struct estimate_canary *canary,
				       const struct estimate_table *fixed,
				       const struct estimate_table *randomised,
				       struct error *error);
void estimate_canary_release(struct estimate_canary *canary);

/* Whether the order of two shares, off by at most these errors, could be wrong because of bias. */
bool estimate_order_biased(double share_a, double error_a, double share_b, double error_b);

#endif
