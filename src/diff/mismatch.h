/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What makes two recordings hard to compare, as findings of the family `mismatch-` (docs/diff.md).
 *
 *	mismatch-event     they count different things                          incomparable
 *	mismatch-scope     one has kernel code, the other has not               incomparable
 *	mismatch-machine   another processor                                    incomparable
 *	                   another kernel or another machine of the same kind   worth knowing
 *	mismatch-schedule  a side without a randomised clock may be locked      incomparable
 *	                   different means or scopes                            worth knowing
 *	mismatch-build     a module with samples has another build-id           a warning
 *	mismatch-command   another command line                                 worth knowing
 *
 * "Incomparable" is severity bias: a difference of shares is then no evidence of a change.
 */
#ifndef ASSAY_DIFF_MISMATCH_H
#define ASSAY_DIFF_MISMATCH_H

#include "diff/diff.h"

#define CODE_MISMATCH_EVENT    "mismatch-event"
#define CODE_MISMATCH_SCOPE    "mismatch-scope"
#define CODE_MISMATCH_MACHINE  "mismatch-machine"
#define CODE_MISMATCH_SCHEDULE "mismatch-schedule"
#define CODE_MISMATCH_BUILD    "mismatch-build"
#define CODE_MISMATCH_COMMAND  "mismatch-command"

/* Fills diff->mismatches and diff->locked. */
MUST_CHECK enum status diff_mismatches(struct diff *diff, struct error *error);

#endif
