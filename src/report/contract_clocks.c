/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/contract_clocks.h"

#include <math.h>
#include <string.h>

#include "report/contract.h"

#define CHANGED 0.01 /* means that differ by more are another rate */

static const struct manifest_clock *clock_at(const struct manifest *manifest,
					     const struct clocks *clocks, uint32_t column)
{
	return &manifest->clocks[clocks->clock_of[column]];
}

static double cell_mean(const struct manifest *manifest, size_t epoch, uint32_t clock)
{
	const double mean = manifest->epochs[epoch].clocks[clock].mean_period;

	return mean > 0 ? mean : manifest->clocks[clock].mean_period;
}

/* How long an epoch counts: CPU time of the target, else (it is unknown, or idle CPUs are part of it) time. */
static double epoch_weight(const struct manifest *manifest, size_t epoch, bool by_cpu)
{
	const struct manifest_epoch *e = &manifest->epochs[epoch];

	return by_cpu ? (double)e->target_cpu_ns : (double)(e->end_ns - e->start_ns);
}

static bool cpu_is_known(const struct manifest *manifest)
{
	double sum = 0;

	for (size_t e = 0; e < manifest->n_epochs; e++)
		sum += (double)manifest->epochs[e].target_cpu_ns;
	return manifest->scope != SCOPE_SYSTEM && sum > 0;
}

/* The mean interval of a clock over the recording: time per intervals that fit. */
static double mean_over_epochs(const struct manifest *manifest, uint32_t clock, bool by_cpu)
{
	double time = 0, intervals = 0;

	for (size_t e = 0; e < manifest->n_epochs; e++) {
		const double weight = epoch_weight(manifest, e, by_cpu);
		const double mean = cell_mean(manifest, e, clock);

		if (!(mean > 0))
			continue;
		time += weight;
		intervals += weight / mean;
	}
	return intervals > 0 ? time / intervals : manifest->clocks[clock].mean_period;
}

static void group_add(struct report_contract *contract, const struct manifest *manifest,
		      uint32_t index, bool by_cpu)
{
	const struct manifest_clock *clock = &manifest->clocks[index];
	const double mean = mean_over_epochs(manifest, index, by_cpu);
	struct report_clock group = {
		.kind = schedule_kind_name(clock->kind),
		.n = 1,
		.canary = contract->randomised && !clock->randomised,
		.mean_period = mean,
		.low = clock->low,
		.high = clock->high,
		.hz = clock->target_hz > 0 && mean > 0
			      ? clock->target_hz * clock->mean_period / mean
			      : clock->target_hz,
	};

	for (uint32_t g = 0; g < contract->n_groups; g++) {
		struct report_clock *to = &contract->groups[g];

		if (to->canary == group.canary && !strcmp(to->kind, group.kind) &&
		    fabs(to->mean_period - mean) <= CHANGED * mean &&
		    fabs(to->low - group.low) < CHANGED) {
			to->n++;
			return;
		}
	}
	if (contract->n_groups < MANIFEST_MAX_CLOCKS)
		contract->groups[contract->n_groups++] = group;
}

/* Samples that were taken or lost, per second of the target's CPU time. */
static double rate_realised(const struct manifest *manifest, const struct clocks *clocks)
{
	double samples = 0, cpu_ns = 0;

	for (size_t e = 0; e < manifest->n_epochs; e++) {
		cpu_ns += (double)manifest->epochs[e].target_cpu_ns;
		for (uint32_t c = 0; c < clocks->n_clocks; c++) {
			const struct manifest_epoch_clock *cell =
				&manifest->epochs[e].clocks[clocks->clock_of[c]];

			samples += (double)cell->samples + (double)cell->lost;
		}
	}
	return samples > 0 && cpu_ns > 0 ? samples * 1e9 / cpu_ns : NAN;
}

/* The planned rate of an epoch. That of a timer follows from its mean; the mean of a counter also follows
 * its pace. */
static double rate_in_epoch(const struct manifest *manifest, const struct clocks *clocks,
			    size_t epoch)
{
	double rate = 0;

	for (uint32_t c = 0; c < clocks->n_clocks; c++) {
		const struct manifest_clock *clock = clock_at(manifest, clocks, c);
		const double mean = cell_mean(manifest, epoch, clocks->clock_of[c]);

		rate += mean > 0 ? clock->target_hz * clock->mean_period / mean : clock->target_hz;
	}
	return rate;
}

static void rates_fill(struct report_contract *contract, const struct manifest *manifest,
		       const struct clocks *clocks, bool by_cpu)
{
	const bool follows = manifest->budget > 0 && clocks->by_id && manifest->n_epochs;
	double planned = 0, first, last;

	for (uint32_t c = 0; c < clocks->n_clocks && clocks->by_id; c++)
		planned += clock_at(manifest, clocks, c)->target_hz;
	if (planned > 0)
		contract->rate_hz = planned;
	else if (manifest->rate_hz > 0)
		contract->rate_hz = manifest->rate_hz;
	if (!follows || !(planned > 0))
		return;
	if (by_cpu && isfinite(rate_realised(manifest, clocks)))
		contract->rate_hz = rate_realised(manifest, clocks);
	if (strcmp(contract->unit, "ns") != 0)
		return;
	first = rate_in_epoch(manifest, clocks, 0);
	last = rate_in_epoch(manifest, clocks, manifest->n_epochs - 1);
	if (fabs(first - last) > CHANGED * first) {
		contract->rate_first_hz = first;
		contract->rate_last_hz = last;
	}
}

/* Could a rate that is `CONTRACT_HALVING` times as high be had? Random clocks keep half their mean above
 * the safety bound. */
static bool faster_is_possible(const struct report_contract *contract,
			       const struct manifest *manifest, double factor)
{
	const double least = (double)manifest->min_period_ns * (contract->randomised ? 2 : 1);

	if (manifest->budget * factor >= 1)
		return false;
	return strcmp(contract->unit, "ns") != 0 || !(least > 0) ||
	       !(contract->mean_period < factor * least);
}

void contract_clocks(struct report_contract *contract, const struct manifest *manifest,
		     const struct clocks *clocks)
{
	const bool by_cpu = cpu_is_known(manifest);
	const uint32_t n = clocks->n_clocks + clocks->n_canaries;

	for (uint32_t i = 0; i < n && clocks->by_id; i++) {
		const struct manifest_clock *clock = clock_at(manifest, clocks, i);

		group_add(contract, manifest, clocks->clock_of[i], by_cpu);
		if (!i) {
			contract->block = clock->block;
			contract->kind = schedule_kind_name(clock->kind);
			contract->mean_period = contract->groups[0].mean_period;
		} else if (i < clocks->n_clocks &&
			   strcmp(contract->kind, schedule_kind_name(clock->kind)) != 0) {
			contract->kind = schedule_kind_name(SCHEDULE_MIXED);
		}
	}
	rates_fill(contract, manifest, clocks, by_cpu);
	contract->faster_is_possible = faster_is_possible(contract, manifest, CONTRACT_HALVING);
}
