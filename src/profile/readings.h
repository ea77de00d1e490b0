/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samples that carry counter readings (PERF_SAMPLE_READ, `perf record -e '{a,b}:S'`).
 *
 * Such a sample stands for every event it read, each by as much as its counter grew since its previous
 * reading; that is how perf reads these files too, and members of a group have no samples otherwise.
 * Not used for assay's own bundles, whose period field is the drawn interval.
 */
#ifndef ASSAY_PROFILE_READINGS_H
#define ASSAY_PROFILE_READINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "bundle/perfdata_reader.h"
#include "profile/keytable.h"

struct readings {
	struct reading {
		uint32_t event;
		uint64_t last;
	} * items;
	size_t n;
	struct keytable index; /* by id */
};

/* Knows every id of the file's events. */
MUST_CHECK enum status readings_init(struct readings *readings, const struct perfdata_event *events,
				     size_t n_events, struct error *error);
void readings_release(struct readings *readings);

/* Takes one value of a sample: the event it belongs to and by how much its counter grew. False when
 * the id is unknown or nothing was counted. */
bool readings_take(struct readings *readings, const struct perfdata_read_value *value,
		   uint32_t *event, uint64_t *growth);

#endif
