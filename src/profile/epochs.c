/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/epochs.h"

#include <string.h>

#include "base/random.h"

#define FIRST_SHIFT             17 /* slices of 131 us to begin with */
#define SLICE_EPOCHS            40 /* epochs that a long enough file is cut into */
#define SAMPLES_PER_SLICE_EPOCH 20
#define SHORT_EPOCH             0.6 /* of the usual length: the shortest that is drawn on purpose */
#define EPOCHS_WANTED           20  /* joining must not leave fewer where there were more */
#define GROUPING_SEED           0x61737361795f6570u

/* Joins short epochs to their successors. The length aimed at is the nominal one, but never so long
 * that a short recording loses the epochs that its interval needs. */
static size_t epochs_join(const struct manifest *manifest, uint64_t *starts)
{
	const struct manifest_epoch *epochs = manifest->epochs;
	const size_t n = manifest->n_epochs;
	double aim = (double)manifest->epoch_nominal_ns;
	size_t joined = 0;

	if (n && (double)(epochs[n - 1].end_ns - epochs[0].start_ns) / EPOCHS_WANTED < aim)
		aim = (double)(epochs[n - 1].end_ns - epochs[0].start_ns) / EPOCHS_WANTED;
	for (size_t i = 0; i < n;) {
		const uint64_t start = epochs[i].start_ns;

		starts[joined++] = start;
		for (i++; i < n && (double)(epochs[i].start_ns - start) < SHORT_EPOCH * aim; i++)
			;
	}
	return joined;
}

void epochs_of_manifest(struct epochs *epochs, const struct manifest *manifest)
{
	size_t n = 0, stride = 1;

	memset(epochs, 0, sizeof(*epochs));
	epochs->from_manifest = true;
	while ((manifest->n_epochs + stride - 1) / stride > EPOCHS_MAX)
		stride *= 2;
	if (stride == 1) {
		n = epochs_join(manifest, epochs->start_ns);
	} else {
		for (size_t i = 0; i < manifest->n_epochs; i += stride)
			epochs->start_ns[n++] = manifest->epochs[i].start_ns;
	}
	epochs->n = n ? (uint32_t)n : 1;
}

void epochs_of_slices(struct epochs *epochs)
{
	memset(epochs, 0, sizeof(*epochs));
	epochs->shift = FIRST_SHIFT;
}

/* The last epoch that starts at or before `time_ns`; times outside go to the nearest one. */
static int32_t manifest_epoch_at(struct epochs *epochs, uint64_t time_ns)
{
	uint32_t low = 0, high = epochs->n;

	if (epochs->start_ns[epochs->newest] <= time_ns &&
	    (epochs->newest + 1 == epochs->n || time_ns < epochs->start_ns[epochs->newest + 1]))
		return (int32_t)epochs->newest;
	while (high - low > 1) {
		const uint32_t middle = low + (high - low) / 2;

		if (epochs->start_ns[middle] <= time_ns)
			low = middle;
		else
			high = middle;
	}
	epochs->newest = low;
	return (int32_t)low;
}

int32_t epochs_at(struct epochs *epochs, uint64_t time_ns, unsigned int *fold)
{
	int64_t slice, low, high;

	*fold = 0;
	if (epochs->from_manifest)
		return manifest_epoch_at(epochs, time_ns);
	if (!epochs->any) {
		epochs->any = true;
		epochs->origin_ns = time_ns;
	}
	slice = (int64_t)(time_ns - epochs->origin_ns) >> epochs->shift;
	low = slice < epochs->low ? slice : epochs->low;
	high = slice > epochs->high ? slice : epochs->high;
	while (high - low >= EPOCHS_MAX_SLICES) {
		slice >>= 1;
		low >>= 1;
		high >>= 1;
		++*fold;
	}
	epochs->shift += *fold;
	epochs->low = (int32_t)low;
	epochs->high = (int32_t)high;
	return (int32_t)slice;
}

/* Cuts slices into epochs whose lengths are uniform in 0.6-1.4 of the mean, from a fixed seed. */
void epochs_group(struct epochs *epochs, uint64_t samples)
{
	const uint32_t slices = (uint32_t)(epochs->high - epochs->low + 1);
	double lengths[SLICE_EPOCHS], sum = 0, end = 0;
	uint64_t wanted = samples / SAMPLES_PER_SLICE_EPOCH;
	struct random random;
	uint32_t slice = 0;

	if (epochs->from_manifest)
		return;
	if (wanted > SLICE_EPOCHS)
		wanted = SLICE_EPOCHS;
	if (wanted > slices)
		wanted = slices;
	if (!wanted)
		wanted = 1;
	random_init(&random, GROUPING_SEED, 0, 0, 0);
	for (size_t i = 0; i < wanted; i++)
		sum += lengths[i] = 0.6 + 0.8 * random_double(&random);
	for (uint32_t i = 0; i < wanted; i++) {
		end += lengths[i] * slices / sum;
		while (slice < slices && (slice + 0.5 < end || i + 1 == wanted))
			epochs->epoch_of[slice++] = i;
	}
	epochs->n = (uint32_t)wanted;
}

uint32_t epochs_index(const struct epochs *epochs, int32_t filed)
{
	return epochs->from_manifest ? (uint32_t)filed : epochs->epoch_of[filed - epochs->low];
}
