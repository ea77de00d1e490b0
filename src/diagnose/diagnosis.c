/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diagnose/diagnosis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/conduct.h"
#include "diagnose/coverage.h"
#include "diagnose/file_tasks.h"
#include "diagnose/finding_code.h"
#include "diagnose/instability.h"
#include "diagnose/trace_read.h"

#define SAMPLES_STANDARD 65536
#define FAITHFUL         0.01
#define MULTIPLEX_TOLD   0.01
#define FEW_SAMPLES      30

void diagnosis_release(struct diagnosis *diagnosis)
{
	findings_release(&diagnosis->findings);
	free(diagnosis->answers.intervals_drawn);
	free(diagnosis->answers.intervals_realised);
	free(diagnosis->answers.retuned_or_throttled);
	free(diagnosis->answers.phase);
	free(diagnosis->answers.independent_schedules);
	free(diagnosis->clocks);
	free(diagnosis->epochs);
	alias_release(&diagnosis->alias);
	regimes_release(&diagnosis->regimes);
	skid_release(&diagnosis->skid);
	matrix_release(&diagnosis->matrix);
	memset(diagnosis, 0, sizeof(*diagnosis));
}

static enum status no_memory(struct error *error)
{
	return error_set(error, STATUS_NO_MEMORY, "not enough memory for the diagnosis");
}

static const struct manifest *manifest_of(const struct profile *profile)
{
	return profile->bundle->has_manifest ? &profile->bundle->manifest : NULL;
}

static const struct perf_event_attr *attr_of(const struct profile *profile)
{
	size_t n;
	const struct perfdata_event *events = perfdata_reader_events(profile->bundle->reader, &n);

	return &events[profile->event].attr;
}

static const struct manifest_clock *clock_of(const struct profile *profile, uint32_t column)
{
	const struct manifest *manifest = manifest_of(profile);

	return manifest && profile->clocks.by_id
		       ? &manifest->clocks[profile->clocks.clock_of[column]]
		       : NULL;
}

/* ---- clocks ---- */

static void clock_describe(struct diagnosis_clock *clock, const struct profile *profile,
			   uint32_t column)
{
	const struct manifest *manifest = manifest_of(profile);
	const struct manifest_clock *from = clock_of(profile, column);

	clock->canary = column >= profile->clocks.n_clocks;
	clock->unit = profile->unit_is_ns ? "ns" : profile->events[profile->event].name;
	if (!from) {
		/* the kernel's timer behind cpu-clock and task-clock keeps one period for a frequency */
		clock->kind = attr_of(profile)->freq && !profile->unit_is_ns ? "freq" : "fixed";
		clock->lost = losses_total(&profile->losses);
		clock->throttled_ns = profile->losses.throttled_ns;
		return;
	}
	clock->kind = schedule_kind_name(from->kind);
	for (size_t e = 0; e < manifest->n_epochs; e++) {
		const struct manifest_epoch_clock *epoch =
			&manifest->epochs[e].clocks[profile->clocks.clock_of[column]];

		clock->lost += epoch->lost;
		clock->throttled_ns += epoch->throttled_ns;
	}
}

static enum status clocks_fill(struct diagnosis *diagnosis, const struct profile *profile,
			       const struct trace_read *read, struct error *error)
{
	diagnosis->clocks = calloc(read->n_clocks + 1, sizeof(*diagnosis->clocks));
	if (!diagnosis->clocks)
		return no_memory(error);
	diagnosis->n_clocks = read->n_clocks;
	diagnosis->has_read = read->has_read;
	for (uint32_t c = 0; c < read->n_clocks; c++) {
		struct diagnosis_clock *clock = &diagnosis->clocks[c];
		const struct intervals_clock *from = &read->clocks[c];

		clock_describe(clock, profile, c);
		clock->intended = intervals_of_intended(from);
		clock->realised = intervals_of_realised(from);
		clock->faithful = intervals_faithful(from, FAITHFUL);
		clock->by_time = from->by_time;
		clock->samples = from->samples;
		clock->redrawn = from->redrawn;
		clock->retuned = from->retuned;
		clock->gaps = from->gaps;
		intervals_histogram(from, false, clock->intended_bins);
		intervals_histogram(from, true, clock->realised_bins);
	}
	return STATUS_OK;
}

/* ---- epochs ---- */

static uint32_t regime_at(const struct regimes *regimes, uint64_t time_ns)
{
	uint32_t regime = 0;

	for (size_t e = 0; e < regimes->n_epochs && regimes->epochs[e].start_ns <= time_ns; e++)
		regime = regimes->epochs[e].regime;
	return regime;
}

static struct diagnosis_epoch *epoch_add(struct diagnosis *diagnosis)
{
	if (diagnosis->n_epochs == DIAGNOSIS_EPOCHS_MAX) {
		diagnosis->epochs_left_out++;
		return NULL;
	}
	return &diagnosis->epochs[diagnosis->n_epochs++];
}

static void epochs_of_manifest_fill(struct diagnosis *diagnosis, const struct manifest *manifest)
{
	for (size_t e = 0; e < manifest->n_epochs; e++)
		for (uint32_t k = 0; k < manifest->n_clocks; k++) {
			const struct manifest_epoch *from = &manifest->epochs[e];
			struct diagnosis_epoch *epoch = epoch_add(diagnosis);

			if (!epoch)
				continue;
			*epoch = (struct diagnosis_epoch){
				.start_ns = from->start_ns,
				.end_ns = from->end_ns,
				.clock = k,
				.seed = from->seed,
				.has_seed = true,
				.budget = from->budget,
				.mean_period = from->clocks[k].mean_period,
				.samples = from->clocks[k].samples,
				.lost = from->clocks[k].lost,
				.throttled_ns = from->clocks[k].throttled_ns,
				.retuned = from->clocks[k].retuned,
				.regime = regime_at(&diagnosis->regimes, from->start_ns),
			};
		}
}

static enum status epochs_fill(struct diagnosis *diagnosis, const struct profile *profile,
			       struct error *error)
{
	const struct manifest *manifest = manifest_of(profile);
	const struct regimes *regimes = &diagnosis->regimes;
	size_t n = manifest ? manifest->n_epochs * manifest->n_clocks : regimes->n_epochs;

	n = n < DIAGNOSIS_EPOCHS_MAX ? n : DIAGNOSIS_EPOCHS_MAX;
	diagnosis->epochs = calloc(n + 1, sizeof(*diagnosis->epochs));
	if (!diagnosis->epochs)
		return no_memory(error);
	if (manifest && manifest->n_epochs) {
		epochs_of_manifest_fill(diagnosis, manifest);
		return STATUS_OK;
	}
	for (size_t e = 0; e < regimes->n_epochs; e++)
		diagnosis->epochs[diagnosis->n_epochs++] =
			(struct diagnosis_epoch){ .start_ns = regimes->epochs[e].start_ns,
						  .end_ns = regimes->epochs[e].end_ns,
						  .budget = NAN,
						  .mean_period = NAN,
						  .samples = regimes->epochs[e].samples,
						  .regime = regimes->epochs[e].regime };
	return STATUS_OK;
}

/* ---- aliasing ---- */

/* The period in ns of the fixed clock that a recording without randomised ones was taken with; 0 when it
 * counts something else than time. */
static double own_period_ns(const struct profile *profile)
{
	const struct perf_event_attr *attr = attr_of(profile);
	const struct manifest_clock *clock = clock_of(profile, 0);

	if (!profile->unit_is_ns || profile->clocks.randomised)
		return 0;
	if (clock)
		return clock->mean_period;
	if (!attr->freq)
		return (double)attr->sample_period;
	return attr->sample_freq ? floor(1e9 / (double)attr->sample_freq) : 0;
}

static size_t kernel_samples(const struct trace *trace)
{
	size_t n = 0;

	for (size_t i = 0; i < trace->n; i++)
		n += trace->samples[i].kernel;
	return n;
}

static void alias_prepare(struct diagnosis *diagnosis, const struct profile *profile,
			  const struct trace *trace)
{
	const struct manifest *manifest = manifest_of(profile);
	struct alias *alias = &diagnosis->alias;
	double asked_ns = 0;

	alias->matrix = &diagnosis->matrix;
	alias->trace = trace;
	alias->randomised = profile->clocks.randomised;
	alias->timed = profile->timed && profile->unit_is_ns;
	alias->design_effect = diagnosis->design_effect;
	alias->kernel_too = 2 * kernel_samples(trace) > trace->n;
	alias->own_period_ns = own_period_ns(profile);
	/* the rate that the user asked for would be another profiler's period */
	if (manifest && !(manifest->budget > 0) && manifest->rate_hz > 0)
		asked_ns = floor(1e9 / manifest->rate_hz);
	alias->n_periods = alias_conventional(alias->periods_ns, asked_ns);
	for (uint32_t i = 0; i < profile->clocks.n_canaries && i < MANIFEST_MAX_CLOCKS; i++) {
		const struct manifest_clock *clock =
			clock_of(profile, profile->clocks.n_clocks + i);

		alias->canary_period_ns[i] = clock && profile->unit_is_ns ? clock->mean_period : 0;
	}
}

/* ---- findings of the samples ---- */

static void multiplex_find(struct findings *findings, const struct trace_read *read)
{
	struct finding *finding;
	char percent[32];

	if (!(read->multiplexed >= MULTIPLEX_TOLD))
		return;
	finding = findings_add(
		findings, CODE_MULTIPLEX, conduct_missing_severity(read->multiplexed),
		"The event was off its counter for %s of the time, since several events share the "
		"counters: what ran meanwhile was not sampled.",
		conduct_percent(read->multiplexed, percent, sizeof(percent)));
	finding_next(findings, finding,
		     "Record fewer events at once (and see `assay doctor` for the watchdog).");
	finding_touches_all(finding, read->multiplexed);
	finding_number(findings, finding, "share", read->multiplexed);
	finding_number(findings, finding, "share_worst", read->multiplexed_worst);
}

static void few_find(struct findings *findings, const struct matrix *matrix)
{
	struct finding *finding;

	if (matrix->samples >= FEW_SAMPLES)
		return;
	finding = findings_add(findings, CODE_NO_SAMPLES, FINDING_WARNING,
			       matrix->samples
				       ? "Only %llu samples: no test has any power on so few."
				       : "There are no samples (%llu): nothing can be judged.",
			       (unsigned long long)matrix->samples);
	finding_next(findings, finding,
		     "Record longer, several runs in one recording, or at a higher rate (-F).");
	finding_number(findings, finding, "samples", (double)matrix->samples);
}

static enum status design_effect_find(struct diagnosis *diagnosis, bool randomised, bool *serial,
				      struct error *error)
{
	struct estimate_shares shares;
	struct matrix_table table;
	enum status status = matrix_table_make(&table, &diagnosis->matrix, 0,
					       diagnosis->matrix.n_clocks, randomised, error);

	diagnosis->design_effect = 1;
	*serial = false;
	if (status != STATUS_OK)
		return status;
	status = estimate_shares(&shares, &table.table, NULL, error);
	if (status == STATUS_OK) {
		if (shares.design_effect > 0)
			diagnosis->design_effect = shares.design_effect;
		*serial = shares.serial;
		estimate_shares_release(&shares);
	}
	matrix_table_release(&table);
	return status;
}

static enum status samples_examine(struct diagnosis *diagnosis, struct profile *profile,
				   const struct table *table, const struct trace_read *read,
				   struct error *error)
{
	const bool randomised = profile->clocks.randomised;
	struct findings *findings = &diagnosis->findings;
	bool serial;
	enum status status = design_effect_find(diagnosis, randomised, &serial, error);

	multiplex_find(findings, read);
	few_find(findings, &diagnosis->matrix);
	if (status == STATUS_OK) {
		alias_prepare(diagnosis, profile, &read->trace);
		status = alias_examine(&diagnosis->alias, findings, error);
		diagnosis->alias.trace = NULL; /* it does not outlive this call */
	}
	if (status == STATUS_OK)
		status = coverage_find(findings, table, randomised, serial, error);
	if (status == STATUS_OK)
		status = regimes_find(&diagnosis->regimes, &diagnosis->matrix, &profile->epochs,
				      manifest_of(profile), profile->last_ns,
				      diagnosis->design_effect, error);
	if (status == STATUS_OK)
		status = skid_examine(&diagnosis->skid, profile, table, &diagnosis->matrix, error);
	if (status != STATUS_OK)
		return status;
	regimes_findings(findings, &diagnosis->regimes, &diagnosis->matrix, randomised);
	skid_find(findings, &diagnosis->skid, &diagnosis->matrix);
	instability_find(findings, &read->trace, manifest_of(profile));
	for (size_t t = 0; t < read->trace.n_threads; t++) {
		diagnosis->migrations += read->trace.threads[t].migrations;
		diagnosis->moves += read->trace.threads[t].moves;
	}
	return STATUS_OK;
}

enum status diagnosis_make(struct diagnosis *diagnosis, struct profile *profile,
			   const struct table *table, const struct diagnosis_options *options,
			   struct error *error)
{
	struct trace_read read;
	enum status status;

	memset(diagnosis, 0, sizeof(*diagnosis));
	findings_init(&diagnosis->findings);
	if (profile->bundle->has_manifest)
		conduct_find(&diagnosis->findings, &profile->bundle->manifest);
	else
		file_find_short_tasks(&diagnosis->findings, profile);
	status = matrix_build(&diagnosis->matrix, profile, table, error);
	if (status != STATUS_OK) {
		diagnosis_release(diagnosis);
		return status;
	}
	status = trace_read(&read, profile, table, &diagnosis->matrix, options->filter,
			    options->samples ? options->samples : SAMPLES_STANDARD, error);
	if (status == STATUS_OK) {
		status = samples_examine(diagnosis, profile, table, &read, error);
		if (status == STATUS_OK)
			status = clocks_fill(diagnosis, profile, &read, error);
		if (status == STATUS_OK)
			status = epochs_fill(diagnosis, profile, error);
		trace_read_release(&read);
	}
	if (status == STATUS_OK && options->answers)
		status = diagnosis_answer(diagnosis, profile, error);
	findings_sort(&diagnosis->findings);
	if (status == STATUS_OK)
		status = findings_check(&diagnosis->findings, error);
	if (status != STATUS_OK)
		diagnosis_release(diagnosis);
	return status;
}
