/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Shares with their two intervals: sections 1-4 and 10 of docs/estimates.md, in this order:
 * lay the counts out (evidence), choose the weighting, pool over functions, then function by function.
 */
#include <math.h>
#include <stdlib.h>

#include "estimate/effect.h"
#include "estimate/estimate.h"
#include "estimate/evidence.h"
#include "estimate/interval.h"
#include "estimate/quantile.h"
#include "estimate/variance.h"
#include "estimate/workload.h"

/* Period weights must lower the pooled measurement variance by this much to be taken. */
#define PERIOD_GAIN 0.95

static const char why_samples[] = "fewer than 30 samples";
static const char why_epochs[] = "fewer than 5 epochs";
static const char why_weight[] = "the samples have no weight";
static const char why_workload[] = "fewer than 10 epochs say nothing about other runs";
static const char why_serial[] = "the program changed too few times while watched";
static const char assumes_no_lock[] = "that the clock is not locked to the program, which cannot "
				      "be checked without a randomised clock";
static const char assumes_bound[] =
	"that one clock's error is not above the change between epochs, since no second clock ran";

/* All that rows share. */
struct share_context {
	struct evidence evidence;
	struct cosines cosines;
	struct small_count small;
	struct variance_quantiles f;
	struct effect_limits limits;
	struct moments *moments; /* n_functions */
	double confidence, n;    /* n: plain samples N */
	double pooled, pooled_workload, rho, rho_error;
	double t_recording, t_rare, t_workload, t_workload_rare, t_serial; /* quantiles */
	double own_notable; /* design effect over epochs that chance exceeds in 5 % */
};

static void context_release(struct share_context *context)
{
	free(context->moments);
	cosines_release(&context->cosines);
	evidence_release(&context->evidence);
}

/* Section 1: sum over functions of V_rec/P, the figure by which weightings are compared. */
static enum status pooled_variance(double *pooled, const struct estimate_table *table, bool periods,
				   struct error *error)
{
	struct evidence evidence;
	const enum status status = evidence_init(&evidence, table, periods, error);

	*pooled = 0;
	if (status != STATUS_OK)
		return status;
	for (size_t s = 0; s < table->n_functions; s++) {
		const struct moments moments = evidence_moments(&evidence, s);

		if (moments.share > 0)
			*pooled += moments.v_recording / moments.share;
	}
	evidence_release(&evidence);
	return STATUS_OK;
}

static bool periods_differ(const struct estimate_table *table)
{
	for (size_t cell = 0; cell < table->n_epochs * table->n_clocks; cell++)
		if (table->cell_weight[cell] != (double)table->cell_count[cell])
			return true;
	return false;
}

/* Without a randomised clock periods differ because the kernel tuned them, or the event's rate did:
 * then only weighting by period is unbiased, as every other reader of such a file does it. */
static enum status choose_weighting(bool *periods, const struct estimate_table *table,
				    enum estimate_weighting weighting, struct error *error)
{
	double by_one, by_period;
	enum status status;

	*periods = weighting == ESTIMATE_WEIGHT_PERIOD;
	if (weighting != ESTIMATE_WEIGHT_AUTO || !periods_differ(table))
		return STATUS_OK;
	if (!table->randomised) {
		*periods = true;
		return STATUS_OK;
	}
	status = pooled_variance(&by_one, table, false, error);
	if (status == STATUS_OK)
		status = pooled_variance(&by_period, table, true, error);
	if (status == STATUS_OK)
		*periods = by_period < PERIOD_GAIN * by_one;
	return status;
}

/* Moments of all functions, pooled design effects and pooled serial correlation (rho: functions with at
 * least one sample per epoch on average). */
static void context_pool(struct share_context *context)
{
	const struct evidence *evidence = &context->evidence;
	struct effect_pool recording = { 0 }, workload = { 0 };
	double lagged = 0, squares = 0, fourth = 0;

	for (size_t s = 0; s < evidence->table->n_functions; s++) {
		const struct moments moments = evidence_moments(evidence, s);

		context->moments[s] = moments;
		effect_pool_add(&recording, moments.share, moments.v_recording, context->n);
		effect_pool_add(&workload, moments.share, moments.v_epochs, context->n);
		if (moments.samples >= evidence->n_epochs && moments.share > 0) {
			lagged += moments.lagged / moments.share;
			squares += moments.squares / moments.share;
			fourth += moments.squares / moments.share * moments.squares / moments.share;
		}
	}
	context->pooled = effect_pool_value(&recording);
	context->pooled_workload = effect_pool_value(&workload);
	if (evidence->n_clocks == 1)
		context->pooled = fmax(1, context->pooled);
	context->rho = squares > 0 ? lagged / squares : 0;
	/* 1/sqrt(E) for one function, and (sum)^2/sum of squares is the number of functions at work */
	context->rho_error = squares > 0 ? sqrt(fourth / (double)evidence->n_epochs) / squares : 1;
}

static void context_quantiles(struct share_context *context)
{
	const double n_epochs = (double)context->evidence.n_epochs;
	const double df = context->evidence.contrast_df;
	const double p = (1 + context->confidence) / 2;
	double seen = 0;

	for (size_t s = 0; s < context->evidence.table->n_functions; s++)
		seen += context->moments[s].samples > 0;
	context->t_recording = quantile_t(p, df + EFFECT_PRIOR_DF);
	/* the pool alone has the degrees of freedom of all functions; their contrasts sum to zero */
	context->t_rare = quantile_t(p, fmax(df + EFFECT_PRIOR_DF, df * (seen - 1)));
	context->t_workload = quantile_t(p, n_epochs - 1);
	context->t_workload_rare =
		quantile_t(p, fmax(n_epochs - 1 + EFFECT_PRIOR_DF, (n_epochs - 1) * (seen - 1)));
	context->t_serial = quantile_t(p, (double)context->cosines.q);
	context->own_notable = quantile_chi2(0.95, n_epochs - 1) / (n_epochs - 1);
	context->f = variance_quantiles(n_epochs, df, context->confidence);
	effect_limits_init(&context->limits);
	small_count_init(&context->small, 1 - p);
}

/* Samples of the function or of everything else, whichever is fewer: a share of 0.99 is as hard to
 * measure as one of 0.01. */
static uint64_t scarce(const struct moments *moments, uint64_t samples)
{
	const uint64_t rest = samples - moments->samples;

	return moments->samples < rest ? moments->samples : rest;
}

static void interval_set(struct estimate_interval *interval, struct share_context *context,
			 const struct moments *moments, double effect, double t)
{
	const struct bounds bounds =
		bounds_share(moments->share, context->n / effect, t, moments->samples,
			     context->evidence.samples - moments->samples, &context->small);

	*interval = (struct estimate_interval){
		.share = moments->share, .lo = bounds.lo, .hi = bounds.hi, .supported = true
	};
}

static void row_recording(struct estimate_row *row, struct share_context *context,
			  const struct moments *moments)
{
	const struct evidence *evidence = &context->evidence;
	const uint64_t few = scarce(moments, evidence->samples);
	const double own = effect_own(moments->share, moments->v_recording, context->n);
	const bool clocks_agree = evidence->table->randomised && evidence->n_clocks > 1;
	double f = fmin((double)few, evidence->contrast_df), t = context->t_recording;
	double effect;

	/* Of a few samples the own effect is noise. Randomised clocks that watch the same execution have
	 * no way to disagree about a rare function by more than chance, so the pool speaks for it. */
	if (few < EFFECT_FEW && clocks_agree) {
		f = 0;
		t = context->t_rare;
	}
	effect = effect_moderate(own, context->pooled, f);
	if (few >= EFFECT_FEW)
		effect = effect_limited(effect, own, moments->df_recording, &context->limits);
	if (few < EFFECT_FEW || evidence->n_clocks == 1)
		effect = fmax(1, effect);
	effect = fmax(effect, EFFECT_MIN);
	interval_set(&row->recording, context, moments, effect, t);
	row->effective_samples = fmin(context->n, context->n / effect);
}

static void row_workload(struct estimate_row *row, struct share_context *context,
			 const struct moments *moments, size_t s)
{
	const size_t n_epochs = context->evidence.n_epochs;
	const uint64_t few = scarce(moments, context->evidence.samples);
	const double own = effect_own(moments->share, moments->v_epochs, context->n);
	const double f = fmin((double)few, (double)n_epochs - 1);
	const double lag = moments->squares > 0 ? moments->lagged / moments->squares : 0;
	const struct serial serial = serial_detect(lag, context->rho, n_epochs);
	double effect = effect_moderate(own, context->pooled_workload, f);
	double t = context->t_workload;

	if (few >= EFFECT_FEW)
		effect = effect_limited(effect, own, moments->df_epochs, &context->limits);
	effect = fmax(own, effect);
	/* Of a few samples the own effect is mostly noise, and the larger of it and the pool's is too wide;
	 * only samples that lie together more than chance lets them are believed. */
	if (few < EFFECT_FEW && own <= context->own_notable) {
		effect = context->pooled_workload;
		t = context->t_workload_rare;
	}
	if (few < EFFECT_FEW)
		effect = fmax(1, effect);
	effect = fmax(effect, EFFECT_MIN);
	if (serial.detected) {
		evidence_deviations(&context->evidence, s, context->evidence.contrasts,
				    context->evidence.epochs);
		effect = fmax(effect, effect_own(moments->share,
						 cosines_variance(&context->cosines,
								  context->evidence.epochs),
						 context->n));
		t = context->t_serial;
	}
	interval_set(&row->workload, context, moments, effect, t);
	row->effective_samples_workload = fmin(context->n, context->n / effect);
	row->serial = serial.detected;
	if (serial.detected)
		row->changes = serial_changes(serial.correlation, n_epochs);
	if (n_epochs < ESTIMATE_EPOCHS_MIN_WORKLOAD) {
		row->workload.supported = false;
		row->workload.why = why_workload;
	} else if (!serial_supported(&serial, n_epochs)) {
		row->workload.supported = false;
		row->workload.why = why_serial;
		row->epochs_needed = serial_epochs_needed(serial.correlation);
	}
}

static void row_variance(struct estimate_row *row, const struct share_context *context,
			 const struct moments *moments)
{
	const struct variance_split split =
		variance_split(moments->v_recording, moments->v_epochs, &context->f);

	if (context->evidence.n_clocks == 1)
		return;
	row->variance_measurement = split.measurement;
	row->variance_workload = split.workload;
	if (row->serial)
		return;
	row->variance_workload_lo = split.lo;
	row->variance_workload_hi = split.hi;
}

static void row_unseen(struct estimate_row *row, const struct share_context *context)
{
	const double events = -log(1 - context->confidence);
	const double per_sample = events / context->n;
	const bool workload = context->evidence.n_epochs >= ESTIMATE_EPOCHS_MIN_WORKLOAD;

	row->recording =
		(struct estimate_interval){ .hi = fmin(1, per_sample * fmax(1, context->pooled)),
					    .supported = true };
	row->workload = (struct estimate_interval){
		.hi = fmin(1, per_sample * fmax(1, context->pooled_workload)),
		.supported = workload,
		.why = workload ? NULL : why_workload,
	};
}

static void row_set(struct estimate_row *row, struct share_context *context, size_t s,
		    const char *too_few)
{
	const struct moments *moments = &context->moments[s];
	const struct estimate_interval none = { .share = moments->share, .hi = 1, .why = too_few };

	*row = (struct estimate_row){
		.samples = moments->samples,
		.recording = none,
		.workload = none,
		.variance_measurement = NAN,
		.variance_workload = NAN,
		.variance_workload_lo = NAN,
		.variance_workload_hi = NAN,
		.changes = NAN,
		.epochs_needed = NAN,
	};
	if (too_few)
		return;
	if (!moments->samples) {
		row_unseen(row, context);
		return;
	}
	row_recording(row, context, moments);
	row_workload(row, context, moments, s);
	row_variance(row, context, moments);
}

static const char *shares_too_few(const struct evidence *evidence)
{
	if (evidence->samples < ESTIMATE_SAMPLES_MIN)
		return why_samples;
	if (evidence->n_epochs < ESTIMATE_EPOCHS_MIN)
		return why_epochs;
	return evidence->total > 0 ? NULL : why_weight;
}

static void shares_fill(struct estimate_shares *shares, struct share_context *context)
{
	const struct estimate_table *table = context->evidence.table;
	const bool one_clock = context->evidence.n_clocks == 1;

	shares->too_few = shares_too_few(&context->evidence);
	context_pool(context);
	if (!shares->too_few)
		context_quantiles(context);
	for (size_t s = 0; s < table->n_functions; s++)
		row_set(&shares->rows[s], context, s, shares->too_few);
	shares->n_rows = table->n_functions;
	shares->period_weights = context->evidence.periods;
	shares->samples = context->evidence.samples;
	shares->n_epochs = context->evidence.n_epochs;
	shares->n_clocks = context->evidence.n_clocks;
	shares->one_clock = one_clock;
	shares->design_effect = context->pooled;
	shares->design_effect_workload = context->pooled_workload;
	shares->correlation = context->rho;
	shares->correlation_error = context->rho_error;
	if (!shares->too_few) {
		const struct serial serial =
			serial_detect(context->rho, context->rho, context->evidence.n_epochs);

		shares->serial = serial.detected;
		shares->workload_unsupported =
			!serial_supported(&serial, context->evidence.n_epochs);
	}
	if (!table->randomised)
		shares->assumes = assumes_no_lock;
	else if (one_clock)
		shares->assumes = assumes_bound;
}

enum status estimate_shares(struct estimate_shares *shares, const struct estimate_table *table,
			    const struct estimate_options *options, struct error *error)
{
	const struct estimate_options standard = { .confidence = 0.95 };
	struct share_context context = { 0 };
	enum status status;
	bool periods;

	*shares = (struct estimate_shares){ 0 };
	options = options ? options : &standard;
	if (!(options->confidence > 0 && options->confidence < 1))
		return error_set(error, STATUS_USAGE,
				 "confidence %g is not between 0 and 1: try 0.95",
				 options->confidence);
	status = choose_weighting(&periods, table, options->weighting, error);
	if (status == STATUS_OK)
		status = evidence_init(&context.evidence, table, periods, error);
	if (status != STATUS_OK)
		return status;
	context.confidence = options->confidence;
	context.n = (double)context.evidence.samples;
	context.moments = calloc(table->n_functions + 1, sizeof(*context.moments));
	shares->rows = calloc(table->n_functions + 1, sizeof(*shares->rows));
	if (!context.moments || !shares->rows ||
	    !cosines_init(&context.cosines, context.evidence.n_epochs)) {
		status = error_set(error, STATUS_NO_MEMORY, "estimate: no memory for %zu functions",
				   table->n_functions);
		estimate_shares_release(shares);
	} else {
		shares_fill(shares, &context);
	}
	context_release(&context);
	return status;
}

void estimate_shares_release(struct estimate_shares *shares)
{
	free(shares->rows);
	*shares = (struct estimate_shares){ 0 };
}
