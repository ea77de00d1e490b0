/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One record of a sample ring.
 *
 * A sample is counted for its clock's draw whether it is kept or not (the count of an event on a CPU
 * runs on under other programs), kept when its thread belongs to the target, and stored with
 *	id       the slot's, for the whole recording
 *	PERIOD   the interval that was drawn (the kernel leaves an older one there)
 *	READ     the running sum of the slot's realised intervals, so that the difference of two stored
 *	         samples of one id is the later one's interval, whatever was dropped between them
 */
#include <linux/perf_event.h>
#include <stdio.h>

#include "record/record_bytes.h"
#include "record/recorder.h"

/* Does the thread that was running belong to the target? */
static bool sample_is_target(struct recorder *recorder, const struct perf_event_header *record,
			     uint64_t time_ns)
{
	const pid_t pid = (pid_t)record_u32(record, SAMPLE_TASK_AT);
	const pid_t tid = (pid_t)record_u32(record, SAMPLE_TASK_AT + 4);
	struct followed_task *task;

	if (recorder->scope == SCOPE_SYSTEM)
		return true;
	/* Before its exec the launched child is still this program. */
	if (pid == recorder->launch.pid && pid &&
	    (!recorder->exec_ns || time_ns < recorder->exec_ns))
		return false;
	task = followed_find(&recorder->followed, tid);
	if (task)
		task->sampled = true;
	return task || recorder->scope != SCOPE_CPU;
}

/* READ of a :S group: each member's count becomes the sum over kept samples, too. */
static void group_rewrite(struct recorder *recorder, struct perf_event_header *record, bool keep)
{
	const uint64_t n = record_u64(record, SAMPLE_READ_AT);

	for (uint64_t i = 1; i < n && i < MANIFEST_MAX_CLOCKS * 64; i++) {
		const size_t at = SAMPLE_GROUP_VALUE_AT + 16 * (size_t)i;
		struct counter *member;
		uint64_t value, gap;

		if (at + 16 > record->size)
			return;
		member = counters_find(&recorder->counters, record_u64(record, at + 8));
		if (!member)
			continue;
		value = record_u64(record, at);
		gap = value - member->tick.last;
		member->tick.last = value;
		if (keep)
			recorder->counters.read_totals[member->stable_id] += gap;
		record_set_u64(record, at, recorder->counters.read_totals[member->stable_id]);
		record_set_u64(record, at + 8, member->stable_id);
	}
}

static void read_rewrite(struct recorder *recorder, struct perf_event_header *record,
			 const struct counter *counter, bool grouped, bool keep)
{
	const uint64_t total = recorder->counters.read_totals[counter->stable_id];

	if (!grouped) {
		record_set_u64(record, SAMPLE_READ_AT, total);
		record_set_u64(record, SAMPLE_READ_ID_AT, counter->stable_id);
		return;
	}
	record_set_u64(record, SAMPLE_GROUP_VALUE_AT, total);
	record_set_u64(record, SAMPLE_GROUP_VALUE_AT + 8, counter->stable_id);
	group_rewrite(recorder, record, keep);
}

/* A clock that the kernel steers: its PERIOD is right, and each change of it is a retune. */
static struct tick steered_tick(struct recorder *recorder, struct counter *counter,
				const struct perf_event_header *record, uint64_t time_ns,
				uint64_t value)
{
	const uint64_t period = record_u64(record, SAMPLE_PERIOD_AT);
	struct tick tick = { .keep = true, .intended = period };

	tick.realised = value > counter->tick.last ? value - counter->tick.last : 0;
	counter->tick.last = value;
	if (counter->steered_period && counter->steered_period != period)
		account_at(&recorder->account, counter->clock, time_ns)->retuned++;
	counter->steered_period = period;
	return tick;
}

static enum status sample_store(struct recorder *recorder, uint32_t slot,
				struct perf_event_header *record, struct error *error)
{
	const uint64_t time_ns = record_u64(record, SAMPLE_TIME_AT);
	struct counter *counter =
		counters_find(&recorder->counters, record_u64(record, SAMPLE_ID_AT));
	const struct perf_event_attr *attr;
	const struct clock *clock;
	struct tick tick;
	bool has_read, grouped, target, skips;
	uint64_t value = 0;

	(void)slot;
	/* An event that was closed while its last sample lay in the ring. */
	if (!counter || counter->clock == COUNTER_NO_CLOCK)
		return STATUS_OK;
	clock = &recorder->plan.clocks[counter->clock];
	attr = &recorder->attributes.items[clock->attribute].attr;
	has_read = attr->sample_type & PERF_SAMPLE_READ;
	grouped = attr->read_format & PERF_FORMAT_GROUP;
	if (has_read)
		value = record_u64(record, grouped ? SAMPLE_GROUP_VALUE_AT : SAMPLE_READ_AT);
	/* Sleeping CPUs swallow ticks of a timer that sees the idle task, too. */
	skips = clock->skips || (recorder->scope == SCOPE_CPU && clock->timed);
	tick = clock->steered ? steered_tick(recorder, counter, record, time_ns, value)
			      : tick_account(&counter->tick, time_ns, value, skips);
	target = sample_is_target(recorder, record, time_ns);
	if (!target || !tick.keep) {
		if (grouped)
			group_rewrite(recorder, record, target);
		return STATUS_OK;
	}
	/* perf drops a sample whose READ did not rise. */
	recorder->counters.read_totals[counter->stable_id] += tick.realised ? tick.realised : 1;
	tick.whole &= has_read;
	account_sample(&recorder->account, counter->clock, time_ns, &tick);
	record_set_u64(record, SAMPLE_ID_AT, counter->stable_id);
	record_set_u64(record, SAMPLE_PERIOD_AT, tick.intended);
	if (has_read)
		read_rewrite(recorder, record, counter, grouped, true);
	return output_append(recorder, record, error);
}

/* The time of a record that is no sample, from its trailer. */
static uint64_t trailer_time(const struct perf_event_header *record)
{
	return record_u64(record, record->size - 24u);
}

static uint32_t clock_of_record(const struct counter *counter)
{
	return counter && counter->clock != COUNTER_NO_CLOCK ? counter->clock : 0;
}

/* The next interval of every event in this ring may span what was lost. */
static void ring_lost(struct recorder *recorder, uint32_t slot)
{
	for (size_t i = 0; i < recorder->counters.n; i++)
		if (recorder->counters.items[i].slot == slot)
			tick_lost(&recorder->counters.items[i].tick);
}

static enum status lost_take(struct recorder *recorder, uint32_t slot,
			     struct perf_event_header *record, struct error *error)
{
	const bool named = record->type == PERF_RECORD_LOST;
	const uint64_t time_ns = trailer_time(record);
	const uint64_t lost = record_u64(record, named ? 16 : 8);
	const uint64_t id = named ? record_u64(record, 8) : record_u64(record, record->size - 8u);
	const struct counter *counter = counters_find(&recorder->counters, id);
	const uint32_t clock = clock_of_record(counter);
	const uint64_t stable = attributes_clock_id(&recorder->attributes, clock, slot);

	account_lost(&recorder->account, clock, time_ns, lost);
	incidents_note(&recorder->incidents, "loss", time_ns, time_ns, (double)lost, "samples",
		       "the ring buffer was full: samples were lost (a larger one: -m)");
	ring_lost(recorder, slot);
	if (named)
		record_set_u64(record, 8, stable);
	record_set_u64(record, record->size - 8u, stable);
	return output_append(recorder, record, error);
}

/* THROTTLE and UNTHROTTLE: time, id, stream id; the pause between them is time without samples. */
static enum status throttle_take(struct recorder *recorder, uint32_t slot,
				 struct perf_event_header *record, struct error *error)
{
	const uint64_t time_ns = record_u64(record, 8);
	struct counter *counter = counters_find(&recorder->counters, record_u64(record, 16));
	const uint32_t clock = clock_of_record(counter);
	const uint64_t stable = attributes_clock_id(&recorder->attributes, clock, slot);
	struct account_clock *at = account_at(&recorder->account, clock, time_ns);

	if (record->type == PERF_RECORD_THROTTLE) {
		at->throttled++;
		if (counter)
			counter->throttled_at_ns = time_ns;
	} else if (counter && counter->throttled_at_ns) {
		const uint64_t pause = time_ns - counter->throttled_at_ns;

		at->throttled_ns += pause;
		incidents_note(
			&recorder->incidents, "throttle", counter->throttled_at_ns, time_ns,
			(double)pause, "ns",
			"the kernel held the clock back (kernel.perf_event_max_sample_rate)");
		counter->throttled_at_ns = 0;
		tick_lost(&counter->tick);
	}
	record_set_u64(record, 16, stable);
	record_set_u64(record, 24, stable);
	record_set_u64(record, record->size - 8u, stable);
	return output_append(recorder, record, error);
}

enum status sample_take(struct recorder *recorder, uint32_t slot, struct perf_event_header *record,
			struct error *error)
{
	switch (record->type) {
	case PERF_RECORD_SAMPLE: return sample_store(recorder, slot, record, error);
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES: return lost_take(recorder, slot, record, error);
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE: return throttle_take(recorder, slot, record, error);
	default: return STATUS_OK;
	}
}
