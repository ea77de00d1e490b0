/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the kernel says it could not record: LOST, LOST_SAMPLES, THROTTLE and UNTHROTTLE records, with
 * their place in time.
 *
 * Since Linux 6.0 one loss may stand twice in a file, as LOST records and as LOST_SAMPLES written at
 * the end: the larger sum is taken, never both.
 */
#ifndef ASSAY_PROFILE_LOSSES_H
#define ASSAY_PROFILE_LOSSES_H

#include <stdint.h>

#include "base/status.h"
#include "bundle/perfdata_reader.h"
#include "profile/keytable.h"

struct losses {
	uint64_t lost_events;  /* sum of LOST: records of any kind that found no room */
	uint64_t lost_samples; /* sum of LOST_SAMPLES */
	uint64_t lost_records; /* how many LOST records there were */
	uint64_t lost_first_ns, lost_last_ns; /* of the LOST records; 0 when they carry no time */
	uint64_t throttles;
	uint64_t throttled_ns; /* summed over the events that were stopped */
	uint64_t throttled_first_ns, throttled_last_ns;
	uint64_t *since_ns; /* by stream: when it was stopped, 0 when it runs */
	size_t n_streams, streams_capacity;
	struct keytable streams;
};

void losses_init(struct losses *losses);
void losses_release(struct losses *losses);

/* Takes any record of the first pass; `time` 0: unknown. */
MUST_CHECK enum status losses_add(struct losses *losses, const struct perfdata_record *record,
				  uint64_t time_ns, struct error *error);

/* Events that were still stopped at the end are counted up to it. */
void losses_finish(struct losses *losses, uint64_t end_ns);

/* Samples (or other records) that are missing from the file. */
uint64_t losses_total(const struct losses *losses);

#endif
