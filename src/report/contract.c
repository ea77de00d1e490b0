/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/contract.h"

#include <math.h>
#include <string.h>

#include "report/contract_clocks.h"

static bool is_chain_event(const struct perf_event_attr *attr)
{
	return attr->sample_type & PERF_SAMPLE_CALLCHAIN;
}

static const char *stacks_of_attr(const struct perf_event_attr *attr)
{
	if (attr->sample_type & PERF_SAMPLE_STACK_USER)
		return "unwound from copies of the stack (dwarf)";
	return is_chain_event(attr) ? "by frame pointers" : NULL;
}

static const char *scope_words(enum clock_scope scope)
{
	switch (scope) {
	case SCOPE_SYSTEM: return "every CPU, everything that ran there";
	case SCOPE_CGROUP: return "per CPU, within the cgroup of the command";
	case SCOPE_CPU: return "per CPU, samples of other threads left out";
	case SCOPE_THREAD: return "per thread";
	case SCOPE_INHERIT: return "per thread, inherited by children";
	}
	return NULL;
}

static void contract_of_manifest(struct report *report, const struct profile *profile)
{
	struct report_contract *contract = &report->contract;
	const struct manifest *manifest = &profile->bundle->manifest;

	contract->from_manifest = true;
	contract->recorder = report_text(report, "assay %s",
					 manifest->assay_version ? manifest->assay_version : "");
	contract->kind = schedule_kind_name(manifest->schedule);
	contract->redraw = redraw_kind_name(manifest->redraw);
	contract->seed = manifest->seed;
	contract->has_seed = true;
	contract->canary = profile->clocks.n_canaries > 0;
	contract->rate_why = manifest->rate_why;
	contract->sample_cost_ns = manifest->sample_cost_ns;
	contract->budget = manifest->budget > 0 ? manifest->budget : NAN;
	contract->achieved = manifest->end.present ? manifest->end.achieved : NAN;
	contract->scope = scope_words(manifest->scope);
	contract->scope_why = manifest->scope_why;
	contract->kernel = manifest->kernel;
	contract->until = manifest->until;
	contract->ended = manifest->end.present ? manifest->end.reason : NULL;
	contract->settled = manifest->end.settled;
	contract->looks = manifest->end.looks;
	if (manifest->callchains)
		contract->stacks = manifest->call_graph && !strcmp(manifest->call_graph, "dwarf")
					   ? "unwound from copies of the stack (dwarf)"
					   : "by frame pointers";
	for (size_t i = 0; i < manifest->n_events; i++)
		if (i == profile->event)
			contract->unit = manifest->events[i].unit;
	if (!contract->unit)
		contract->unit = contract->event;
	contract_clocks(contract, manifest, &profile->clocks);
}

static void contract_of_file(struct report *report, const struct profile *profile)
{
	struct report_contract *contract = &report->contract;
	const struct perfdata_header *header = perfdata_reader_header(profile->bundle->reader);
	size_t n;
	const struct perfdata_event *events = perfdata_reader_events(profile->bundle->reader, &n);
	const struct perf_event_attr *attr = &events[profile->event].attr;

	if (header->version)
		contract->recorder = report_text(report, "perf %s", header->version);
	contract->kind = attr->freq ? "freq" : "fixed";
	contract->redraw = redraw_kind_name(REDRAW_NONE);
	if (attr->freq)
		contract->rate_hz = (double)attr->sample_freq;
	if (!attr->freq && attr->sample_period)
		contract->mean_period = (double)attr->sample_period;
	else if (profile->samples)
		contract->mean_period = profile->weight / (double)profile->samples;
	contract->stacks = stacks_of_attr(attr);
	contract->kernel = !attr->exclude_kernel;
	contract->scope = NULL;
}

static void totals_fill(struct report *report, const struct profile *profile)
{
	struct report_totals *totals = &report->totals;
	const struct bundle *bundle = profile->bundle;
	const struct manifest *manifest = &bundle->manifest;
	uint64_t epoch_lost = 0, seen = 0, cpu_ns = 0;

	totals->samples = profile->samples;
	totals->canary_samples = profile->canary_samples;
	totals->filtered = profile->filtered;
	totals->lost = losses_total(&profile->losses);
	totals->throttled_ns = profile->losses.throttled_ns;
	totals->duration_ns = profile->last_ns - profile->first_ns;
	/* Each clock's periods add up to the whole CPU time. */
	totals->cpu_ns = profile->unit_is_ns && !report->filtered
				 ? profile->weight / profile->clocks.n_clocks
				 : NAN;
	for (size_t i = 0; i < profile->n_events; i++)
		seen += profile->events[i].samples;
	if (bundle->has_manifest) {
		uint64_t throttled = 0;

		for (size_t e = 0; e < manifest->n_epochs; e++) {
			cpu_ns += manifest->epochs[e].target_cpu_ns;
			for (size_t k = 0; k < manifest->n_clocks; k++) {
				epoch_lost += manifest->epochs[e].clocks[k].lost;
				throttled += manifest->epochs[e].clocks[k].throttled_ns;
			}
		}
		if (manifest->end.present && manifest->end.lost > epoch_lost)
			epoch_lost = manifest->end.lost;
		/* The manifest counts what the file's own records say, and more. */
		totals->lost = epoch_lost > totals->lost ? epoch_lost : totals->lost;
		totals->throttled_ns =
			throttled > totals->throttled_ns ? throttled : totals->throttled_ns;
		if (manifest->n_epochs)
			totals->duration_ns = manifest->epochs[manifest->n_epochs - 1].end_ns -
					      manifest->epochs[0].start_ns;
		if (manifest->end.present && manifest->end.target_cpu_ns)
			cpu_ns = manifest->end.target_cpu_ns;
		if (cpu_ns)
			totals->cpu_ns = (double)cpu_ns;
	}
	if (totals->lost)
		totals->lost_share = (double)totals->lost / (double)(totals->lost + seen);
}

void contract_fill(struct report *report, const struct profile *profile, const struct table *table)
{
	const struct bundle *bundle = profile->bundle;
	const struct perfdata_header *header = perfdata_reader_header(bundle->reader);

	report->bundle = bundle->path;
	report->contract = (struct report_contract){
		.event = profile->events[profile->event].name,
		.unit = profile->unit_is_ns ? "ns" : NULL,
		.mean_period = NAN,
		.rate_hz = NAN,
		.rate_first_hz = NAN,
		.rate_last_hz = NAN,
		.budget = NAN,
		.achieved = NAN,
		.clocks = table->n_clocks,
		.epochs = bundle->has_manifest ? profile->epochs.recorded : table->n_epochs,
		.randomised = profile->clocks.randomised,
	};
	if (bundle->has_manifest) {
		contract_of_manifest(report, profile);
		report->command = (const char *const *)bundle->manifest.command;
		report->n_command = bundle->manifest.command ? bundle->manifest.n_command : 0;
	} else {
		contract_of_file(report, profile);
		report->command = header->command;
		report->n_command = header->n_command;
	}
	if (!report->contract.unit)
		report->contract.unit = report->contract.event;
	report->contract.exact = profile_is_exact(profile);
	totals_fill(report, profile);
}
