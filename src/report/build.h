/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Makes the result model: shares and ranks of the table, findings, contract, verdict.
 */
#ifndef ASSAY_REPORT_BUILD_H
#define ASSAY_REPORT_BUILD_H

#include "profile/profile.h"
#include "profile/table.h"
#include "report/model.h"

struct report_options {
	unsigned int by;    /* REPORT_BY_* of the table */
	bool rank_by_total; /* order rows by total instead of self */
	size_t top_k;       /* what the verdict is about; 0: 5 */
	bool filtered;      /* the profile has a filter */
	/* those of a whole diagnosis, which the report takes over (leaving none); NULL: the report makes
	 * those of the contract itself */
	struct findings *findings;
};

/* The report borrows names from `profile`, its bundle, its symbolizer and `table`, which must outlive it. On
 * failure *report needs no release. */
MUST_CHECK enum status report_build(struct report *report, struct profile *profile,
				    const struct table *table, const struct report_options *options,
				    struct error *error);

#endif
