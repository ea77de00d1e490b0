/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/removal.h"

#include <errno.h>

#include "probe/access.h"
#include "probe/guardian.h"

enum status probe_removal(const struct sys *sys, pid_t pid, uint64_t *restored, struct error *error)
{
	struct guardian guardian = { .fd = -1 };
	enum status status = access_check(sys, pid, error);

	*restored = 0;
	if (status == STATUS_OK)
		status = guardian_start(&guardian, sys, error);
	if (status == STATUS_OK)
		status = guardian_recover(&guardian, pid, error);
	if (status == STATUS_OK) {
		*restored = guardian.arena->restored;
		if (guardian.arena->other_owner)
			status = error_set(error, STATUS_UNSUPPORTED,
					   "process %d is probed by thread %u (another assay): end "
					   "that, and it removes its probes",
					   pid, guardian.arena->other_owner);
		else if (guardian.arena->n_stuck)
			status = error_set_errno(error, STATUS_UNSUPPORTED, EBUSY,
						 "%llu places in the code of process %d could not "
						 "be put back: threads stood in them, or somebody "
						 "else has changed them",
						 (unsigned long long)guardian.arena->n_stuck, pid);
	}
	guardian_stop(&guardian);
	return status;
}
