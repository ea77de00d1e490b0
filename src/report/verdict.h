/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The verdict: what may be concluded from the table and what to do next, in plain English.
 */
#ifndef ASSAY_REPORT_VERDICT_H
#define ASSAY_REPORT_VERDICT_H

#include "report/model.h"

/* Sets report->verdict; everything else of the report must be there. */
void verdict_write(struct report *report);

#endif
