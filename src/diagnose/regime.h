/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Regimes: stretches of epochs within which shares stay the same, and what changed between them.
 *
 * Binary segmentation (Scott, Knott 1974; Vostrikova 1981). For a split at t the two sides are compared
 * function by function,
 *	z = (p_left - p_right) / sqrt(p (1 - p) (1/n_left + 1/n_right) d),   d the design effect, at least 1,
 * and the largest |z| over functions and splits decides; its P-value is multiplied by both numbers, which
 * is safe. The best split of all segments is made as long as its P-value is below 1 % and some share
 * moves by two points.
 *
 * A change of shares is a change of the workload only where the measurement did not change: epochs with
 * loss or throttling are left out here and compared with the others (regime-measurement). A recording
 * with a fixed clock alone shows the same picture when the clock drifts through a cycle of the program:
 * then nothing is said of the workload.
 */
#ifndef ASSAY_DIAGNOSE_REGIME_H
#define ASSAY_DIAGNOSE_REGIME_H

#include "bundle/manifest.h"
#include "diagnose/finding.h"
#include "diagnose/matrix.h"
#include "profile/epochs.h"

#define REGIMES_MAX      8
#define REGIME_FUNCTIONS 20

/* What is known of one epoch of the profile. */
struct regime_epoch {
	uint64_t start_ns, end_ns;
	uint64_t samples;
	double mean_period; /* of the estimates' clocks; NAN: unknown */
	double missing;     /* fraction lost or throttled */
	uint32_t regime;    /* from 0 */
};

/* How a function's share moves between epochs, beside what sampling alone would do. */
struct regime_function {
	uint32_t function;         /* of the matrix */
	double observed, expected; /* standard deviation of its share over epochs */
	double low, high;          /* smallest and largest share of a regime */
	bool falls;                /* the largest comes before the smallest */
};

struct regimes {
	struct regime_epoch *epochs;
	size_t n_epochs;
	size_t n; /* regimes, at least 1 when there are samples */
	struct regime_function functions[REGIME_FUNCTIONS]; /* largest observed - expected first */
	size_t n_functions;
	double p_value;              /* of the strongest split */
	double largest;              /* largest move of a share between neighbouring regimes */
	size_t missing_epochs;       /* left out for loss or throttling */
	double missing_z, missing_p; /* largest |z| of those against the others; NAN: not tested */
	uint32_t missing_function;
	double missing_shift;
};

/* `manifest` NULL: unknown. `last_ns` ends the last epoch. */
MUST_CHECK enum status regimes_find(struct regimes *regimes, const struct matrix *matrix,
				    const struct epochs *epochs, const struct manifest *manifest,
				    uint64_t last_ns, double design_effect, struct error *error);
void regimes_release(struct regimes *regimes);

/* Their findings: regime, regime-measurement. `randomised`: the estimates come from randomised clocks. */
void regimes_findings(struct findings *findings, const struct regimes *regimes,
		      const struct matrix *matrix, bool randomised);

#endif
