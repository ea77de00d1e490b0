/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One round: from the rings into perf.data.
 *
 *	1. note how far each sample ring is filled
 *	2. read the sideband rings up to now, merged by time
 *	3. read the sample rings up to the mark of step 1
 *	4. write FINISHED_ROUND
 *
 * So every fork, exec and mapping is known before a sample that needs it, and a fork on one CPU before
 * the exit of the same thread on another. What the kernel adds meanwhile waits for the next round.
 */
#include <stdlib.h>

#include "record/record_bytes.h"
#include "record/recorder.h"

/* The earliest record of all sideband rings: its ring is `at`. */
struct merge {
	struct perf_event_header *record; /* NULL: not looked at or none */
	uint64_t limit, time_ns;
};

static uint64_t record_time(const struct perf_event_header *record)
{
	return record->size >= sizeof(*record) + TRAILER_BYTES
		       ? record_u64(record, record->size - 24u)
		       : 0;
}

static void damage_note(struct recorder *recorder, uint64_t now_ns)
{
	incidents_note(&recorder->incidents, "loss", now_ns, now_ns, 1, "rings",
		       "a ring buffer held a record of impossible size and was emptied");
}

/* A record beyond `until` is left in the ring: ring_next has moved the tail, so it moves back. */
static void merge_fill(struct recorder *recorder, struct merge *merge, struct ring *ring,
		       uint64_t until)
{
	bool damaged;

	merge->record = ring_next(ring, merge->limit, &damaged);
	if (damaged)
		damage_note(recorder, until);
	if (!merge->record)
		return;
	merge->time_ns = record_time(merge->record);
	if (merge->time_ns > until) {
		ring->tail -= merge->record->size;
		merge->limit = ring->tail;
		merge->record = NULL;
	}
}

static enum status sidebands_drain(struct recorder *recorder, struct merge *merges,
				   struct error *error)
{
	const size_t n = recorder->channels.n;
	const uint64_t until = sys_now_ns(recorder->sys);
	enum status status = STATUS_OK;

	for (size_t i = 0; i < n; i++) {
		struct ring *ring = &recorder->channels.items[i].sideband;

		merges[i] = (struct merge){ 0 };
		if (!ring->page)
			continue;
		merges[i].limit = ring_head(ring);
		merge_fill(recorder, &merges[i], ring, until);
	}
	while (status == STATUS_OK) {
		size_t first = n;

		for (size_t i = 0; i < n; i++)
			if (merges[i].record &&
			    (first == n || merges[i].time_ns < merges[first].time_ns))
				first = i;
		if (first == n)
			break;
		status = sideband_take(recorder, (uint32_t)first, merges[first].record, error);
		merge_fill(recorder, &merges[first], &recorder->channels.items[first].sideband,
			   until);
	}
	for (size_t i = 0; i < n; i++)
		if (recorder->channels.items[i].sideband.page)
			ring_release(&recorder->channels.items[i].sideband);
	return status;
}

static enum status samples_drain(struct recorder *recorder, uint32_t slot, uint64_t limit,
				 struct error *error)
{
	struct ring *ring = &recorder->channels.items[slot].samples;
	enum status status = STATUS_OK;
	struct perf_event_header *record;
	bool damaged;

	while (status == STATUS_OK && (record = ring_next(ring, limit, &damaged)))
		status = sample_take(recorder, slot, record, error);
	if (status == STATUS_OK && damaged)
		damage_note(recorder, sys_now_ns(recorder->sys));
	ring_release(ring);
	return status;
}

/* Threads that ended a round ago have no sample left to come: their events are closed. */
static void ended_forget(struct recorder *recorder)
{
	struct followed_task gone;
	size_t cursor = 0;

	while (followed_sweep(&recorder->followed, &cursor, &gone)) {
		counters_close_chain(&recorder->counters, &gone.counters);
		counters_close_chain(&recorder->counters, &gone.sidebands);
	}
}

static enum status round_finish(struct recorder *recorder, struct error *error)
{
	struct record_buffer buffer;
	enum status status = STATUS_OK;

	if (recorder->records_in_round)
		status = output_append(recorder, record_make_finished_round(&buffer), error);
	recorder->records_in_round = 0;
	return status;
}

enum status drain_all(struct recorder *recorder, struct error *error)
{
	const size_t n = recorder->channels.n;
	uint64_t *marks = calloc(n, sizeof(*marks));
	struct merge *merges = calloc(n, sizeof(*merges));
	enum status status = STATUS_OK;

	if (!marks || !merges) {
		status = error_set(error, STATUS_NO_MEMORY, "no memory to read the ring buffers");
		goto out;
	}
	for (size_t i = 0; i < n; i++)
		if (recorder->channels.items[i].samples.page)
			marks[i] = ring_head(&recorder->channels.items[i].samples);
	status = sidebands_drain(recorder, merges, error);
	for (size_t i = 0; status == STATUS_OK && i < n; i++)
		if (recorder->channels.items[i].samples.page)
			status = samples_drain(recorder, (uint32_t)i, marks[i], error);
	if (status == STATUS_OK)
		status = round_finish(recorder, error);
	if (status == STATUS_OK)
		ended_forget(recorder);
out:
	free(marks);
	free(merges);
	return status;
}
