/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/losses.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void losses_init(struct losses *losses)
{
	memset(losses, 0, sizeof(*losses));
}

void losses_release(struct losses *losses)
{
	free(losses->since_ns);
	keytable_release(&losses->streams);
	losses_init(losses);
}

static void span_extend(uint64_t *first, uint64_t *last, uint64_t time_ns)
{
	if (!time_ns)
		return;
	if (!*first || time_ns < *first)
		*first = time_ns;
	if (time_ns > *last)
		*last = time_ns;
}

static uint64_t *stream_since(struct losses *losses, uint64_t stream)
{
	uint32_t at = keytable_get(&losses->streams, stream);

	if (at == KEYTABLE_NONE) {
		if (!array_reserve(&losses->since_ns, &losses->streams_capacity,
				   losses->n_streams + 1) ||
		    !keytable_set(&losses->streams, stream, (uint32_t)losses->n_streams))
			return NULL;
		at = (uint32_t)losses->n_streams++;
		losses->since_ns[at] = 0;
	}
	return &losses->since_ns[at];
}

static void throttle_close(struct losses *losses, uint64_t *since, uint64_t end_ns)
{
	if (*since && end_ns > *since) {
		losses->throttled_ns += end_ns - *since;
		span_extend(&losses->throttled_first_ns, &losses->throttled_last_ns, end_ns);
	}
	*since = 0;
}

static enum status throttle_add(struct losses *losses, const struct perfdata_record *record,
				uint64_t time_ns, struct error *error)
{
	uint64_t *since = stream_since(losses, record->throttle.stream_id);

	if (!since)
		return error_set(error, STATUS_NO_MEMORY, "no memory for throttle records");
	if (record->type == PERF_RECORD_UNTHROTTLE) {
		throttle_close(losses, since, time_ns);
		return STATUS_OK;
	}
	losses->throttles++;
	span_extend(&losses->throttled_first_ns, &losses->throttled_last_ns, time_ns);
	if (!*since)
		*since = time_ns;
	return STATUS_OK;
}

enum status losses_add(struct losses *losses, const struct perfdata_record *record,
		       uint64_t time_ns, struct error *error)
{
	switch (record->type) {
	case PERF_RECORD_LOST:
		losses->lost_events += record->lost.lost;
		losses->lost_records++;
		span_extend(&losses->lost_first_ns, &losses->lost_last_ns, time_ns);
		return STATUS_OK;
	case PERF_RECORD_LOST_SAMPLES: losses->lost_samples += record->lost.lost; return STATUS_OK;
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		return throttle_add(losses, record,
				    record->throttle.time ? record->throttle.time : time_ns, error);
	default: return STATUS_OK;
	}
}

void losses_finish(struct losses *losses, uint64_t end_ns)
{
	for (size_t i = 0; i < losses->n_streams; i++)
		throttle_close(losses, &losses->since_ns[i], end_ns);
}

uint64_t losses_total(const struct losses *losses)
{
	return losses->lost_events > losses->lost_samples ? losses->lost_events
							  : losses->lost_samples;
}
