/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which epoch a sample belongs to.
 *
 * A bundle says its epochs; neighbours are merged as estimate/merge.h says, so that at most EPOCHS_MAX
 * of about equal length remain.
 *
 * A plain perf.data has none: the time between its first and last sample is cut into EPOCHS_CUT slices
 * of uneven length. Equal lengths lock to a workload's cycle just as equal sampling intervals do
 * (docs/estimates.md, section 1). The lengths come from a fixed seed, so that two reports on one file
 * agree. When the samples turn out to be few, neighbouring slices are put together.
 */
#ifndef ASSAY_PROFILE_EPOCHS_H
#define ASSAY_PROFILE_EPOCHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "bundle/manifest.h"

#define EPOCHS_MAX 128u
#define EPOCHS_CUT 40u

struct epochs {
	uint64_t start_ns[EPOCHS_MAX]; /* ascending */
	uint32_t n;                    /* at least 1 */
	uint32_t newest;               /* where the last sample fell: the next one is near */
	uint32_t recorded;             /* how many these were before merging */
};

/* The epochs of a bundle, merged. */
MUST_CHECK enum status epochs_of_manifest(struct epochs *epochs, const struct manifest *manifest,
					  struct error *error);
/* Those of a plain perf.data: the time between its first and last sample, cut. */
void epochs_of_range(struct epochs *epochs, uint64_t first_ns, uint64_t last_ns);

/* The epoch of a sample; times outside of all belong to the nearest one. */
uint32_t epochs_at(struct epochs *epochs, uint64_t time_ns);

/* How many epochs cut from a range are worth keeping for this many samples (then sample i of the n
 * goes to i * kept / n). */
uint32_t epochs_kept(uint32_t n, uint64_t samples);

#endif
