/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One measure of the table's rows (self or total) with its shares, over the rows that have it at all.
 *
 * Rows without a sample in this measure are left out of estimates and ranks: a caller that is never
 * itself sampled is no rival of those that are. They get share 0 and its upper bound from `zero`.
 */
#ifndef ASSAY_REPORT_MEASURE_H
#define ASSAY_REPORT_MEASURE_H

#include "estimate/estimate.h"
#include "profile/table.h"
#include "report/model.h"

struct measure {
	size_t n;
	size_t *row_of;    /* of the table, by number here */
	size_t *number_of; /* by row; SIZE_MAX: not in this measure */
	size_t *first;     /* compressed */
	struct estimate_table estimates;
	struct estimate_shares shares;
	struct report_share zero; /* of a row without samples */
};

/* Estimates over all rows of the table that have a sample in `counts`. Borrows the table. */
MUST_CHECK enum status measure_make(struct measure *measure, const struct table *table,
				    const struct table_counts *counts, bool randomised,
				    enum estimate_weighting weighting, struct error *error);
void measure_release(struct measure *measure);

/* The share of a row of the table. */
struct report_share measure_share(const struct measure *measure, size_t row);

#endif
