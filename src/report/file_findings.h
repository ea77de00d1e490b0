/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Findings that the file and its symbols give, beside those of the contract (diagnose/conduct.h):
 * for a plain perf.data what the kernel's own records say was missing, for every recording what the
 * reader stumbled over, where names are missing and what would mend them, and stacks that are cut.
 */
#ifndef ASSAY_REPORT_FILE_FINDINGS_H
#define ASSAY_REPORT_FILE_FINDINGS_H

#include "profile/profile.h"
#include "profile/table.h"
#include "report/model.h"

#define CODE_SYMBOLS_MISSING    "symbols-missing"
#define CODE_SYMBOLS_UNVERIFIED "symbols-unverified"
#define CODE_SYMBOLS_STACKS     "symbols-stacks"

void file_findings(struct report *report, const struct profile *profile, const struct table *table);

/* The families, each for itself. */
void file_findings_records(struct report *report, const struct profile *profile);
void file_findings_notes(struct report *report, const struct profile *profile);
void file_findings_symbols(struct report *report, const struct profile *profile,
			   const struct table *table);
void file_findings_stacks(struct report *report, const struct profile *profile,
			  const struct table *table);

#endif
