/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/epochs.h"

#include <string.h>

#include "base/random.h"

#define SAMPLES_PER_CUT 20  /* cut epochs with fewer on average are put together */
#define SHORT_EPOCH     0.6 /* of the usual length: the shortest that is drawn on purpose */
#define EPOCHS_WANTED   20  /* joining must not leave fewer where there were more */
#define CUT_SEED        0x61737361795f6570u

/* Joins short epochs to their successors. The length aimed at is the nominal one, but never so long
 * that a short recording loses the epochs that its interval needs. */
static uint32_t epochs_join(const struct manifest *manifest, uint64_t *starts)
{
	const struct manifest_epoch *epochs = manifest->epochs;
	const size_t n = manifest->n_epochs;
	double aim = (double)manifest->epoch_nominal_ns;
	uint32_t joined = 0;

	if (n && (double)(epochs[n - 1].end_ns - epochs[0].start_ns) / EPOCHS_WANTED < aim)
		aim = (double)(epochs[n - 1].end_ns - epochs[0].start_ns) / EPOCHS_WANTED;
	for (size_t i = 0; i < n;) {
		const uint64_t start = epochs[i].start_ns;

		starts[joined++] = start;
		do
			i++;
		while (i < n && (double)(epochs[i].start_ns - start) < SHORT_EPOCH * aim);
	}
	return joined;
}

void epochs_of_manifest(struct epochs *epochs, const struct manifest *manifest)
{
	size_t stride = 1;

	memset(epochs, 0, sizeof(*epochs));
	while ((manifest->n_epochs + stride - 1) / stride > EPOCHS_MAX)
		stride *= 2;
	if (stride == 1)
		epochs->n = epochs_join(manifest, epochs->start_ns);
	else
		for (size_t i = 0; i < manifest->n_epochs; i += stride)
			epochs->start_ns[epochs->n++] = manifest->epochs[i].start_ns;
	if (!epochs->n)
		epochs->n = 1;
}

/* Lengths uniform in 0.6-1.4 of the mean. */
void epochs_of_range(struct epochs *epochs, uint64_t first_ns, uint64_t last_ns)
{
	const double length = (double)(last_ns - first_ns);
	double lengths[EPOCHS_CUT], sum = 0, start = 0;
	struct random random;

	memset(epochs, 0, sizeof(*epochs));
	random_init(&random, CUT_SEED, 0, 0, 0);
	for (uint32_t i = 0; i < EPOCHS_CUT; i++)
		sum += lengths[i] = 0.6 + 0.8 * random_double(&random);
	for (uint32_t i = 0; i < EPOCHS_CUT; i++) {
		epochs->start_ns[i] = first_ns + (uint64_t)start;
		start += lengths[i] * length / sum;
	}
	epochs->n = length > 0 ? EPOCHS_CUT : 1;
}

uint32_t epochs_at(struct epochs *epochs, uint64_t time_ns)
{
	uint32_t low = 0, high = epochs->n;

	if (epochs->start_ns[epochs->newest] <= time_ns &&
	    (epochs->newest + 1 == epochs->n || time_ns < epochs->start_ns[epochs->newest + 1]))
		return epochs->newest;
	while (high - low > 1) {
		const uint32_t middle = low + (high - low) / 2;

		if (epochs->start_ns[middle] <= time_ns)
			low = middle;
		else
			high = middle;
	}
	epochs->newest = low;
	return low;
}

uint32_t epochs_kept(uint32_t n, uint64_t samples)
{
	const uint64_t wanted = samples / SAMPLES_PER_CUT;

	return wanted < 1 ? 1 : wanted < n ? (uint32_t)wanted : n;
}
