/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/epochs.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "estimate/merge.h"

#define SAMPLES_PER_CUT 20 /* cut epochs with fewer on average are put together */
#define CUT_SEED        0x61737361795f6570u

enum status epochs_of_manifest(struct epochs *epochs, const struct manifest *manifest,
			       struct error *error)
{
	const size_t n = manifest->n_epochs;
	const struct estimate_merge_options options = { .epochs_max = EPOCHS_MAX };
	double *lengths = calloc(n + 1, sizeof(*lengths));
	size_t *place = calloc(n + 1, sizeof(*place));

	memset(epochs, 0, sizeof(*epochs));
	if (!lengths || !place) {
		free(lengths);
		free(place);
		return error_set(error, STATUS_NO_MEMORY, "no memory for the epochs");
	}
	for (size_t i = 0; i < n; i++)
		lengths[i] = (double)(manifest->epochs[i].end_ns - manifest->epochs[i].start_ns);
	epochs->n = n ? (uint32_t)estimate_merge_plan(place, lengths, n, &options) : 1;
	for (size_t i = n; i-- > 0;)
		if (place[i] < EPOCHS_MAX)
			epochs->start_ns[place[i]] = manifest->epochs[i].start_ns;
	epochs->recorded = n ? (uint32_t)n : 1;
	free(lengths);
	free(place);
	return STATUS_OK;
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
	epochs->recorded = epochs->n;
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
