/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Coverage and width of the intervals of the watched functions over many recordings of one cell.
 */
#ifndef ASSAY_STUDY_TALLY_H
#define ASSAY_STUDY_TALLY_H

#include "estimate/estimate.h"
#include "study/methods.h"
#include "study/sampler.h"
#include "study/study.h"

#define WATCHED 4

struct tally_method {
	size_t covered;
	size_t supported;
	double *widths; /* of the supported ones */
};

struct tally {
	size_t recordings, capacity;
	size_t serial,
		period_weights; /* recordings in which the whole is serial, weights were periods */
	struct tally_method recording[METHODS][WATCHED], workload[METHODS][WATCHED];
	double samples, epochs;
};

void tally_init(struct tally *tally, size_t recordings);
void tally_release(struct tally *tally);

/* Adds one recording; `table` may be the recording's own or a merged one. */
void tally_add(struct tally *tally, const struct recording *recording,
	       const struct estimate_table *table, const struct workload *workload, bool baselines);

/* Coverage in per cent: lowest and highest over the watched functions. */
double coverage(const struct tally_method *method, size_t recordings);
void tally_range(const struct tally_method methods[WATCHED], double *low, double *high);
double tally_width(const struct tally_method *method); /* median */

#endif
