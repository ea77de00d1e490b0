/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which epoch a sample belongs to.
 *
 * A bundle says its epochs: they are merged in neighbouring pairs until at most EPOCHS_MAX remain, and
 * epochs much shorter than the usual one (recordings begin with short ones) are joined first.
 *
 * A plain perf.data has none, and its length is not known before its last sample. Slices of 2^shift ns
 * are counted from the first sample; whenever the samples span EPOCHS_MAX_SLICES of them, neighbours
 * are folded in pairs (slice >> 1, shift + 1), as often as needed. At the end neighbouring slices are
 * grouped into 20 to 40 epochs of uneven length: equal lengths lock to a workload's cycle just as
 * equal sampling intervals do (docs/estimates.md, section 1). The lengths come from a fixed seed, so
 * that two reports on one file agree.
 */
#ifndef ASSAY_PROFILE_EPOCHS_H
#define ASSAY_PROFILE_EPOCHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "bundle/manifest.h"

#define EPOCHS_MAX        128u
#define EPOCHS_MAX_SLICES 256

struct epochs {
	bool from_manifest;
	/* of a manifest: ascending */
	uint64_t start_ns[EPOCHS_MAX];
	uint32_t n;
	uint32_t newest; /* where the last sample fell: the next one is near */
	/* slices */
	bool any;
	unsigned int shift;
	uint64_t origin_ns;
	int32_t low, high;
	uint32_t epoch_of[EPOCHS_MAX_SLICES]; /* of slice low + i, after epochs_group */
};

void epochs_of_manifest(struct epochs *epochs, const struct manifest *manifest);
void epochs_of_slices(struct epochs *epochs);

/* The number to file a sample under. *fold: how often the numbers given so far must be halved
 * (arithmetic shift right) before this one is stored beside them; 0 with a manifest. */
int32_t epochs_at(struct epochs *epochs, uint64_t time_ns, unsigned int *fold);

/* Slices: makes the epochs for this many samples. A manifest's are what they are. */
void epochs_group(struct epochs *epochs, uint64_t samples);

/* From the number a sample was filed under to its epoch, 0 .. epochs->n - 1. */
uint32_t epochs_index(const struct epochs *epochs, int32_t filed);

#endif
