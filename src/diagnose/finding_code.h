/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The codes of findings: one table, in the order in which a reader should see them. Scripts depend on
 * codes, so they are never renamed. Each is explained in docs/findings.md (a test compares the two) and
 * has a recording in the tests that triggers it and one that does not.
 */
#ifndef ASSAY_DIAGNOSE_FINDING_CODE_H
#define ASSAY_DIAGNOSE_FINDING_CODE_H

#include <stddef.h>

#include "diagnose/finding.h"

/* Aliasing: sampling clocks in step with the workload. */
#define CODE_ALIAS_FLIP      "alias-flip"
#define CODE_ALIAS_LOCKED    "alias-locked"
#define CODE_ALIAS_POSSIBLE  "alias-possible"
#define CODE_ALIAS_UNCHECKED "alias-unchecked"
/* Time and samples that are missing. */
#define CODE_NO_SAMPLES "no-samples"
#define CODE_LOSS       "loss"
#define CODE_THROTTLE   "throttle"
#define CODE_STARVED    "starved"
#define CODE_UNCOVERED  "uncovered"
#define CODE_MULTIPLEX  "multiplex"
/* Intervals that are not what was drawn. */
#define CODE_RETUNE            "retune"
#define CODE_FIDELITY_INTERVAL "fidelity-interval"
#define CODE_FIDELITY_DRIFT    "fidelity-drift"
#define CODE_FIDELITY_REDRAW   "fidelity-redraw"
/* Something else was measured than was asked for. */
#define CODE_SUBSTITUTION       "substitution"
#define CODE_SUBSTITUTION_SCOPE "substitution-scope"
#define CODE_BUDGET             "budget"
/* Code that samples cannot see. */
#define CODE_COVERAGE    "coverage"
#define CODE_SHORT       "short"
#define CODE_SHORT_TASKS "short-tasks"
/* Samples that are named after the wrong instruction. */
#define CODE_SKID_ENTRY     "skid-entry"
#define CODE_SKID_CALL      "skid-call"
#define CODE_SKID_SHADOW    "skid-shadow"
#define CODE_SKID_PRECISION "skid-precision"
/* Changes while it was recorded. */
#define CODE_REGIME             "regime"
#define CODE_REGIME_MEASUREMENT "regime-measurement"
#define CODE_MIGRATION          "migration"
#define CODE_FREQUENCY          "frequency"
#define CODE_LOAD               "load"
#define CODE_STEAL              "steal"
/* The file itself. */
#define CODE_UNFINISHED   "unfinished"
#define CODE_FILE_DAMAGED "file-damaged"
#define CODE_FILE_FOREIGN "file-foreign"

struct finding_code {
	const char *code;
	enum finding_severity worst; /* the highest severity it is ever given */
	const char *about;           /* half a sentence: "a sampling clock is in step with ..." */
};

/* The table, in display order. */
const struct finding_code *finding_codes(size_t *n);

/* Place in the table; codes that are not in it come last. */
unsigned int finding_code_place(const char *code);

#endif
