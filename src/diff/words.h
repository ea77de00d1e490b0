/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The verdict in plain English: one sentence that answers, and what it rests on.
 */
#ifndef ASSAY_DIFF_WORDS_H
#define ASSAY_DIFF_WORDS_H

#include "diff/diff.h"

/* Sets diff->verdict; everything else must be there. */
MUST_CHECK enum status diff_words(struct diff *diff, struct error *error);

/* The name of a row as it is shown. */
const char *diff_row_name(const struct diff_row *row);
const char *diff_row_module(const struct diff_row *row);

#endif
