/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * May a process be probed at all? Asked first, so that a refusal names what stands in the way: another
 * tracer, another user, a setting of the kernel.
 */
#ifndef ASSAY_PROBE_ACCESS_H
#define ASSAY_PROBE_ACCESS_H

#include <sys/types.h>

#include "base/sys.h"

/* STATUS_NOT_FOUND when there is no such process, STATUS_PERMISSION with what would help. The guardian of an assay that
 * was killed is waited for, some seconds at most. */
MUST_CHECK enum status access_check(const struct sys *sys, pid_t pid, struct error *error);

#endif
