/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A comparison as JSON: the document `diff` of the contract.
 */
#ifndef ASSAY_DIFF_JSON_H
#define ASSAY_DIFF_JSON_H

#include "diff/diff.h"
#include "report/output.h"

#define DIFF_JSON_SCHEMA "assay.diff/1"

/* Appends the document. */
MUST_CHECK enum status diff_json(const struct diff *diff, struct output *output,
				 struct error *error);

#endif
