/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "study/tally.h"

#include <math.h>
#include <stdlib.h>

#include "estimate/effect.h"

void tally_init(struct tally *tally, size_t recordings)
{
	*tally = (struct tally){ .capacity = recordings };
	for (size_t m = 0; m < METHODS; m++)
		for (size_t w = 0; w < WATCHED; w++) {
			tally->recording[m][w].widths = calloc(recordings, sizeof(double));
			tally->workload[m][w].widths = calloc(recordings, sizeof(double));
			if (!tally->recording[m][w].widths || !tally->workload[m][w].widths)
				abort();
		}
}

void tally_release(struct tally *tally)
{
	for (size_t m = 0; m < METHODS; m++)
		for (size_t w = 0; w < WATCHED; w++) {
			free(tally->recording[m][w].widths);
			free(tally->workload[m][w].widths);
		}
}

static void method_add(struct tally_method *method, struct bounds bounds, double truth)
{
	method->widths[method->supported++] = bounds.hi - bounds.lo;
	method->covered += bounds.lo <= truth && truth <= bounds.hi;
}

static void baselines_add(struct tally *tally, const struct estimate_table *table, bool periods,
			  const double *truth, const struct workload *workload)
{
	struct evidence evidence;

	if (evidence_init(&evidence, table, periods, NULL) != STATUS_OK)
		abort();
	for (size_t w = 0; w < WATCHED; w++) {
		const size_t s = watched_functions[w];
		const struct moments moments = evidence_moments(&evidence, s);
		const double n = (double)evidence.samples;

		for (enum method m = 0; m < METHOD_ASSAY; m++) {
			method_add(&tally->recording[m][w],
				   method_bounds(m, &moments, n, moments.v_recording,
						 evidence.contrast_df),
				   truth[s]);
			method_add(&tally->workload[m][w],
				   method_bounds(m, &moments, n, moments.v_epochs,
						 (double)evidence.n_epochs - 1),
				   workload->share[s]);
		}
	}
	evidence_release(&evidence);
}

void tally_add(struct tally *tally, const struct recording *recording,
	       const struct estimate_table *table, const struct workload *workload, bool baselines)
{
	struct estimate_shares shares;

	if (estimate_shares(&shares, table, NULL, NULL) != STATUS_OK ||
	    tally->recordings == tally->capacity)
		abort();
	tally->recordings++;
	tally->serial += shares.serial;
	tally->period_weights += shares.period_weights;
	tally->samples += (double)shares.samples;
	tally->epochs += (double)shares.n_epochs;
	for (size_t w = 0; w < WATCHED; w++) {
		const size_t s = watched_functions[w];
		const struct estimate_row *row = &shares.rows[s];

		if (row->recording.supported)
			method_add(&tally->recording[METHOD_ASSAY][w],
				   (struct bounds){ row->recording.lo, row->recording.hi },
				   recording->truth[s]);
		if (row->workload.supported)
			method_add(&tally->workload[METHOD_ASSAY][w],
				   (struct bounds){ row->workload.lo, row->workload.hi },
				   workload->share[s]);
	}
	if (baselines)
		baselines_add(tally, table, shares.period_weights, recording->truth, workload);
	estimate_shares_release(&shares);
}

double coverage(const struct tally_method *method, size_t recordings)
{
	return recordings ? 100 * (double)method->covered / (double)recordings : NAN;
}

void tally_range(const struct tally_method methods[WATCHED], double *low, double *high)
{
	*low = INFINITY;
	*high = -INFINITY;
	for (size_t w = 0; w < WATCHED; w++) {
		const double c = coverage(&methods[w], methods[w].supported);

		*low = fmin(*low, c);
		*high = fmax(*high, c);
	}
}

static int double_compare(const void *left, const void *right)
{
	const double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

double tally_width(const struct tally_method *method)
{
	if (!method->supported)
		return NAN;
	qsort(method->widths, method->supported, sizeof(double), double_compare);
	return method->widths[method->supported / 2];
}
