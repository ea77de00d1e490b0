/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is counted per epoch and clock, while samples are drained.
 *
 * A sample belongs to the epoch in whose span its time lies. At the end of an epoch its boundary is
 * known before the last drain, so that samples beyond it are counted for the next epoch already.
 * Means and deviations by Welford's recurrence (Welford 1962): one pass, no cancellation.
 */
#ifndef ASSAY_RECORD_ACCOUNT_H
#define ASSAY_RECORD_ACCOUNT_H

#include <stdint.h>

#include "bundle/manifest.h"
#include "record/tick.h"

struct moments {
	uint64_t n;
	double mean, m2, min, max;
};

/* Running mean and variance (Welford), so that no values are kept. */
void moments_add(struct moments *moments, double value);
double moments_sd(const struct moments *moments); /* 0 below two values */

struct account_clock {
	uint64_t samples, lost, redraws, throttled, throttled_ns, retuned;
	struct moments realised, intended;
};

struct account {
	struct account_clock current[MANIFEST_MAX_CLOCKS], next[MANIFEST_MAX_CLOCKS];
	uint32_t n_clocks;
	uint64_t boundary_ns;   /* end of the current epoch; UINT64_MAX while it is open */
	uint64_t samples, lost; /* of the whole recording */
	uint64_t first_sample_ns, last_sample_ns;
};

/* All counts zero. */
void account_init(struct account *account, uint32_t n_clocks);

/* The counters of the epoch that `time_ns` lies in. */
struct account_clock *account_at(struct account *account, uint32_t clock, uint64_t time_ns);

void account_sample(struct account *account, uint32_t clock, uint64_t time_ns,
		    const struct tick *tick);
void account_lost(struct account *account, uint32_t clock, uint64_t time_ns, uint64_t lost);

/* Writes the counters of the current epoch into the manifest's form and opens the next. */
void account_close(struct account *account, struct manifest_epoch *epoch,
		   const double *mean_periods);

#endif
