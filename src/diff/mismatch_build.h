/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Modules that are of one name and of different builds.
 */
#ifndef ASSAY_DIFF_MISMATCH_BUILD_H
#define ASSAY_DIFF_MISMATCH_BUILD_H

#include "diff/diff.h"

/* Adds mismatch-build for modules that take at least one percent of either side. */
void diff_mismatch_build(struct diff *diff);

#endif
