/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Phase of samples between markers of the program's own cycle (section 8 of docs/estimates.md).
 *
 * phi = (t - previous)/(next - previous) follows a cycle whose length drifts. A fixed clock whose samples
 * cluster in phase is in step with the cycle (H-test: de Jager, Raubenheimer, Swanepoel 1989; de Jager,
 * Busching 2010: made for sparse photon arrival times). That alone is harmless: a lock is reported only
 * when, in the randomised samples, which function runs depends on the phase.
 */
#ifndef ASSAY_ESTIMATE_MARKER_H
#define ASSAY_ESTIMATE_MARKER_H

#include "estimate/estimate.h"
#include "estimate/lock.h"

#define ESTIMATE_PHASE_BINS 10

/* Phases in [0, 1) of `times` between consecutive `markers` (ascending, same unit); -1 for those before
 * the first, after the last, or in a gap longer than `gap_max` (0: none). Returns how many have one. */
size_t estimate_phases(double *phases, const double *times, size_t n_times, const double *markers,
		       size_t n_markers, double gap_max);

struct estimate_h_test {
	size_t n;
	double h;             /* max over m of Z2_m - 4m + 4 */
	unsigned harmonics;   /* m at the maximum; 7 or more: many phases, low harm */
	double p_value;       /* exp(-0.4 H) x candidates, at most 1 */
	double concentration; /* sqrt(Z2_1 / (2N)): 0 none .. 1 one single phase */
};

/* Phases below 0 are left out. `n_candidates`: periods that were tried in all. */
struct estimate_h_test estimate_h_test(const double *phases, size_t n, double n_candidates);

struct estimate_marker {
	const char *why;
	struct estimate_h_test fixed;
	double dependence_p; /* chi-squared of function x phase, randomised samples */
	enum estimate_lock_verdict verdict;
	/* by function (n_functions): how far the fixed clock's share is off, from its phases */
	double *error;
	double error_hi; /* largest of them */
};

/* Phases of the fixed clock's samples, and phases and functions of the randomised ones, these in order of
 * time. */
MUST_CHECK enum status estimate_marker(struct estimate_marker *marker, const double *fixed,
				       size_t n_fixed, const double *randomised,
				       const uint32_t *functions, size_t n_randomised,
				       size_t n_functions, double n_candidates,
				       struct error *error);
void estimate_marker_release(struct estimate_marker *marker);

#endif
