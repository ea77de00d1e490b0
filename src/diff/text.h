/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A comparison as text for people: verdict, the two recordings, what makes them hard to compare, table.
 */
#ifndef ASSAY_DIFF_TEXT_H
#define ASSAY_DIFF_TEXT_H

#include "diff/diff.h"
#include "report/text.h"

/* Rows that neither side shows above options->percent_limit, and that do not differ, are left out. */
void diff_text(const struct diff *diff, const struct text_options *options, struct output *output);

#endif
