/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/rank_pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "estimate/effect.h"
#include "estimate/quantile.h"

#define CORRELATION_MAX 0.9

struct family family_of(enum estimate_family kind, const struct evidence *evidence,
			const struct estimate_shares *shares)
{
	const bool recording = kind == ESTIMATE_FAMILY_RECORDING;

	return (struct family){
		.kind = kind,
		.evidence = evidence,
		.n = (double)evidence->samples,
		.pooled =
			fmax(1, recording ? shares->design_effect : shares->design_effect_workload),
		.rho = shares->correlation,
		.rho_error = shares->correlation_error,
		.length = recording ? evidence->n_contrasts : evidence->n_epochs,
		.df_common = evidence->contrast_df + EFFECT_PRIOR_DF,
	};
}

void family_vector(const struct family *family, size_t s, double *vector, double *scratch)
{
	if (family->kind == ESTIMATE_FAMILY_RECORDING)
		evidence_deviations(family->evidence, s, vector, scratch);
	else
		evidence_deviations(family->evidence, s, scratch, vector);
}

static double epochs_correction(const struct family *family)
{
	const double n = (double)family->evidence->n_epochs;

	return n > 1 ? n / (n - 1) : 1;
}

double family_effect(const struct family *family, double share, const double *vector)
{
	double v = 0;

	for (size_t m = 0; m < family->length; m++)
		v += vector[m] * vector[m];
	if (family->kind == ESTIMATE_FAMILY_WORKLOAD)
		v *= epochs_correction(family);
	return effect_own(share, v, family->n);
}

/* Four sums side by side: one running sum would wait for each addition. */
static double squared_distance(const double *a, const double *b, size_t n)
{
	double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
	size_t m = 0;

	for (; m + 4 <= n; m += 4) {
		const double d0 = a[m] - b[m], d1 = a[m + 1] - b[m + 1];
		const double d2 = a[m + 2] - b[m + 2], d3 = a[m + 3] - b[m + 3];

		s0 += d0 * d0;
		s1 += d1 * d1;
		s2 += d2 * d2;
		s3 += d3 * d3;
	}
	for (; m < n; m++)
		s0 += (a[m] - b[m]) * (a[m] - b[m]);
	return (s0 + s1) + (s2 + s3);
}

/* sum over e >= 1 of (a - b)[e] (a - b)[e - 1] */
static double lagged_product(const double *a, const double *b, size_t n)
{
	double s0 = 0, s1 = 0, before = n ? a[0] - b[0] : 0;
	size_t m = 1;

	for (; m + 2 <= n; m += 2) {
		const double d0 = a[m] - b[m], d1 = a[m + 1] - b[m + 1];

		s0 += before * d0;
		s1 += d0 * d1;
		before = d1;
	}
	if (m < n)
		s0 += before * (a[m] - b[m]);
	return s0 + s1;
}

static double effect_recording(const struct family *family, const struct member *i,
			       const struct member *j, double f)
{
	const double v = squared_distance(i->vector, j->vector, family->length);
	const double nu = fmin(family->evidence->contrast_df, (double)(i->samples + j->samples));

	return fmax(1, effect_moderate(v / f, family->pooled, nu));
}

/* Serial correlation widens twice: the variance by g = (1 + r)/(1 - r), and the degrees of freedom
 * shrink by it. The pooled correlation counts from 1.5 standard errors on; its mean without any is -1/E,
 * so with thirty functions chance reaches that in one recording of a hundred. */
static double effect_workload(const struct family *family, const struct member *i,
			      const struct member *j, double f, double *df)
{
	const double n_epochs = (double)family->evidence->n_epochs;
	double v = squared_distance(i->vector, j->vector, family->length);
	double r = v > 0 ? lagged_product(i->vector, j->vector, family->length) / v : 0;
	double g = 1;

	if (r < 1 / sqrt(n_epochs))
		r = 0;
	if (family->rho > fmin(0.67 / sqrt(n_epochs), 1.5 * family->rho_error))
		r = fmax(r, family->rho);
	r = fmin(r, CORRELATION_MAX);
	*df = n_epochs + 3;
	if (r > 0) {
		r = fmin(r + 1 / n_epochs, 0.97);
		g = (1 + r) / (1 - r);
		*df = fmax(3, (n_epochs - 1) / g);
	}
	v *= epochs_correction(family) * g / f;
	return fmax(fmax(1, v), effect_moderate(v, family->pooled, n_epochs - 1));
}

double pair_effect(const struct family *family, const struct member *i, const struct member *j,
		   double *df)
{
	const double f = (i->share + j->share) / family->n;

	*df = family->df_common;
	if (family->kind == ESTIMATE_FAMILY_RECORDING)
		return effect_recording(family, i, j, f);
	return effect_workload(family, i, j, f, df);
}

bool thresholds_init(struct thresholds *thresholds, double level)
{
	thresholds->t = malloc(DF_CLASSES * sizeof(*thresholds->t));
	if (!thresholds->t)
		return false;
	thresholds->level = 0;
	thresholds_move(thresholds, level);
	return true;
}

void thresholds_release(struct thresholds *thresholds)
{
	free(thresholds->t);
	thresholds->t = NULL;
}

void thresholds_move(struct thresholds *thresholds, double level)
{
	if (level == thresholds->level)
		return;
	thresholds->level = level;
	for (size_t class = 0; class < DF_CLASSES; class ++)
		thresholds->t[class] = NAN;
}

double thresholds_at(struct thresholds *thresholds, uint16_t class)
{
	if (isnan(thresholds->t[class]))
		thresholds->t[class] =
			quantile_t_upper(thresholds->level / 2, fmax(class, 1) / DF_STEPS);
	return thresholds->t[class];
}

uint16_t df_class(double df)
{
	return (uint16_t)(fmin(fmax(df, 0), DF_MAX) * DF_STEPS);
}

size_t pairs_holm(struct pair *pairs, size_t n_pairs, size_t n_certain, size_t n_family,
		  double alpha, struct thresholds *thresholds, double *step_level)
{
	size_t accepted = 0, before;

	do {
		before = accepted;
		thresholds_move(thresholds, alpha / (double)(n_family - n_certain - accepted));
		for (size_t i = accepted; i < n_pairs; i++) {
			const struct pair pair = pairs[i];

			if (pair.t < thresholds_at(thresholds, pair.df))
				continue;
			pairs[i] = pairs[accepted];
			pairs[accepted++] = pair;
		}
	} while (accepted > before && n_certain + accepted < n_family);
	*step_level = thresholds->level;
	return accepted;
}
