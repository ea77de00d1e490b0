/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void measure_release(struct measure *measure)
{
	free(measure->row_of);
	free(measure->number_of);
	free(measure->first);
	estimate_shares_release(&measure->shares);
	memset(measure, 0, sizeof(*measure));
}

static bool rows_take(struct measure *measure, const struct table_counts *counts, size_t n_rows)
{
	measure->row_of = calloc(n_rows + 1, sizeof(*measure->row_of));
	measure->number_of = calloc(n_rows + 1, sizeof(*measure->number_of));
	measure->first = calloc(n_rows + 2, sizeof(*measure->first));
	if (!measure->row_of || !measure->number_of || !measure->first)
		return false;
	for (size_t row = 0; row < n_rows; row++) {
		measure->number_of[row] = SIZE_MAX;
		if (counts->first[row] == counts->first[row + 1])
			continue;
		measure->number_of[row] = measure->n;
		measure->row_of[measure->n++] = row;
		measure->first[measure->n] = counts->first[row + 1];
	}
	return true;
}

/* Rule of three (estimates.md, section 2): at most 3.0 max(1, design effect)/N at 95 %. */
static void zero_fill(struct measure *measure)
{
	const struct estimate_shares *shares = &measure->shares;
	struct estimate_interval none = { .supported = !shares->too_few, .why = shares->too_few };

	if (shares->samples)
		none.hi = fmin(1, 3.0 * fmax(1, shares->design_effect) / (double)shares->samples);
	measure->zero = (struct report_share){ .recording = none,
					       .workload = none,
					       .variance_measurement = NAN,
					       .variance_workload = NAN,
					       .variance_workload_hi = NAN,
					       .changes = NAN,
					       .epochs_needed = NAN };
	measure->zero.workload.supported = false;
	measure->zero.workload.why = "no sample of it";
}

enum status measure_make(struct measure *measure, const struct table *table,
			 const struct table_counts *counts, bool randomised,
			 enum estimate_weighting weighting, struct error *error)
{
	const struct estimate_options options = { .confidence = 0.95, .weighting = weighting };
	enum status status;

	memset(measure, 0, sizeof(*measure));
	if (!rows_take(measure, counts, table->n_rows)) {
		measure_release(measure);
		return error_set(error, STATUS_NO_MEMORY, "no memory for the estimates");
	}
	measure->estimates = (struct estimate_table){ .n_functions = measure->n,
						      .n_epochs = table->n_epochs,
						      .n_clocks = table->n_clocks,
						      .first = measure->first,
						      .counts = counts->counts,
						      .cell_weight = table->cell_weight,
						      .cell_count = table->cell_count,
						      .randomised = randomised };
	status = estimate_shares(&measure->shares, &measure->estimates, &options, error);
	if (status != STATUS_OK) {
		measure_release(measure);
		return status;
	}
	zero_fill(measure);
	return STATUS_OK;
}

struct report_share measure_share(const struct measure *measure, size_t row)
{
	const size_t number = measure->number_of[row];
	const struct estimate_row *estimate;

	if (number == SIZE_MAX)
		return measure->zero;
	estimate = &measure->shares.rows[number];
	return (struct report_share){ .recording = estimate->recording,
				      .workload = estimate->workload,
				      .variance_measurement = estimate->variance_measurement,
				      .variance_workload = estimate->variance_workload,
				      .variance_workload_hi = estimate->variance_workload_hi,
				      .effective_samples = estimate->effective_samples,
				      .effective_samples_workload =
					      estimate->effective_samples_workload,
				      .samples = estimate->samples,
				      .serial = estimate->serial,
				      .changes = estimate->changes,
				      .epochs_needed = estimate->epochs_needed };
}
