/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The removal of probes that nobody owns any more: an assay was killed together with its guardian, and the text of the
 * target holds its patches, off by data.
 */
#ifndef ASSAY_PROBE_REMOVAL_H
#define ASSAY_PROBE_REMOVAL_H

#include <sys/types.h>

#include "base/status.h"
#include "base/sys.h"

/* Puts the bytes back; *restored: how many places. STATUS_UNSUPPORTED when another assay is at work there, or threads
 * stood in some of the places all the while. */
MUST_CHECK enum status probe_removal(const struct sys *sys, pid_t pid, uint64_t *restored,
				     struct error *error);

#endif
