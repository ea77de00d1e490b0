/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sampling contract in words: what clocks ran, at which rate, why at that one, and what would narrow the
 * intervals. Two lines of the report's head.
 */
#ifndef ASSAY_REPORT_CONTRACT_TEXT_H
#define ASSAY_REPORT_CONTRACT_TEXT_H

#include "report/model.h"
#include "report/output.h"

/* "2 clocks, each a sample every 4 ms on average; ..." */
void contract_clocks_text(const struct report *report, struct output *out);

/* "500 samples per second of CPU time: ..."; for contracts with a rate. */
void contract_rate_text(const struct report *report, struct output *out);

#endif
