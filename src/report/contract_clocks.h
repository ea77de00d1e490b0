/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From the manifest's clocks and epochs to what the contract says of them: clocks that are alike together,
 * and the rate that was realised, which is not the planned one where it followed a budget.
 */
#ifndef ASSAY_REPORT_CONTRACT_CLOCKS_H
#define ASSAY_REPORT_CONTRACT_CLOCKS_H

#include "profile/clocks.h"
#include "report/model.h"

/* Fills groups, kind, block, mean_period and the rates. */
void contract_clocks(struct report_contract *contract, const struct manifest *manifest,
		     const struct clocks *clocks);

#endif
