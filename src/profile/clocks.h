/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which column of the cells a sample counts in: the clock that took it.
 *
 * The randomised clocks of the chosen event are columns 0 .. n_clocks - 1 and enter the estimates;
 * its canaries (clocks that are not randomised) follow and are kept apart. Without a manifest the
 * event is one clock. A recording whose clocks are all fixed has no canaries: its clocks are all that
 * there is, `randomised` is false and its intervals take for granted that nothing locked.
 */
#ifndef ASSAY_PROFILE_CLOCKS_H
#define ASSAY_PROFILE_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "bundle/manifest.h"
#include "profile/keytable.h"

#define CLOCKS_NO_COLUMN UINT32_MAX

struct clocks {
	uint32_t event; /* the chosen one; its canaries may have an attribute of their own */
	uint32_t n_clocks, n_canaries;
	bool randomised;
	bool by_id;                             /* look the sample's id up, else column 0 */
	uint32_t clock_of[MANIFEST_MAX_CLOCKS]; /* column -> clock of the manifest */
	struct keytable columns;                /* by id */
};

/* `manifest` NULL: a plain perf.data. */
MUST_CHECK enum status clocks_init(struct clocks *clocks, const struct manifest *manifest,
				   uint32_t event, struct error *error);
void clocks_release(struct clocks *clocks);

/* Of a sample of this event with this id; CLOCKS_NO_COLUMN when it is no clock or canary of the chosen
 * event. */
uint32_t clocks_column(const struct clocks *clocks, uint32_t event, uint64_t id);

#endif
