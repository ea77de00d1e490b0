/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One more pass over the records, for what counts by cell do not keep: times, threads, CPUs, marks and
 * intervals.
 */
#ifndef ASSAY_DIAGNOSE_TRACE_READ_H
#define ASSAY_DIAGNOSE_TRACE_READ_H

#include "diagnose/intervals.h"
#include "diagnose/matrix.h"
#include "diagnose/trace.h"
#include "profile/filter.h"
#include "profile/profile.h"
#include "profile/table.h"

struct trace_read {
	struct trace trace;
	struct intervals_clock *clocks; /* one per column of the matrix */
	size_t n_clocks;
	/* the event was not always on a counter: largest 1 - running/enabled of a stream, and the mean
	 * over streams weighted by time; NAN: the file does not say */
	double multiplexed, multiplexed_worst;
	uint64_t switches; /* records of context switches */
	bool has_read, has_cpu;
};

/* `filter` as for the profile, NULL: all. On failure *read needs no release. */
MUST_CHECK enum status trace_read(struct trace_read *read, struct profile *profile,
				  const struct table *table, const struct matrix *matrix,
				  const struct filter *filter, size_t maximum, struct error *error);
void trace_read_release(struct trace_read *read);

#endif
